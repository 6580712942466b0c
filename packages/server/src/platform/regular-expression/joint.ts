import type { AST } from '@eslint-community/regexpp';
import { LINE_TERMINATORS, type Modes, WORD_CHARACTERS } from './character-set.ts';
import { type CodePoints, complement, union } from './code-points.ts';

/**
 * What an assertion demands of the characters before and after it: the allowed pairs of character kinds, one bit for each
 * pair. `^(?:\b\w+\b\s*)*$` is harmless only because no two words can be joined at a `\b`.
 */
export type Joint = number;

/** The kinds that `\b`, `\B` and the multiline `^` and `$` tell apart; every character is of one. */
export const CHARACTER_KINDS: readonly CodePoints[] = [
  WORD_CHARACTERS,
  LINE_TERMINATORS,
  complement(union([WORD_CHARACTERS, LINE_TERMINATORS])),
];
const WORD = 0;
const LINE_TERMINATOR = 1;

function bitOf(before: number, after: number): Joint {
  return 1 << (before * CHARACTER_KINDS.length + after);
}

export function allows(joint: Joint, before: number, after: number): boolean {
  return (joint & bitOf(before, after)) !== 0;
}

function jointWhere(isAllowed: (before: number, after: number) => boolean): Joint {
  let joint = 0;
  for (const before of CHARACTER_KINDS.keys()) {
    for (const after of CHARACTER_KINDS.keys()) if (isAllowed(before, after)) joint |= bitOf(before, after);
  }
  return joint;
}

export const ANYWHERE = jointWhere(() => true);
const WORD_BOUNDARY = jointWhere((before, after) => (before === WORD) !== (after === WORD));
const NO_WORD_BOUNDARY = ANYWHERE & ~WORD_BOUNDARY;
const LINE_START = jointWhere((before) => before === LINE_TERMINATOR);
const LINE_END = jointWhere((_, after) => after === LINE_TERMINATOR);

/** Whether any assertion of the pattern asks for kinds; possibly true where none does. */
export function mayAskForKinds(pattern: string, { multiline }: Modes): boolean {
  return multiline || /\\b|\(\?[a-z]*m/i.test(pattern);
}

/** The ways through an assertion between two characters: one or none. */
export function jointsOf(assertion: AST.Assertion, { multiline }: Modes): readonly Joint[] {
  switch (assertion.kind) {
    case 'word':
      return [assertion.negate ? NO_WORD_BOUNDARY : WORD_BOUNDARY];
    // Without the `m` flag no character comes before `^` or after `$`.
    case 'start':
      return multiline ? [LINE_START] : [];
    case 'end':
      return multiline ? [LINE_END] : [];
    // A lookaround is judged by itself; for what surrounds it, it may hold anywhere.
    case 'lookahead':
    case 'lookbehind':
      return [ANYWHERE];
  }
}
