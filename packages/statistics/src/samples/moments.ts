/** Mean and variance of one arm, for every kind of statistic. */
import { componentCovariance, componentMean, componentVariance } from './component.ts';
import { isQuantileUncertain, quantileVariance } from './quantile-variance.ts';
import { adjustedRatioMean, adjustedRatioVariance } from './ratio-adjustment.ts';
import type { Component, Statistic } from './statistic.ts';

/** The six quantities that the variance of m/d is made of. */
export interface RatioMoments {
  readonly numeratorMean: number;
  readonly numeratorVariance: number;
  readonly denominatorMean: number;
  readonly denominatorVariance: number;
  readonly covariance: number;
}

/**
 * Variance of a ratio of means, times n, by the delta method: s²ₘ/μ_d² + s²_d μₘ²/μ_d⁴ − 2 sₘ_d μₘ/μ_d³ (Deng, Knoblich,
 * Lu 2018). 0 where the denominator's mean is 0.
 */
export function varianceOfRatio(moments: RatioMoments): number {
  const { numeratorMean, numeratorVariance, denominatorMean, denominatorVariance, covariance } = moments;
  if (denominatorMean === 0) return 0;
  const square = denominatorMean * denominatorMean;
  return (
    numeratorVariance / square +
    (denominatorVariance * numeratorMean * numeratorMean) / (square * square) -
    (2 * covariance * numeratorMean) / (square * denominatorMean)
  );
}

/** Means, variances and covariance of the two parts of a ratio. */
export function ratioMoments(ratio: {
  readonly n: number;
  readonly numerator: Component;
  readonly denominator: Component;
  readonly sumOfProducts: number;
}): RatioMoments {
  const { n, numerator, denominator, sumOfProducts } = ratio;
  return {
    numeratorMean: componentMean(numerator),
    numeratorVariance: componentVariance(numerator),
    denominatorMean: componentMean(denominator),
    denominatorVariance: componentVariance(denominator),
    covariance: componentCovariance(n, numerator, denominator, sumOfProducts),
  };
}

/** The mean without regression adjustment: what a person would call the arm's result. */
export function unadjustedMean(statistic: Statistic): number {
  switch (statistic.type) {
    case 'mean':
    case 'proportion':
      return componentMean(statistic);
    case 'regressionAdjusted':
      return componentMean(statistic.outcome);
    case 'ratio':
    case 'regressionAdjustedRatio':
      return statistic.denominator.sum === 0 ? 0 : statistic.numerator.sum / statistic.denominator.sum;
    case 'quantile':
    case 'clusteredQuantile':
      return statistic.estimate;
  }
}

/**
 * The mean that is compared: ȳ − θx̄ for regression-adjusted statistics (Deng, Xu, Kohavi, Walker 2013). x̄ is not centred,
 * which shifts both arms alike: only differences mean anything. θ null counts as 0.
 */
export function mean(statistic: Statistic): number {
  if (statistic.type === 'regressionAdjusted') {
    return componentMean(statistic.outcome) - (statistic.theta ?? 0) * componentMean(statistic.covariate);
  }
  return statistic.type === 'regressionAdjustedRatio' ? adjustedRatioMean(statistic) : unadjustedMean(statistic);
}

/** The variance of one unit, so that variance/n is that of the arm's mean. In squared units of the metric. */
export function variance(statistic: Statistic): number {
  switch (statistic.type) {
    case 'mean':
    case 'proportion':
      return componentVariance(statistic);
    case 'ratio':
      return statistic.n <= 1 ? 0 : varianceOfRatio(ratioMoments(statistic));
    case 'regressionAdjusted': {
      const { n, outcome, covariate, sumOfProducts } = statistic;
      if (n <= 1) return 0;
      const theta = statistic.theta ?? 0;
      const covariance = componentCovariance(n, outcome, covariate, sumOfProducts);
      return componentVariance(outcome) + theta * theta * componentVariance(covariate) - 2 * theta * covariance;
    }
    case 'regressionAdjustedRatio':
      return adjustedRatioVariance(statistic);
    case 'quantile':
    case 'clusteredQuantile':
      return quantileVariance(statistic);
  }
}

/** √variance; 0 where the variance is not positive. */
export function standardDeviation(statistic: Statistic): number {
  const value = variance(statistic);
  return value <= 0 ? 0 : Math.sqrt(value);
}

/** Whether nothing can be tested with this arm: no variance, or too few observations around the quantile. */
export function hasNonPositiveVariance(statistic: Statistic): boolean {
  return statistic.type === 'quantile' || statistic.type === 'clusteredQuantile'
    ? isQuantileUncertain(statistic)
    : variance(statistic) <= 0;
}
