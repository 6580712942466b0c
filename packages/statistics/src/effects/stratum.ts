/**
 * What one stratum says: control mean and effect, each for numerator and denominator where the metric is a ratio, with n times
 * the covariance of these estimates.
 */
import { dot, inverseOfPositiveDefinite, type Matrix, quadraticForm, times, type Vector } from '../numeric/matrix.ts';
import type { Problem } from '../problem.ts';
import { withoutCovariates } from '../samples/adjustment.ts';
import { componentCovariance, componentMean, componentVariance } from '../samples/component.ts';
import { hasNonPositiveVariance, mean, variance } from '../samples/moments.ts';
import { addComponents, sumOfSquares } from '../samples/pooling.ts';
import type {
  Component,
  RatioStatistic,
  RegressionAdjustedRatioStatistic,
  RegressionAdjustedStatistic,
  Statistic,
} from '../samples/statistic.ts';

/** The two arms of one stratum. */
export interface Stratum {
  readonly control: Statistic;
  readonly treatment: Statistic;
}

/** An estimated stratum. */
export interface StratumEstimate {
  /** Units of both arms; 0 beside an error. */
  readonly n: number;
  /** (control mean, effect), for ratios (of the numerator …, of the denominator …); zeros beside an error. */
  readonly estimate: Vector;
  /** n times the covariance of the estimate. */
  readonly covariance: Matrix;
  readonly error: Problem | null;
}

/** Whether a statistic has a numerator and a denominator. */
export function isRatio(statistic: Statistic): statistic is RatioStatistic | RegressionAdjustedRatioStatistic {
  return statistic.type === 'ratio' || statistic.type === 'regressionAdjustedRatio';
}

function nothing(size: number, error: Problem): StratumEstimate {
  const zeros = Array.from({ length: size }, () => 0);
  return { n: 0, estimate: zeros, covariance: zeros.map(() => zeros), error };
}

/** The estimate of one stratum, by regression where it has covariates. */
export function estimateStratum(stratum: Stratum): StratumEstimate {
  const { control, treatment } = stratum;
  const size = isRatio(control) ? 4 : 2;
  if (hasNonPositiveVariance(control) || hasNonPositiveVariance(treatment)) return nothing(size, 'nonPositiveVariance');
  if (control.type === 'regressionAdjusted' && treatment.type === 'regressionAdjusted') {
    return componentVariance(control.covariate) <= 0 || componentVariance(treatment.covariate) <= 0
      ? estimateMeans(asMeans(control), asMeans(treatment))
      : regressMeans(control, treatment);
  }
  if (control.type === 'regressionAdjustedRatio' && treatment.type === 'regressionAdjustedRatio') {
    return hasConstantCovariate(control) || hasConstantCovariate(treatment)
      ? estimateRatios(plainRatio(control), plainRatio(treatment))
      : regressRatios(control, treatment);
  }
  if (control.type === 'ratio' && treatment.type === 'ratio') return estimateRatios(control, treatment);
  return estimateMeans(control, treatment);
}

/** Whether the covariate of numerator or denominator has no variance. */
export function hasConstantCovariate(statistic: RegressionAdjustedRatioStatistic): boolean {
  return componentVariance(statistic.numeratorCovariate) <= 0 || componentVariance(statistic.denominatorCovariate) <= 0;
}

/** The outcome alone, a proportion as a mean: divisor n − 1. */
function asMeans({ outcome }: RegressionAdjustedStatistic): Component {
  return { type: 'mean', n: outcome.n, sum: outcome.sum, sumOfSquares: sumOfSquares(outcome) };
}

function plainRatio(statistic: RegressionAdjustedRatioStatistic): RatioStatistic {
  const { n, numerator, denominator, sumsOfProducts } = statistic;
  return { type: 'ratio', n, numerator, denominator, sumOfProducts: sumsOfProducts.numeratorDenominator };
}

/** Without covariates the two arms are independent: V = n·[[v_a, −v_a], [−v_a, v_a + v_b]]. */
function estimateMeans(control: Statistic, treatment: Statistic): StratumEstimate {
  const n = control.n + treatment.n;
  const a = (variance(control) * n) / control.n;
  const b = (variance(treatment) * n) / treatment.n;
  return {
    n,
    estimate: [mean(control), mean(treatment) - mean(control)],
    covariance: [
      [a, -a],
      [-a, a + b],
    ],
    error: null,
  };
}

function estimateRatios(control: RatioStatistic, treatment: RatioStatistic): StratumEstimate {
  const n = control.n + treatment.n;
  const a = partCovariances(control).map((row) => row.map((entry) => (entry * n) / control.n));
  const b = partCovariances(treatment).map((row) => row.map((entry) => (entry * n) / treatment.n));
  const covariance = a.flatMap((row, i) => {
    const other = b[i] ?? [];
    return [
      row.flatMap((entry) => [entry, -entry]),
      row.flatMap((entry, j) => [-entry, entry + (other[j] ?? Number.NaN)]),
    ];
  });
  const numerator = componentMean(control.numerator);
  const denominator = componentMean(control.denominator);
  return {
    n,
    estimate: [
      numerator,
      componentMean(treatment.numerator) - numerator,
      denominator,
      componentMean(treatment.denominator) - denominator,
    ],
    covariance,
    error: null,
  };
}

/** Covariances of numerator and denominator. */
function partCovariances({ n, numerator, denominator, sumOfProducts }: RatioStatistic): Matrix {
  const between = componentCovariance(n, numerator, denominator, sumOfProducts);
  return [
    [componentVariance(numerator), between],
    [between, componentVariance(denominator)],
  ];
}

/**
 * Least squares of the outcome on (1, treatment, covariate) over both arms, from the sums. The mean of the covariate is a sample
 * mean too: its variance counts in that of the control mean.
 */
function regressMeans(control: RegressionAdjustedStatistic, treatment: RegressionAdjustedStatistic): StratumEstimate {
  const n = control.n + treatment.n;
  const covariate = addComponents(control.covariate, treatment.covariate);
  const outcome = addComponents(control.outcome, treatment.outcome);
  const treated = treatment.covariate.sum;
  const inverse = inverseOfPositiveDefinite([
    [n, treatment.n, covariate.sum],
    [treatment.n, treatment.n, treated],
    [covariate.sum, treated, sumOfSquares(covariate)],
  ]);
  if (inverse === undefined) return nothing(2, 'singularDesign');
  const products = [outcome.sum, treatment.outcome.sum, control.sumOfProducts + treatment.sumOfProducts];
  const coefficients = times(inverse, products);
  const [, effect = 0, slope = 0] = coefficients;
  const residual = (sumOfSquares(outcome) - dot(products, coefficients)) / (n - 3);
  const contrast = [1, 0, componentMean(covariate)];
  const treatmentOnly = [0, 1, 0];
  const meanSpread = componentVariance(covariate) / n;
  const ofSlope = residual * quadraticForm([0, 0, 1], inverse, [0, 0, 1]);
  const between = n * residual * quadraticForm(contrast, inverse, treatmentOnly);
  return {
    n,
    estimate: [dot(contrast, coefficients), effect],
    covariance: [
      [
        n * (residual * quadraticForm(contrast, inverse, contrast) + ofSlope * meanSpread + slope * slope * meanSpread),
        between,
      ],
      [between, n * residual * quadraticForm(treatmentOnly, inverse, treatmentOnly)],
    ],
    error: null,
  };
}

/**
 * Numerator and denominator each on (1, treatment, numerator covariate, denominator covariate), with the covariance of their
 * residuals.
 */
function regressRatios(
  control: RegressionAdjustedRatioStatistic,
  treatment: RegressionAdjustedRatioStatistic,
): StratumEstimate {
  const n = control.n + treatment.n;
  const numerator = addComponents(control.numerator, treatment.numerator);
  const denominator = addComponents(control.denominator, treatment.denominator);
  const first = addComponents(control.numeratorCovariate, treatment.numeratorCovariate);
  const second = addComponents(control.denominatorCovariate, treatment.denominatorCovariate);
  const sum = (name: keyof RegressionAdjustedRatioStatistic['sumsOfProducts']): number =>
    control.sumsOfProducts[name] + treatment.sumsOfProducts[name];
  const crossed = sum('numeratorCovariateDenominatorCovariate');
  const inverse = inverseOfPositiveDefinite([
    [n, treatment.n, first.sum, second.sum],
    [treatment.n, treatment.n, treatment.numeratorCovariate.sum, treatment.denominatorCovariate.sum],
    [first.sum, treatment.numeratorCovariate.sum, sumOfSquares(first), crossed],
    [second.sum, treatment.denominatorCovariate.sum, crossed, sumOfSquares(second)],
  ]);
  if (inverse === undefined) return nothing(4, 'singularDesign');
  const productsOf = [
    [numerator.sum, treatment.numerator.sum, sum('numeratorNumeratorCovariate'), sum('numeratorDenominatorCovariate')],
    [
      denominator.sum,
      treatment.denominator.sum,
      sum('denominatorNumeratorCovariate'),
      sum('denominatorDenominatorCovariate'),
    ],
  ];
  const squares = [
    [sumOfSquares(numerator), sum('numeratorDenominator')],
    [sum('numeratorDenominator'), sumOfSquares(denominator)],
  ];
  const coefficientsOf = productsOf.map((products) => times(inverse, products));
  const contrasts = [
    [1, 0, componentMean(first), componentMean(second)],
    [0, 1, 0, 0],
  ];
  const betweenCovariates = componentCovariance(n, first, second, crossed) / n;
  // The sampling of the two covariate means, at the places of the slopes.
  const sampling = [
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, componentVariance(first) / n, betweenCovariates],
    [0, 0, betweenCovariates, componentVariance(second) / n],
  ];
  const samplingTrace = inverse.reduce((total, row, i) => total + dot(row, sampling[i] ?? []), 0);
  const covariance = coefficientsOf.flatMap((coefficients, p) =>
    contrasts.map((contrast, i) =>
      coefficientsOf.flatMap((others, q) => {
        const residual = ((squares[p]?.[q] ?? Number.NaN) - dot(productsOf[p] ?? [], others)) / (n - 6);
        return contrasts.map((other, j) => {
          const ofMeans =
            i === 0 && j === 0 ? residual * samplingTrace + quadraticForm(coefficients, sampling, others) : 0;
          return n * (residual * quadraticForm(contrast, inverse, other) + ofMeans);
        });
      }),
    ),
  );
  return {
    n,
    estimate: coefficientsOf.flatMap((coefficients) => contrasts.map((contrast) => dot(contrast, coefficients))),
    covariance,
    error: null,
  };
}

/** Both arms without their covariates. */
export function stratumWithoutCovariates({ control, treatment }: Stratum): Stratum {
  return { control: withoutCovariates(control), treatment: withoutCovariates(treatment) };
}
