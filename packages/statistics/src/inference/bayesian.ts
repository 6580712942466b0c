/** The effect as a normal posterior: from a normal prior and a normal likelihood (Gelman et al., Bayesian Data Analysis, 2.5). */
import { momentsOf, poolStrata } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import { meanExcess, normalCdf, normalDensity, normalQuantile } from '../numeric/normal.ts';
import type { Problem } from '../problem.ts';
import { unadjustedMean } from '../samples/moments.ts';
import {
  type ComparisonResult,
  type ComparisonSettings,
  comparisonOf,
  type Interval,
  scaleOf,
  unscaledOf,
  uplift,
} from './settings.ts';

/** A normal prior; not proper: flat, and mean and variance do not count. */
export interface Prior {
  readonly mean: number;
  readonly variance: number;
  readonly proper: boolean;
}

export interface BayesianSettings extends ComparisonSettings {
  readonly prior: Prior;
  /** Whether the prior is of the relative effect, or of the effect in the metric's unit. */
  readonly priorType: 'relative' | 'absolute';
  /** Whether less is better. */
  readonly inverse: boolean;
}

/** [loss of keeping the control, loss of choosing the treatment]. */
export type Risk = readonly [control: number, treatment: number];

export interface BayesianResult extends ComparisonResult {
  readonly credibleInterval: Interval;
  readonly chanceToWin: number;
  /** Expected loss, before scaling. */
  readonly risk: Risk;
  readonly riskType: 'relative' | 'absolute';
}

/**
 * Expected loss of N(mean, sd²): [E max(δ, 0), E max(−δ, 0)] (Stucchio 2015). The smaller of the two is σ·Φ(−|z|)·(λ(|z|) − |z|),
 * which keeps its digits however small it is. Beyond 38 standard deviations it is 0 in double precision, and the risk is
 * [max(mean, 0), max(−mean, 0)].
 */
export function gaussianRisk(mean: number, standardDeviation: number): Risk {
  const z = Math.abs(mean / standardDeviation);
  const smaller = standardDeviation * normalCdf(-z) * meanExcess(z);
  const larger = Math.abs(mean) + smaller;
  return mean >= 0 ? [larger, smaller] : [smaller, larger];
}

/** The interval of N(mean, sd²) that leaves alpha/2 on either side. */
export function gaussianInterval(mean: number, standardDeviation: number, alpha: number): Interval {
  const halfWidth = normalQuantile(1 - alpha / 2) * standardDeviation;
  return [mean - halfWidth, mean + halfWidth];
}

/** The probability that the effect N(mean, sd²) is above 0; below 0 where less is better. */
export function chanceToWin(mean: number, standardDeviation: number, inverse: boolean): number {
  const z = mean / standardDeviation;
  return normalCdf(inverse ? -z : z);
}

/** The mean of N(mean, sd²) given that it lies above `lower` or below `upper`, one of which is infinite. */
export function truncatedNormalMean(mean: number, standardDeviation: number, lower: number, upper: number): number {
  if (upper !== Infinity) return -truncatedNormalMean(-mean, standardDeviation, -upper, Infinity);
  const a = (lower - mean) / standardDeviation;
  // Well above the bound it is the mean that matters, below it the bound.
  if (a < 0) return mean + (standardDeviation * normalDensity(a)) / normalCdf(-a);
  return lower + standardDeviation * meanExcess(a);
}

/**
 * The posterior of the effect: precision 1/v + 1/w and mean (d/v + m/w)/precision from the effect d with variance v and the prior
 * N(m, w); N(d, v) with a flat prior. For absolute and scaled differences a relative prior is multiplied by |control mean|.
 *
 * Intervals and chances are those of the posterior: right on average over effects drawn from the prior, not for each effect.
 * They do not account for stopping because of them.
 */
export function bayesianTest(strata: readonly Stratum[], settings: BayesianSettings): BayesianResult {
  const { differenceType, alpha, inverse } = settings;
  const riskType = comparisonOf(differenceType);
  const moments = momentsOf(strata, riskType, settings);
  const neutral = (error: Problem): BayesianResult => ({
    pointEstimate: 0,
    credibleInterval: [0, 0],
    chanceToWin: 0.5,
    risk: [0, 0],
    riskType,
    uplift: uplift(0, 0),
    error,
    unscaled: unscaledOf(moments),
  });
  if (moments.error !== null) return neutral(moments.error);
  const scale = scaleOf(strata, settings);
  if (typeof scale === 'string') return neutral(scale);
  const baseline = Math.abs(unadjustedMean(poolStrata(strata).control));
  const prior =
    riskType === 'absolute' && settings.priorType === 'relative' ? times(settings.prior, baseline) : settings.prior;
  const { mean, standardDeviation } = posterior(moments.pointEstimate, moments.standardError ** 2, prior);
  const [lower, upper] = gaussianInterval(mean, standardDeviation, alpha);
  const [keeping, choosing] = gaussianRisk(mean, standardDeviation);
  return {
    pointEstimate: mean * scale,
    credibleInterval: [lower * scale, upper * scale],
    chanceToWin: chanceToWin(mean, standardDeviation, inverse),
    risk: inverse ? [choosing, keeping] : [keeping, choosing],
    riskType,
    uplift: uplift(mean * scale, standardDeviation * scale),
    error: null,
    unscaled: unscaledOf(moments),
  };
}

const times = (prior: Prior, factor: number): Prior => ({
  ...prior,
  mean: prior.mean * factor,
  variance: prior.variance * factor * factor,
});

/** Mean and standard deviation after seeing `estimate` with `variance`. */
function posterior(
  estimate: number,
  variance: number,
  prior: Prior,
): { readonly mean: number; readonly standardDeviation: number } {
  if (!prior.proper) return { mean: estimate, standardDeviation: Math.sqrt(variance) };
  const precision = 1 / variance + 1 / prior.variance;
  return {
    mean: (estimate / variance + prior.mean / prior.variance) / precision,
    standardDeviation: Math.sqrt(1 / precision),
  };
}
