import { textOf } from './coercion.ts';
import type { JsonValue } from './payload.ts';
import { never, type Predicate } from './predicate.ts';

/** A compiled regular expression; `test` searches, and must not keep state between calls. */
export interface RegularExpression {
  test(text: string): boolean;
}

/**
 * Makes a regular expression, or throws when the pattern is invalid. The patterns come from the people who write
 * flags and the texts from anybody, so a server may want an engine with linear time here.
 */
export type RegularExpressionFactory = (pattern: string, ignoreCase: boolean) => RegularExpression;

/** The engine of the JavaScript runtime. A `/` in the pattern stands for itself, as everywhere outside of a literal. */
export const nativeRegularExpression: RegularExpressionFactory = (pattern, ignoreCase) =>
  new RegExp(pattern, ignoreCase ? 'i' : '');

/** Whether the text of a value has a match. An invalid pattern, or one that is no text, never has. */
export function matches(operand: JsonValue, ignoreCase: boolean, factory: RegularExpressionFactory): Predicate {
  const expression = expressionOf(operand, ignoreCase, factory);
  if (expression === undefined) return never;
  return (value) => {
    try {
      return expression.test(textOf(value));
    } catch {
      // An engine with limits may give up on a text; then it has found nothing.
      return false;
    }
  };
}

function expressionOf(
  operand: JsonValue,
  ignoreCase: boolean,
  factory: RegularExpressionFactory,
): RegularExpression | undefined {
  if (typeof operand !== 'string') return undefined;
  try {
    return factory(operand, ignoreCase);
  } catch {
    return undefined;
  }
}
