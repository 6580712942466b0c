import { describe, expect, test } from 'vitest';
import { answerText } from './answer-text.ts';

const get = { method: 'GET' } as const;

describe('an answer', () => {
  test('is sent as JSON', () => {
    expect(answerText({ features: [{ id: 'a', project: undefined }] }, get)).toBe('{"features":[{"id":"a"}]}');
  });

  test('that is longer than a text can be is refused, with what to do', () => {
    const features = Array.from({ length: 600 }, () => 'x'.repeat(1_000_000));
    expect(() => answerText({ features }, get)).toThrow(/smaller "limit"/);
  });
});
