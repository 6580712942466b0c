import type { Operation } from '@halyard/contract';
import { invalid } from '../platform/index.ts';

/**
 * An answer as JSON.
 *
 * @throws Refusal (invalid) where so much was asked for that it is longer than a text can be, some 500 MB
 */
export function answerText(answer: unknown, { method }: Pick<Operation, 'method'>): string {
  try {
    return JSON.stringify(answer);
  } catch (error) {
    // What has been written is not undone by a long answer: it must not read as refused.
    if (!(error instanceof RangeError) || method !== 'GET') throw error;
    throw invalid(
      'The answer would be too long to be sent at once. Ask for less of it, by a smaller "limit" where there is one.',
    );
  }
}
