/**
 * How much work judging one pattern may take. Together they keep `judgeRegularExpression` to some tens of milliseconds
 * whatever it is given: it runs inside requests, and a judge that can itself be stalled would be no protection.
 */

/** Room for an alternation of more than a thousand device names, which parses in some 5 ms; beyond, a list is due. */
export const MAX_PATTERN_LENGTH = 20_000;

/** Parser and judge recurse once per level of parentheses; people write fewer than ten. */
export const MAX_NESTING = 100;

/** Characters and classes in one loop with its counted repeats written out. The widest of 10 000 real loops has 40. */
export const MAX_POSITIONS = 5_000;

/** Edges built, pairs of positions compared, code points folded: a million of these take 20 to 60 ms. */
export const MAX_STEPS = 1_000_000;

/** Different `\p{…}` in the loops of one pattern: the first use of one reads it in some 10 ms. */
export const MAX_PROPERTIES = 8;

/** The pattern goes beyond one of the bounds above; the message completes the sentence "This pattern …". */
export class TooComplexError extends Error {
  override readonly name = 'TooComplexError';
}

/** What is left to spend on one pattern. */
export interface Effort {
  /** Throws `TooComplexError` once the pattern has used up its steps. */
  spend(steps: number): void;
}

export function effortOf(maxSteps: number): Effort {
  let left = maxSteps;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooComplexError('has more combinations of repeated parts than can be checked');
    },
  };
}
