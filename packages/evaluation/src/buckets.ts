import type { VariationRange } from './payload.ts';

/**
 * Whether a bucket lies in a half-open range.
 *
 * @example inRange(0.5, [0, 0.5]) // false
 */
export function inRange(bucket: number, range: VariationRange): boolean {
  return bucket >= range[0] && bucket < range[1];
}

/**
 * Equal shares that add up to 1; none for a count of 0 or less.
 *
 * @example equalWeights(2) // [0.5, 0.5]
 */
export function equalWeights(count: number): number[] {
  return count <= 0 ? [] : Array.from({ length: count }, () => 1 / count);
}

/** Whether weights can be used: one for each variation, adding up to 1 give or take a hundredth. */
function areUsable(weights: readonly number[], count: number): boolean {
  if (weights.length !== count) return false;
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return sum >= 0.99 && sum <= 1.01;
}

/**
 * The bucket range of each variation (flags 8.2). Coverage (default 1, clamped to 0..1) shortens each range and moves
 * none, so raising it never takes a user out or to another variation. Unusable weights count as equal ones.
 *
 * @example bucketRanges(2, 0.5, [0.4, 0.6]) // [[0, 0.2], [0.4, 0.7]]
 */
export function bucketRanges(count: number, coverage = 1, weights?: readonly number[]): VariationRange[] {
  const covered = Math.min(Math.max(coverage, 0), 1);
  const shares = weights !== undefined && areUsable(weights, count) ? weights : equalWeights(count);
  let start = 0;
  return shares.map((share) => {
    const range = [start, start + covered * share] as const;
    start += share;
    return range;
  });
}

/**
 * The index of the first range that holds the bucket, or −1.
 *
 * @example chooseVariation(0.6, [[0, 0.25], [0.5, 0.75]]) // 1
 */
export function chooseVariation(bucket: number, ranges: readonly VariationRange[]): number {
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[index];
    if (range !== undefined && inRange(bucket, range)) return index;
  }
  return -1;
}
