/** CUPED for ratios: the ratio of the experiment less θ times the ratio from before. */

import { type Matrix, quadraticForm, type Vector } from '../numeric/matrix.ts';
import { componentCovariance, componentMean, componentVariance } from './component.ts';
import type { RegressionAdjustedRatioStatistic } from './statistic.ts';

/** R − θR₀; 0 where a denominator is 0. */
export function adjustedRatioMean(statistic: RegressionAdjustedRatioStatistic): number {
  if (statistic.denominator.sum === 0 || statistic.denominatorCovariate.sum === 0) return 0;
  const before = covariateRatioMean(statistic);
  return statistic.numerator.sum / statistic.denominator.sum - (statistic.theta ?? 0) * before;
}

/** The ratio from before the experiment; 0 where its denominator is 0. */
export function covariateRatioMean({
  numeratorCovariate,
  denominatorCovariate,
}: RegressionAdjustedRatioStatistic): number {
  return denominatorCovariate.sum === 0 ? 0 : numeratorCovariate.sum / denominatorCovariate.sum;
}

/** Sample covariances of (numerator, denominator, numerator covariate, denominator covariate). */
export function adjustedRatioCovarianceMatrix(statistic: RegressionAdjustedRatioStatistic): Matrix {
  const { n, numerator, denominator, numeratorCovariate, denominatorCovariate, sumsOfProducts: sums } = statistic;
  const between = componentCovariance;
  const nd = between(n, numerator, denominator, sums.numeratorDenominator);
  const nn = between(n, numerator, numeratorCovariate, sums.numeratorNumeratorCovariate);
  const nc = between(n, numerator, denominatorCovariate, sums.numeratorDenominatorCovariate);
  const dn = between(n, denominator, numeratorCovariate, sums.denominatorNumeratorCovariate);
  const dc = between(n, denominator, denominatorCovariate, sums.denominatorDenominatorCovariate);
  const cc = between(n, numeratorCovariate, denominatorCovariate, sums.numeratorCovariateDenominatorCovariate);
  return [
    [componentVariance(numerator), nd, nn, nc],
    [nd, componentVariance(denominator), dn, dc],
    [nn, dn, componentVariance(numeratorCovariate), cc],
    [nc, dc, cc, componentVariance(denominatorCovariate)],
  ];
}

/** Of R by numerator and denominator, and of −θR₀ by those of its covariates; all 0 where a denominator is 0. */
export interface RatioGradient {
  readonly outcome: readonly [number, number];
  readonly covariate: readonly [number, number];
}

export function adjustedRatioGradient(statistic: RegressionAdjustedRatioStatistic, theta: number): RatioGradient {
  const numerator = componentMean(statistic.numerator);
  const denominator = componentMean(statistic.denominator);
  const numeratorCovariate = componentMean(statistic.numeratorCovariate);
  const denominatorCovariate = componentMean(statistic.denominatorCovariate);
  if (denominator === 0 || denominatorCovariate === 0) return { outcome: [0, 0], covariate: [0, 0] };
  return {
    outcome: [1 / denominator, -numerator / (denominator * denominator)],
    covariate: [
      -theta / denominatorCovariate,
      (theta * numeratorCovariate) / (denominatorCovariate * denominatorCovariate),
    ],
  };
}

const joined = ({ outcome, covariate }: RatioGradient): Vector => [...outcome, ...covariate];

/** gᵀΛg: the delta method with the gradient g and the covariance matrix Λ of the four means. */
export function adjustedRatioVariance(statistic: RegressionAdjustedRatioStatistic): number {
  const gradient = joined(adjustedRatioGradient(statistic, statistic.theta ?? 0));
  return quadraticForm(gradient, adjustedRatioCovarianceMatrix(statistic), gradient);
}

/** Variance of θ times the ratio from before, and its covariance with the ratio of the experiment. */
export function covariateRatioMoments(
  statistic: RegressionAdjustedRatioStatistic,
  theta: number,
): { readonly variance: number; readonly covariance: number } {
  const { outcome, covariate } = adjustedRatioGradient(statistic, theta);
  const [, , ...before] = adjustedRatioCovarianceMatrix(statistic);
  return {
    variance: quadraticForm(
      covariate,
      before.map((row) => row.slice(2)),
      covariate,
    ),
    covariance: quadraticForm(
      covariate,
      before.map((row) => row.slice(0, 2)),
      outcome,
    ),
  };
}
