/** The results of all variations of one level. */
import { momentsOf, poolStrata } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import { type BayesianResult, bayesianTest, type Prior } from '../inference/bayesian.ts';
import { fixedHorizonTest } from '../inference/fixed-horizon.ts';
import type { FrequentistResult, FrequentistSettings } from '../inference/frequentist.ts';
import { sequentialTest } from '../inference/sequential.ts';
import { additionalUnits, type MidExperimentPowerSettings } from '../power/mid-experiment.ts';
import type { Problem } from '../problem.ts';
import { adjust } from '../samples/adjustment.ts';
import { standardDeviation, unadjustedMean } from '../samples/moments.ts';
import { pool } from '../samples/pooling.ts';
import type { Statistic } from '../samples/statistic.ts';
import { emptyCell, statisticOf } from './cell.ts';
import type { Analysis, Metric } from './input.ts';
import { isQuantile, type Level } from './levels.ts';

/** What every variation says of itself. */
export interface VariationSummary {
  /** Without regression adjustment. */
  readonly mean: number;
  readonly sum: number;
  readonly units: number;
  readonly denominatorSum: number;
  readonly stats: {
    readonly units: number;
    /** For quantiles the number of observations. */
    readonly count: number;
    /** After regression adjustment. */
    readonly standardDeviation: number;
    readonly mean: number;
  };
}

/** How many more units a comparison needs. */
export interface PowerResult {
  readonly status: 'successful' | 'unsuccessful';
  readonly error: Problem | null;
  readonly pairwiseSampleSize: number;
  readonly targetEffect: number;
  readonly varianceOfEffect: number;
  readonly prior: Prior | null;
  readonly upperBoundAchieved: boolean;
  /** Additional units as a multiple of those so far. */
  readonly scalingFactor: number | null;
}

interface ComparisonExtras {
  readonly postStratificationApplied: boolean;
  /** For goals, relative differences and no breakdown; else null. */
  readonly power: PowerResult | null;
}

export type BaselineResult = VariationSummary & { readonly kind: 'baseline' };
export type BayesianVariation = VariationSummary &
  Omit<BayesianResult, 'unscaled'> &
  ComparisonExtras & { readonly kind: 'bayesian' };
export type FrequentistVariation = VariationSummary &
  Omit<FrequentistResult, 'unscaled'> &
  ComparisonExtras & { readonly kind: 'frequentist' };
export type PlainVariation = BaselineResult | BayesianVariation | FrequentistVariation;

/** The power that experiments are planned for. */
const targetPower = 0.8;

/** NaN sums count as 0 where they are shown. */
const shown = (sum: number): number => (Number.isNaN(sum) ? 0 : sum);

/**
 * Compares each variation with the first; the control stands at `baselineIndex`. Its standard deviation is the adjusted one of the
 * last comparison, as each comparison has a θ of its own.
 */
export function variationsOf(metric: Metric, analysis: Analysis, level: Level, isUncapped: boolean): PlainVariation[] {
  const options = { isUncapped, covariateAsResponse: analysis.covariateAsResponse };
  const strataOf = (arm: number): Statistic[] =>
    level.strata.map((cells) => statisticOf(metric, cells[arm] ?? emptyCell(), options));
  const control = pool(strataOf(0));
  let adjustedControl = control;
  const totalUnits = level.strata.flat().reduce((sum, { units }) => sum + units, 0);
  const results = analysis.variationIds.slice(1).map((_, index): PlainVariation => {
    const treatments = strataOf(index + 1);
    const strata = strataOf(0).flatMap((own, place): Stratum[] => {
      const treatment = treatments[place];
      return treatment === undefined ? [] : [{ control: own, treatment }];
    });
    const pooled = poolStrata(strata);
    const adjusted = adjust(pooled.control, pooled.treatment);
    adjustedControl = adjusted.control;
    const own = summaryOf(metric, level, index + 1, pooled.treatment, adjusted.treatment, isUncapped);
    return compare(own, strata, metric, analysis, totalUnits);
  });
  const baseline: BaselineResult = {
    kind: 'baseline',
    ...summaryOf(metric, level, 0, control, adjustedControl, isUncapped),
  };
  return results.toSpliced(analysis.baselineIndex, 0, baseline);
}

function summaryOf(
  metric: Metric,
  level: Level,
  arm: number,
  pooled: Statistic,
  adjusted: Statistic,
  isUncapped: boolean,
): VariationSummary {
  let [units, count, sum, denominatorSum] = [0, 0, 0, 0];
  for (const cells of level.strata) {
    const cell = cells[arm];
    if (cell === undefined) continue;
    const sums = isUncapped ? cell.uncapped : cell.sums;
    units += cell.units;
    count += isQuantile(metric) ? (cell.single?.quantileN ?? 0) : cell.count;
    sum += sums.sum;
    denominatorSum += sums.denominatorSum;
  }
  const mean = unadjustedMean(pooled);
  return {
    mean,
    sum: shown(sum),
    units,
    denominatorSum: shown(denominatorSum),
    stats: { units, count, standardDeviation: standardDeviation(adjusted), mean },
  };
}

/** How many tests share alpha when covariates are compared. */
function covariateTests({ variationIds, numGoalMetrics, numGuardrailMetrics }: Analysis): number {
  return Math.max(1, (variationIds.length - 1) * (numGoalMetrics + numGuardrailMetrics));
}

function compare(
  own: VariationSummary,
  strata: readonly Stratum[],
  metric: Metric,
  analysis: Analysis,
  totalUnits: number,
): PlainVariation {
  const { differenceType, trafficFraction, durationDays, tuningParameter, covariateAsResponse } = analysis;
  const alpha = covariateAsResponse ? analysis.alpha / covariateTests(analysis) : analysis.alpha;
  const postStratify = analysis.postStratify && !isQuantile(metric);
  const shared = { differenceType, alpha, postStratify, totalUnits, trafficFraction, durationDays };
  const prior: Prior = {
    proper: metric.prior.proper && !covariateAsResponse,
    mean: metric.prior.mean,
    variance: metric.prior.standardDeviation ** 2,
  };
  if (analysis.engine === 'bayesian') {
    const test = bayesianTest(strata, { ...shared, prior, priorType: 'relative', inverse: metric.inverse });
    const { unscaled, ...result } = test;
    const power = powerOf(metric, analysis, strata, result.error, prior, alpha);
    return {
      kind: 'bayesian',
      ...own,
      ...result,
      postStratificationApplied: unscaled.postStratificationApplied,
      power,
    };
  }
  const settings: FrequentistSettings = {
    ...shared,
    nullValue: 0,
    alternative: !analysis.oneSided ? 'twoSided' : metric.inverse ? 'greater' : 'less',
  };
  const test = analysis.sequential
    ? sequentialTest(strata, { ...settings, tuningParameter, rho: null })
    : fixedHorizonTest(strata, settings);
  const { pointEstimate, confidenceInterval, pValue, uplift, error, pValueError, unscaled } = test;
  return {
    kind: 'frequentist',
    ...own,
    pointEstimate,
    confidenceInterval,
    pValue,
    uplift,
    error,
    pValueError,
    postStratificationApplied: unscaled.postStratificationApplied,
    power: powerOf(metric, analysis, strata, error, null, alpha),
  };
}

function powerOf(
  metric: Metric,
  analysis: Analysis,
  strata: readonly Stratum[],
  error: Problem | null,
  prior: Prior | null,
  alpha: number,
): PowerResult | null {
  const isAsked =
    metric.roles?.includes('goal') === true &&
    analysis.differenceType === 'relative' &&
    analysis.breakdown.kind === 'none';
  if (!isAsked) return null;
  const moments = momentsOf(strata, 'relative', { postStratify: analysis.postStratify && !isQuantile(metric) });
  const settings: MidExperimentPowerSettings = {
    alpha,
    targetPower,
    targetEffect: metric.targetEffect,
    numGoalMetrics: analysis.numGoalMetrics,
    numVariations: analysis.variationIds.length,
    prior,
    multiplicityCorrected: analysis.engine === 'frequentist' && analysis.multiplicityCorrected,
    sequential: analysis.engine === 'frequentist' && analysis.sequential,
    tuningParameter: analysis.tuningParameter,
  };
  const found = additionalUnits({ ...moments, error: moments.error ?? error }, settings);
  return {
    status: found.status,
    error: found.error,
    pairwiseSampleSize: moments.pairwiseSampleSize,
    targetEffect: metric.targetEffect,
    varianceOfEffect: found.status === 'unsuccessful' && moments.error !== null ? 0 : moments.standardError ** 2,
    prior,
    upperBoundAchieved: found.upperBoundAchieved,
    scalingFactor: found.scalingFactor,
  };
}
