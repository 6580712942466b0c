import type { AST } from '@eslint-community/regexpp';
import { type Effort, MAX_POSITIONS, TooComplexError } from './bounds.ts';
import { type CharacterReader, characterReaderOf, type Modes, withModifiers } from './character-set.ts';
import { type CodePoints, intersection } from './code-points.ts';
import { ANYWHERE, allows, CHARACTER_KINDS, type Joint, jointsOf, mayAskForKinds } from './joint.ts';
import { expansionOf } from './repetition.ts';

/*
 * The position (Glushkov) automaton of one loop of a pattern: a state for each character or class, and an edge wherever
 * one may be matched right after another. Glushkov's construction asks only whether such an edge exists. Here it is kept
 * once for each way the pattern has of getting there, up to two, because the ways are what a backtracking engine tries
 * one after the other: in `(a*)*` the `a` follows itself by the inner repeat and by the outer one.
 *
 * Engines differ in what an empty iteration does. JavaScript takes it back, so `(a(b*)?)*` is harmless there; Python,
 * Java and PCRE accept it and leave the loop, which makes the same pattern exponential. The SDKs run on all of them, so
 * an empty iteration counts as a way of its own, and is never followed by another iteration.
 */

/** A part of the pattern's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Label {
  /** Positions with the same id match the same characters. */
  readonly id: number;
  readonly codePoints: CodePoints;
}

/** Positions that may come next. Every position at the end of a loop shares one, so a loop of k words needs no k² edges. */
interface Bundle {
  readonly targets: readonly number[];
  /** The repeat or the sequence that lets them come next. */
  readonly origin: Span;
}

export interface Automaton {
  readonly labels: readonly Label[];
  readonly bundles: readonly Bundle[];
  /** Per position: the bundles, by index, that hold what may follow it, once for each way of getting there. */
  readonly followers: readonly (readonly number[])[];
  /** The repeats that make it cyclic. */
  readonly loops: ReadonlySet<Span>;
}

/** A position at the edge of a fragment, and what lies between it and that edge. */
interface Border {
  readonly position: number;
  readonly joint: Joint;
}

interface Fragment {
  readonly first: readonly Border[];
  readonly last: readonly Border[];
  /** The ways of running through the fragment without matching a character. */
  readonly empty: readonly Joint[];
}

const EMPTY: Fragment = { first: [], last: [], empty: [ANYWHERE] };

/** What the automata of one pattern share. */
export interface Reading {
  readonly readCharacter: CharacterReader;
  /** Whether characters are split by kind, as they are in a pattern with assertions that ask for it. */
  readonly splitsKinds: boolean;
  readonly effort: Effort;
}

interface Construction {
  readonly labels: (Label & { kind: number })[];
  readonly bundles: Bundle[];
  readonly followers: number[][];
  readonly loops: Set<Span>;
  readonly labelIds: Map<string, number>;
  readonly openGroups: Set<AST.CapturingGroup>;
  readonly reading: Reading;
}

/** Building a fragment costs about as much as so many comparisons. */
const STEPS_PER_NODE = 20;

/** Where in the pattern a fragment is built. */
interface Place {
  readonly modes: Modes;
  /** How often bounded repeats around it have been written out. */
  readonly copies: number;
  /** Set in the copy of a group that stands for a back-reference, whose nodes lie elsewhere in the pattern. */
  readonly reference: Span | undefined;
}

export function readingOf(pattern: string, modes: Modes, effort: Effort): Reading {
  return { readCharacter: characterReaderOf(effort), splitsKinds: mayAskForKinds(pattern, modes), effort };
}

/** The automaton of a loop that bounded repeats around it run through `copies` times. */
export function automatonOf(loop: AST.Quantifier, modes: Modes, copies: number, reading: Reading): Automaton {
  const construction: Construction = {
    labels: [],
    bundles: [],
    followers: [],
    loops: new Set(),
    labelIds: new Map(),
    openGroups: new Set(),
    reading,
  };
  repetition(construction, loop, { modes, copies, reference: undefined });
  return construction;
}

function fragmentOf(construction: Construction, node: AST.Element, place: Place): Fragment {
  // Nodes count, not only positions: back-references to empty groups multiply without adding one.
  construction.reading.effort.spend(STEPS_PER_NODE);
  switch (node.type) {
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
      return characters(construction, node, place);
    case 'Quantifier':
      return repetition(construction, node, place);
    case 'Group':
      return alternatives(construction, node, { ...place, modes: withModifiers(place.modes, node.modifiers) });
    case 'CapturingGroup':
      return alternatives(construction, node, place);
    case 'Backreference':
      return backReference(construction, node, place);
    case 'Assertion':
      return { ...EMPTY, empty: jointsOf(node, place.modes) };
    case 'ExpressionCharacterClass':
      throw new TooComplexError('uses set notation in a class');
  }
}

function characters(
  construction: Construction,
  node: AST.Character | AST.CharacterSet | AST.CharacterClass,
  { modes }: Place,
): Fragment {
  const { labels, followers, labelIds, reading } = construction;
  const codePoints = reading.readCharacter(node, modes);
  const parts = reading.splitsKinds ? CHARACTER_KINDS.map((kind) => intersection(codePoints, kind)) : [codePoints];
  const borders: Border[] = [];
  for (const [kind, part] of parts.entries()) {
    if (part.length === 0) continue;
    if (labels.length === MAX_POSITIONS) {
      throw new TooComplexError(`repeats a part of more than ${MAX_POSITIONS} characters and classes`);
    }
    reading.effort.spend(part.length);
    const key = part.join();
    const id = labelIds.get(key) ?? labelIds.size;
    labelIds.set(key, id);
    borders.push({ position: labels.length, joint: ANYWHERE });
    labels.push({ id, codePoints: part, kind });
    followers.push([]);
  }
  return { first: borders, last: borders, empty: [] };
}

function alternatives(construction: Construction, group: AST.Group | AST.CapturingGroup, place: Place): Fragment {
  const fragments = group.alternatives.map((alternative) =>
    sequence(
      construction,
      alternative.elements.map((element) => fragmentOf(construction, element, place)),
      place.reference ?? alternative,
    ),
  );
  return {
    first: fragments.flatMap(({ first }) => first),
    last: fragments.flatMap(({ last }) => last),
    empty: atMostTwice(fragments.flatMap(({ empty }) => empty)),
  };
}

function repetition(construction: Construction, quantifier: AST.Quantifier, place: Place): Fragment {
  const { mandatory, tail, foldsMandatory } = expansionOf(quantifier, place.copies);
  const origin = place.reference ?? quantifier;
  const inside = { ...place, copies: place.copies * (mandatory + (tail.kind === 'loop' ? 1 : tail.copies)) };
  const iteration = () => fragmentOf(construction, quantifier.element, inside);

  const parts = Array.from({ length: mandatory }, iteration);
  if (tail.kind === 'loop') {
    const body = iteration();
    construction.loops.add(origin);
    connect(construction, body.last, foldsMandatory ? [ANYWHERE, ...body.empty] : [ANYWHERE], body.first, origin);
    parts.push(loop(body, tail.atLeastOnce));
  } else {
    // `a{0,3}` is `(a(a(a)?)?)?`: written as `a?a?a?` it would offer choices that it does not have.
    let further = EMPTY;
    for (let i = 0; i < tail.copies; i++) further = optional(sequence(construction, [iteration(), further], origin));
    parts.push(further);
  }
  return sequence(construction, parts, origin);
}

function loop({ first, last, empty }: Fragment, atLeastOnce: boolean): Fragment {
  // The first iteration of `+` may be empty and the next not; after the last, an empty one may end the loop.
  const orEmpty = [ANYWHERE, ...empty];
  return {
    first: atLeastOnce ? through(orEmpty, first) : first,
    last: through(orEmpty, last),
    empty: atMostTwice(atLeastOnce ? empty.flatMap((joint) => [joint, ...empty.map((next) => joint & next)]) : orEmpty),
  };
}

function optional({ first, last, empty }: Fragment): Fragment {
  return { first, last, empty: atMostTwice([ANYWHERE, ...empty]) };
}

/**
 * What a back-reference matches is one text its group has matched, so a copy of the group covers it, and nothing where
 * the group may not have taken part. Within its own group it matches nothing.
 */
function backReference(construction: Construction, node: AST.Backreference, place: Place): Fragment {
  const { openGroups } = construction;
  const fragments = [node.resolved].flat().map((group) => {
    if (openGroups.has(group) || isInside(node, group)) return EMPTY;
    openGroups.add(group);
    const copy = alternatives(construction, group, { ...place, reference: place.reference ?? node });
    openGroups.delete(group);
    return mayBeUnset(group, node) ? optional(copy) : copy;
  });
  return {
    first: fragments.flatMap(({ first }) => first),
    last: fragments.flatMap(({ last }) => last),
    empty: atMostTwice(fragments.flatMap(({ empty }) => empty)),
  };
}

function isInside(node: Span, group: Span): boolean {
  return node.start >= group.start && node.end <= group.end;
}

/** Whether the reference can be reached without having gone through the group. */
function mayBeUnset(group: AST.CapturingGroup, reference: AST.Backreference): boolean {
  if (group.start > reference.start) return true;
  for (const node of withAncestors(group)) {
    if (isInside(reference, node)) return false;
    if (node.type === 'Quantifier' && node.min === 0) return true;
    if (node.type === 'Alternative' && node.parent.alternatives.length > 1) return true;
    if (node.type === 'Assertion' && 'negate' in node && node.negate) return true;
  }
  return false;
}

function* withAncestors(node: AST.Node): Generator<AST.Node> {
  for (let next: AST.Node | null = node; next !== null; next = next.parent) yield next;
}

function sequence(construction: Construction, parts: readonly Fragment[], origin: Span): Fragment {
  return parts.reduce((before, after) => {
    connect(construction, before.last, [ANYWHERE], after.first, origin);
    const first = before.empty.length === 0 ? before.first : [...before.first, ...through(before.empty, after.first)];
    const last = after.empty.length === 0 ? after.last : [...after.last, ...through(after.empty, before.last)];
    construction.reading.effort.spend(first.length + last.length);
    return {
      first,
      last,
      empty: atMostTwice(before.empty.flatMap((joint) => after.empty.map((next) => joint & next))),
    };
  }, EMPTY);
}

/** Lets each of `after` follow each of `before`, once for each way through what lies between. */
function connect(
  { bundles, followers, labels, reading }: Construction,
  before: readonly Border[],
  between: readonly Joint[],
  after: readonly Border[],
  origin: Span,
): void {
  const kindOf = ({ position }: Border) => labels[position]!.kind;
  const alike = Map.groupBy(before, (border) => border.joint * CHARACTER_KINDS.length + kindOf(border));
  for (const sharing of alike.values()) {
    const [one] = sharing as [Border];
    for (const way of between) {
      reading.effort.spend(sharing.length + after.length);
      const possible = after.filter((next) => allows(one.joint & way & next.joint, kindOf(one), kindOf(next)));
      if (possible.length === 0) continue;
      const bundle = bundles.push({ targets: possible.map(({ position }) => position), origin }) - 1;
      for (const { position } of sharing) followers[position]!.push(bundle);
    }
  }
}

function through(empty: readonly Joint[], borders: readonly Border[]): readonly Border[] {
  if (empty.length === 1 && empty[0] === ANYWHERE) return borders;
  const reached = empty.flatMap((joint) => borders.map((border) => ({ ...border, joint: border.joint & joint })));
  const possible = reached.filter(({ joint }) => joint !== 0);
  return atMostTwice(possible, ({ position, joint }) => position * (ANYWHERE + 1) + joint);
}

/** Whether there are two ways or more makes the difference; how many does not. */
function atMostTwice<T>(ways: readonly T[], keyOf: (way: T) => unknown = (way) => way): readonly T[] {
  if (ways.length <= 2) return ways;
  const counts = new Map<unknown, number>();
  return ways.filter((way) => {
    const key = keyOf(way);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= 2;
  });
}
