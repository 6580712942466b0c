import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';
import { type Ambiguity, findExponentialAmbiguity } from './ambiguity.ts';
import { type Automaton, automatonOf, readingOf, type Span } from './automaton.ts';
import { effortOf, MAX_NESTING, MAX_PATTERN_LENGTH, MAX_STEPS, TooComplexError } from './bounds.ts';
import { type Modes, withModifiers } from './character-set.ts';
import { countsAsUnlimited } from './repetition.ts';

/** What is to be said about a regular expression before it is stored; `reason` is a sentence for the person who wrote it. */
export type RegularExpressionVerdict =
  | { readonly kind: 'safe' }
  /** A text can be found on which a backtracking engine takes exponential time. */
  | { readonly kind: 'exponential'; readonly reason: string }
  /** Beyond what is judged (see `bounds.ts`): not known to be dangerous, not known to be safe. */
  | { readonly kind: 'too-complex'; readonly reason: string }
  /** Not a JavaScript pattern; an SDK in another language may still accept it. */
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Judges whether matching the pattern can take exponential time in an engine that backtracks, as those of most SDKs do.
 * Polynomial time is accepted: `\s+$` and `.*@example\.com` are safe.
 *
 * The pattern is read as JavaScript reads it under the flags (any but `v`), except that `\p{…}` is judged as a property
 * without the `u` flag too, which is what other languages take it for.
 *
 * @example
 * judgeRegularExpression('^([a-z]+\\.)*example\\.com$') // { kind: 'safe' }
 * judgeRegularExpression('^(a+)+$')
 * // { kind: 'exponential', reason: 'The repeat "(a+)+" can match "aa" inside a text in more than one way, …' }
 */
export function judgeRegularExpression(pattern: string, flags = ''): RegularExpressionVerdict {
  const verdict = judgeAsWritten(pattern, flags);
  if (verdict.kind !== 'safe' || flags.includes('u') || !/\\p\{/i.test(pattern)) return verdict;
  const withProperties = judgeAsWritten(pattern, `${flags}u`);
  return withProperties.kind === 'invalid' ? verdict : withProperties;
}

function judgeAsWritten(pattern: string, flags: string): RegularExpressionVerdict {
  try {
    const { ast, modes } = parse(pattern, flags);
    const reading = readingOf(pattern, modes, effortOf(MAX_STEPS));
    for (const { loop, modes: modesHere, copies } of outermostLoops(ast, { modes, copies: 1, isInLoop: false })) {
      const automaton = automatonOf(loop, modesHere, copies, reading);
      const ambiguity = findExponentialAmbiguity(automaton, reading.effort);
      if (ambiguity !== undefined) return exponential(pattern, innermostCulprit(automaton, loop, ambiguity));
    }
    return { kind: 'safe' };
  } catch (error) {
    if (error instanceof TooComplexError) return { kind: 'too-complex', reason: `This pattern ${error.message}.` };
    if (error instanceof RegExpSyntaxError) return { kind: 'invalid', reason: notJavaScript(error) };
    throw error;
  }
}

function parse(pattern: string, flags: string): { ast: AST.Pattern; modes: Modes } {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new TooComplexError(`is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (nestingOf(pattern) > MAX_NESTING) throw new TooComplexError(`nests more than ${MAX_NESTING} groups`);
  const parser = new RegExpParser();
  const { unicode, unicodeSets, ignoreCase, dotAll, multiline } = parser.parseFlags(flags);
  if (unicodeSets) throw new TooComplexError('has the flag "v", whose set notation is not checked');
  return {
    ast: parser.parsePattern(pattern, 0, pattern.length, { unicode }),
    modes: { ignoreCase, dotAll, multiline },
  };
}

/** The depth of the parentheses, without those in classes. */
function nestingOf(pattern: string): number {
  let depth = 0;
  let deepest = 0;
  let isInClass = false;
  for (const [token] of pattern.matchAll(/\\.|[[\]()]/gs)) {
    if (token === ']') isInClass = false;
    else if (isInClass) continue;
    else if (token === '[') isInClass = true;
    else if (token === '(') deepest = Math.max(deepest, ++depth);
    else if (token === ')') depth--;
  }
  return deepest;
}

interface Surroundings {
  readonly modes: Modes;
  /** How often bounded repeats around it run through the node. */
  readonly copies: number;
  readonly isInLoop: boolean;
}

interface OutermostLoop {
  readonly loop: AST.Quantifier;
  readonly modes: Modes;
  readonly copies: number;
}

/**
 * The loops that no other loop contains. Only they need an automaton: a path that comes back to where it was stays
 * inside one of them. Lookarounds match on their own, so loops in them count as outermost wherever they are.
 */
function* outermostLoops(node: AST.Node, surroundings: Surroundings): Generator<OutermostLoop> {
  const { modes, copies, isInLoop } = surroundings;
  switch (node.type) {
    case 'Pattern':
    case 'CapturingGroup':
      for (const alternative of node.alternatives) yield* outermostLoops(alternative, surroundings);
      return;
    case 'Group': {
      const inside = { ...surroundings, modes: withModifiers(modes, node.modifiers) };
      for (const alternative of node.alternatives) yield* outermostLoops(alternative, inside);
      return;
    }
    case 'Assertion': {
      if (node.kind !== 'lookahead' && node.kind !== 'lookbehind') return;
      const inside = { modes, copies: 1, isInLoop: false };
      for (const alternative of node.alternatives) yield* outermostLoops(alternative, inside);
      return;
    }
    case 'Alternative':
      for (const element of node.elements) yield* outermostLoops(element, surroundings);
      return;
    case 'Quantifier': {
      const isLoop = countsAsUnlimited(node, copies);
      if (isLoop && !isInLoop) yield { loop: node, modes, copies: node.max === Number.POSITIVE_INFINITY ? 1 : copies };
      const inside = { modes, copies: isLoop ? copies : copies * node.max, isInLoop: isInLoop || isLoop };
      yield* outermostLoops(node.element, inside);
    }
  }
}

interface Culprit extends Ambiguity {
  readonly span: Span;
}

/** The smallest repeat that is exponential by itself: in `(?:x(?:a+)+y)*` the inner one. */
function innermostCulprit(automaton: Automaton, loop: AST.Quantifier, ambiguity: Ambiguity): Culprit {
  const bySize = [...automaton.loops].sort((a, b) => a.end - a.start - (b.end - b.start));
  const effort = effortOf(MAX_STEPS);
  try {
    for (const span of bySize) {
      const inside = findExponentialAmbiguity(automaton, effort, span);
      if (inside !== undefined) return { ...inside, span };
    }
  } catch (error) {
    if (!(error instanceof TooComplexError)) throw error;
  }
  return { ...ambiguity, span: loop };
}

/** The parser's message, whose long form repeats the whole pattern. */
function notJavaScript({ message, index }: RegExpSyntaxError): string {
  return `Not a JavaScript pattern: ${message.slice(message.lastIndexOf(': ') + 2)} at character ${index + 1}.`;
}

const MAX_QUOTED = 80;

function exponential(pattern: string, { span, example }: Culprit): RegularExpressionVerdict {
  const part = pattern.slice(span.start, span.end);
  const quoted = part.length > MAX_QUOTED ? `${part.slice(0, MAX_QUOTED)}…` : part;
  return {
    kind: 'exponential',
    reason:
      `The repeat "${quoted}" can match ${JSON.stringify(example)} inside a text in more than one way, and every further ` +
      'repetition multiplies the ways, so that a text that almost matches takes exponential time. ' +
      'Change it so that each text can be split among its repetitions in one way only.',
  };
}
