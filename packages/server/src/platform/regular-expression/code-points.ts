/** A set of code points: sorted, disjoint, inclusive ranges laid flat as `[from, to, from, to, …]`. */
export type CodePoints = readonly number[];

export const LAST_CODE_POINT = 0x10ffff;
const NO_CODE_POINTS: CodePoints = [];

export function union(sets: readonly CodePoints[]): CodePoints {
  if (sets.length === 1) return sets[0] ?? NO_CODE_POINTS;
  const ranges: [number, number][] = [];
  for (const set of sets) {
    for (let i = 0; i < set.length; i += 2) ranges.push([set[i]!, set[i + 1]!]);
  }
  ranges.sort(([a], [b]) => a - b);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const lastTo = merged.at(-1);
    if (lastTo !== undefined && from <= lastTo + 1) merged[merged.length - 1] = Math.max(lastTo, to);
    else merged.push(from, to);
  }
  return merged;
}

export function complement(set: CodePoints): CodePoints {
  const gaps: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) gaps.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= LAST_CODE_POINT) gaps.push(next, LAST_CODE_POINT);
  return gaps;
}

export function intersection(a: CodePoints, b: CodePoints): CodePoints {
  const common: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const from = Math.max(a[i]!, b[j]!);
    const to = Math.min(a[i + 1]!, b[j + 1]!);
    if (from <= to) common.push(from, to);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return common;
}

export function contains(set: CodePoints, codePoint: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[2 * middle + 1]! < codePoint) low = middle + 1;
    else high = middle;
  }
  return 2 * low < set.length && set[2 * low]! <= codePoint;
}

export function sizeOf(set: CodePoints): number {
  let size = 0;
  for (let i = 0; i < set.length; i += 2) size += set[i + 1]! - set[i]! + 1;
  return size;
}

export function* eachOf(set: CodePoints): Generator<number> {
  for (let i = 0; i < set.length; i += 2) {
    for (let codePoint = set[i]!; codePoint <= set[i + 1]!; codePoint++) yield codePoint;
  }
}

/** From most to least readable in a message. */
const READABLE: readonly CodePoints[] = [
  [0x61, 0x7a],
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x21, 0x7e],
  [0x20, 0x20],
];

/** One character of the set, a readable one where there is one. */
export function sampleOf(set: CodePoints): string {
  const readable = READABLE.map((preferred) => intersection(set, preferred)).find((common) => common.length > 0);
  return String.fromCodePoint((readable ?? set)[0]!);
}
