/** Corrections for asking many questions of one experiment. Null stands for what was not tested: it stays null and does not count. */
import { normalQuantile } from '../numeric/normal.ts';
import type { Interval } from './settings.ts';

export type Correction = 'holm' | 'benjaminiHochberg';

/** A p-value and where it stood. */
interface Ranked {
  readonly place: number;
  readonly pValue: number;
}

function ascending(pValues: readonly (number | null)[]): Ranked[] {
  const tested = pValues.flatMap((pValue, place): Ranked[] => (pValue === null ? [] : [{ place, pValue }]));
  return tested.sort((a, b) => a.pValue - b.pValue);
}

/**
 * Holm (1979): controls the chance of any false discovery, whatever the dependence between tests. Adjusted p-values
 * max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎), in the order given.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const adjusted: (number | null)[] = pValues.map(() => null);
  const ranked = ascending(pValues);
  let least = 0;
  for (const [rank, { place, pValue }] of ranked.entries()) {
    least = Math.max(least, Math.min(1, (ranked.length - rank) * pValue));
    adjusted[place] = least;
  }
  return adjusted;
}

/**
 * Benjamini and Hochberg (1995): controls the expected share of false discoveries among all, where tests are independent or
 * positively dependent. Adjusted p-values min over j ≥ i of min(1, m·p₍ⱼ₎/j), in the order given.
 */
export function benjaminiHochberg(pValues: readonly (number | null)[]): (number | null)[] {
  const adjusted: (number | null)[] = pValues.map(() => null);
  const ranked = ascending(pValues);
  let most = 1;
  for (const [rank, { place, pValue }] of [...ranked.entries()].reverse()) {
    most = Math.min(most, (ranked.length * pValue) / (rank + 1));
    adjusted[place] = most;
  }
  return adjusted;
}

/** Adjusted p-values by the correction of that name. */
export function correctPValues(pValues: readonly (number | null)[], correction: Correction): (number | null)[] {
  return correction === 'holm' ? holm(pValues) : benjaminiHochberg(pValues);
}

/** From here on an adjusted p-value says nothing about the effect. */
const saysNothing = 0.999999;

/**
 * The interval that goes with an adjusted p-value: the standard error that would have given it, |estimate/Φ⁻¹(1 − p/2)|, as a
 * normal interval. Never narrower than the original at either end: else the original stays.
 */
export function adjustedInterval(
  estimate: number,
  adjustedPValue: number,
  alpha: number,
  original: Interval,
): Interval {
  if (estimate === 0) return original;
  if (adjustedPValue > saysNothing) return [-Infinity, Infinity];
  const halfWidth = -normalQuantile(alpha / 2) * Math.abs(estimate / normalQuantile(adjustedPValue / 2));
  const lower = estimate - halfWidth;
  const upper = estimate + halfWidth;
  return lower < original[0] && upper > original[1] ? [lower, upper] : original;
}
