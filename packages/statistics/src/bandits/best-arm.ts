/** How probable it is that each of several independent normal quantities is the greatest. */
import { gaussLegendre } from '../numeric/gauss-legendre.ts';
import { normalCdf, normalDensity } from '../numeric/normal.ts';

/** A normal distribution. */
export interface Normal {
  readonly mean: number;
  readonly variance: number;
}

/** Where pieces of the integral end, in standard deviations from the mean of each arm; what is beyond is less than 1e-32. */
const farthest = 12;
const breaks = Array.from({ length: 2 * farthest + 1 }, (_, index) => index - farthest);
const nodes = gaussLegendre(16);

/** Probabilities of being first, and second, of all arms. */
interface RankProbabilities {
  readonly first: number[];
  readonly second: number[];
}

/**
 * P(arm k is the greatest) = ∫ φ((x − μ_k)/σ_k)/σ_k ∏_{i≠k} Φ((x − μ_i)/σ_i) dx, and likewise of being second, by Gauss–Legendre
 * quadrature on pieces of at most one standard deviation of every arm: within 1e-12, also where the arms' precisions differ by
 * orders of magnitude, which a single Gauss–Hermite rule is not. Deterministic: the same data give the same weights.
 */
function rankProbabilities(arms: readonly Normal[]): RankProbabilities {
  const scaled = arms.map(({ mean, variance }) => ({ mean, sd: Math.sqrt(variance) }));
  const first = arms.map(() => 0);
  const second = arms.map(() => 0);
  const ends = scaled.flatMap(({ mean, sd }) => breaks.map((at) => mean + at * sd)).sort((a, b) => a - b);
  let start = ends[0] ?? 0;
  for (const end of ends) {
    const half = (end - start) / 2;
    if (half > 0)
      for (const { at, weight } of nodes) addPoint(scaled, start + half * (1 + at), half * weight, first, second);
    start = end;
  }
  return { first: first.map(atMostOne), second: second.map(atMostOne) };
}

/** Against the last digit. */
const atMostOne = (probability: number): number => Math.min(1, probability);

function addPoint(
  arms: readonly { readonly mean: number; readonly sd: number }[],
  x: number,
  weight: number,
  first: number[],
  second: number[],
): void {
  const below = arms.map(({ mean, sd }) => normalCdf((x - mean) / sd));
  for (const [k, { mean, sd }] of arms.entries()) {
    const density = (weight * normalDensity((x - mean) / sd)) / sd;
    if (density === 0) continue;
    // Of the others: the chance that none is above x, and that exactly one is.
    let none = 1;
    let one = 0;
    for (const [i, chance] of below.entries()) {
      if (i === k) continue;
      one = one * chance + none * (1 - chance);
      none *= chance;
    }
    first[k] = (first[k] ?? 0) + density * none;
    second[k] = (second[k] ?? 0) + density * one;
  }
}

/** P(arm k is best): greatest, or least where less is better. */
export function bestArmProbabilities(arms: readonly Normal[], inverse: boolean): number[] {
  return rankProbabilities(oriented(arms, inverse)).first;
}

/** Half the probability that arm k is among the best two (Russo 2016). */
export function bestTwoProbabilities(arms: readonly Normal[], inverse: boolean): number[] {
  const { first, second } = rankProbabilities(oriented(arms, inverse));
  return first.map((chance, k) => (chance + (second[k] ?? 0)) / 2);
}

function oriented(arms: readonly Normal[], inverse: boolean): readonly Normal[] {
  return inverse ? arms.map(({ mean, variance }) => ({ mean: -mean, variance })) : arms;
}
