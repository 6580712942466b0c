import type { AST } from '@eslint-community/regexpp';
import { type Effort, MAX_PROPERTIES, TooComplexError } from './bounds.ts';
import { type CodePoints, complement, contains, eachOf, LAST_CODE_POINT, sizeOf, union } from './code-points.ts';

/** The flags that change what a character, a class, `^` or `$` stand for; `(?i:…)` changes them for a group. */
export interface Modes {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
  readonly multiline: boolean;
}

export function withModifiers(modes: Modes, modifiers: AST.Modifiers | null): Modes {
  if (modifiers === null) return modes;
  const { add, remove } = modifiers;
  const modified = (mode: keyof Modes) => (modes[mode] || add[mode]) && !(remove?.[mode] ?? false);
  return { ignoreCase: modified('ignoreCase'), dotAll: modified('dotAll'), multiline: modified('multiline') };
}

export type CharacterNode = AST.Character | AST.CharacterSet | AST.CharacterClass;

/** The code points that a node of the pattern matches. */
export type CharacterReader = (node: CharacterNode, modes: Modes) => CodePoints;

const DIGITS: CodePoints = [0x30, 0x39];
export const WORD_CHARACTERS: CodePoints = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
export const LINE_TERMINATORS: CodePoints = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];
const WHITE_SPACE = union([
  [0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a],
  [0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
]);
const ESCAPES = { digit: DIGITS, word: WORD_CHARACTERS, space: WHITE_SPACE };

/** A reader for the nodes of one pattern; counted repeats ask for the same nodes again and again, so it remembers. */
export function characterReaderOf(effort: Effort): CharacterReader {
  const known = new Map<string, CodePoints>();
  const properties = new Set<string>();

  function readMember(node: AST.ClassRangesCharacterClassElement | AST.AnyCharacterSet, modes: Modes): CodePoints {
    if (node.type === 'Character') return [node.value, node.value];
    if (node.type === 'CharacterClassRange') return [node.min.value, node.max.value];
    if (node.kind === 'any') return modes.dotAll ? [0, LAST_CODE_POINT] : complement(LINE_TERMINATORS);
    if (node.kind !== 'property') return node.negate ? complement(ESCAPES[node.kind]) : ESCAPES[node.kind];
    const property = node.value === null ? node.key : `${node.key}=${node.value}`;
    if (properties.add(property).size > MAX_PROPERTIES) {
      throw new TooComplexError(`uses more than ${MAX_PROPERTIES} different Unicode properties`);
    }
    return node.negate ? complement(codePointsWith(property)) : codePointsWith(property);
  }

  function read(node: CharacterNode, modes: Modes): CodePoints {
    // The `v` flag, which alone brings other members than these, is refused before the pattern is parsed.
    const members = (node.type === 'CharacterClass' ? node.elements : [node]) as Parameters<typeof readMember>[0][];
    const listed = union(members.map((member) => readMember(member, modes)));
    const folded = modes.ignoreCase ? withOtherCases(listed, effort) : listed;
    // A negated class refuses a character in whatever case it is listed, so folding comes first.
    return node.type === 'CharacterClass' && node.negate ? complement(folded) : folded;
  }

  return (node, modes) => {
    const key = `${modes.ignoreCase ? 'i' : ''}${modes.dotAll ? 's' : ''}/${node.raw}`;
    let codePoints = known.get(key);
    if (codePoints === undefined) {
      codePoints = read(node, modes);
      effort.spend(codePoints.length);
      known.set(key, codePoints);
    }
    return codePoints;
  };
}

/** `\p{…}` by name. There are a few hundred, so what has been read once is kept. */
const propertySets = new Map<string, CodePoints>();

/** The code points of a Unicode property, asked of the JavaScript engine, which has the tables anyway. */
function codePointsWith(property: string): CodePoints {
  let codePoints = propertySets.get(property);
  if (codePoints === undefined) {
    codePoints = readProperty(property);
    propertySets.set(property, codePoints);
  }
  return codePoints;
}

const SURROGATES = [0xd800, 0xdfff] as const;
const LAST_CHARTED = 0x3ffff;
/** Beyond the planes in use, a range is taken as all alike: unassigned, tags and selectors, private use. */
const UNCHARTED: readonly (readonly [from: number, to: number])[] = [
  SURROGATES,
  [0x40000, 0xdffff],
  [0xe0000, 0xeffff],
  [0xf0000, LAST_CODE_POINT],
];

function readProperty(property: string): CodePoints {
  const runs: number[] = [];
  for (const run of chartedCharacters().matchAll(new RegExp(`\\p{${property}}+`, 'gu'))) {
    runs.push(run[0].codePointAt(0)!, run[0].codePointAt(run[0].length - (endsInPair(run[0]) ? 2 : 1))!);
  }
  const one = new RegExp(`^\\p{${property}}$`, 'u');
  const uncharted = UNCHARTED.filter(([from]) => one.test(String.fromCodePoint(from + 0x100)));
  return union([runs, uncharted.flat()]);
}

function endsInPair(text: string): boolean {
  return text.codePointAt(text.length - 2)! > 0xffff;
}

/** Every code point of the planes in use, in order, without the surrogates, which would pair up. */
function chartedCharacters(): string {
  const units = new Uint16Array(2 * (LAST_CHARTED + 1));
  let length = 0;
  for (let codePoint = 0; codePoint <= LAST_CHARTED; codePoint++) {
    if (codePoint >= SURROGATES[0] && codePoint <= SURROGATES[1]) continue;
    if (codePoint > 0xffff) {
      units[length++] = 0xd7c0 + (codePoint >> 10);
      units[length++] = 0xdc00 + (codePoint & 0x3ff);
    } else {
      units[length++] = codePoint;
    }
  }
  return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(units.subarray(0, length));
}

/** The set and everything that differs from one of its members only in case. */
function withOtherCases(set: CodePoints, effort: Effort): CodePoints {
  const casesOf = caseTable();
  const size = sizeOf(set);
  effort.spend(Math.min(size, casesOf.size));
  const others: CodePoints[] = [];
  const addCasesOf = (codePoint: number) => {
    for (const other of casesOf.get(codePoint) ?? []) others.push([other, other]);
  };
  if (size < casesOf.size) {
    for (const codePoint of eachOf(set)) addCasesOf(codePoint);
  } else {
    for (const codePoint of casesOf.keys()) if (contains(set, codePoint)) addCasesOf(codePoint);
  }
  return others.length === 0 ? set : union([set, ...others]);
}

let cases: ReadonlyMap<number, readonly number[]> | undefined;

/**
 * For each letter, all letters with the same upper case: ECMAScript's `Canonicalize` without the `u` flag. With it the
 * standard also folds two signs onto ASCII letters (ſ and the Kelvin sign); leaving them out keeps `\W` from meeting `\w`.
 */
function caseTable(): ReadonlyMap<number, readonly number[]> {
  if (cases === undefined) {
    const groups = new Map<number, number[]>();
    for (const codePoint of eachOf(codePointsWith('Changes_When_Casemapped'))) {
      const upper = upperCaseOf(codePoint);
      groups.set(upper, [...(groups.get(upper) ?? []), codePoint]);
    }
    cases = new Map([...groups.values()].flatMap((group) => group.map((codePoint) => [codePoint, group] as const)));
  }
  return cases;
}

function upperCaseOf(codePoint: number): number {
  const [upper = '', ...more] = String.fromCodePoint(codePoint).toUpperCase();
  const becomesAscii = codePoint >= 0x80 && (upper.codePointAt(0) ?? 0) < 0x80;
  return more.length > 0 || becomesAscii ? codePoint : upper.codePointAt(0)!;
}
