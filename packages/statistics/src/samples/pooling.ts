import { InvalidInput } from '../problem.ts';
import type {
  Component,
  RatioProducts,
  RegressionAdjustedRatioStatistic,
  RegressionAdjustedStatistic,
  Statistic,
} from './statistic.ts';

/** The sum over units of the squares: for zeros and ones the sum itself. */
export function sumOfSquares(component: Component): number {
  return component.type === 'proportion' ? component.sum : component.sumOfSquares;
}

/** Two components as one over all their units. A proportion becomes a mean with Σy² = Σy, whose divisor is n − 1. */
export function addComponents(a: Component, b: Component): Component {
  return {
    type: 'mean',
    n: a.n + b.n,
    sum: a.sum + b.sum,
    sumOfSquares: sumOfSquares(a) + sumOfSquares(b),
  };
}

/** As `addComponents`, but two proportions stay a proportion: how both arms are taken together to estimate θ. */
export function joinComponents(a: Component, b: Component): Component {
  return a.type === 'proportion' && b.type === 'proportion'
    ? { type: 'proportion', n: a.n + b.n, sum: a.sum + b.sum }
    : addComponents(a, b);
}

function addProducts(a: RatioProducts, b: RatioProducts): RatioProducts {
  return {
    numeratorNumeratorCovariate: a.numeratorNumeratorCovariate + b.numeratorNumeratorCovariate,
    denominatorDenominatorCovariate: a.denominatorDenominatorCovariate + b.denominatorDenominatorCovariate,
    numeratorCovariateDenominatorCovariate:
      a.numeratorCovariateDenominatorCovariate + b.numeratorCovariateDenominatorCovariate,
    numeratorDenominator: a.numeratorDenominator + b.numeratorDenominator,
    numeratorDenominatorCovariate: a.numeratorDenominatorCovariate + b.numeratorDenominatorCovariate,
    denominatorNumeratorCovariate: a.denominatorNumeratorCovariate + b.denominatorNumeratorCovariate,
  };
}

function addAdjusted(a: RegressionAdjustedStatistic, b: RegressionAdjustedStatistic): RegressionAdjustedStatistic {
  return {
    type: 'regressionAdjusted',
    n: a.n + b.n,
    outcome: addComponents(a.outcome, b.outcome),
    covariate: addComponents(a.covariate, b.covariate),
    sumOfProducts: a.sumOfProducts + b.sumOfProducts,
    theta: null,
  };
}

function addAdjustedRatios(
  a: RegressionAdjustedRatioStatistic,
  b: RegressionAdjustedRatioStatistic,
): RegressionAdjustedRatioStatistic {
  return {
    type: 'regressionAdjustedRatio',
    n: a.n + b.n,
    numerator: addComponents(a.numerator, b.numerator),
    denominator: addComponents(a.denominator, b.denominator),
    numeratorCovariate: addComponents(a.numeratorCovariate, b.numeratorCovariate),
    denominatorCovariate: addComponents(a.denominatorCovariate, b.denominatorCovariate),
    sumsOfProducts: addProducts(a.sumsOfProducts, b.sumsOfProducts),
    theta: null,
  };
}

function isComponent(statistic: Statistic): statistic is Component {
  return statistic.type === 'mean' || statistic.type === 'proportion';
}

/**
 * Two samples of the same metric as one: sums, sums of squares and of products add up, θ is to be estimated anew.
 * @throws InvalidInput where the two are of different kinds
 */
export function addStatistics(a: Statistic, b: Statistic): Statistic {
  if (isComponent(a) && isComponent(b)) return addComponents(a, b);
  if (a.type === 'ratio' && b.type === 'ratio') {
    return {
      type: 'ratio',
      n: a.n + b.n,
      numerator: addComponents(a.numerator, b.numerator),
      denominator: addComponents(a.denominator, b.denominator),
      sumOfProducts: a.sumOfProducts + b.sumOfProducts,
    };
  }
  if (a.type === 'regressionAdjusted' && b.type === 'regressionAdjusted') return addAdjusted(a, b);
  if (a.type === 'regressionAdjustedRatio' && b.type === 'regressionAdjustedRatio') return addAdjustedRatios(a, b);
  throw new InvalidInput(
    `A ${a.type} and a ${b.type} cannot be added up: give one statistic for each arm, or strata of one kind other than quantiles.`,
  );
}

/**
 * One or more samples as one; a single one stays as it is.
 * @throws InvalidInput without any sample
 */
export function pool(statistics: readonly Statistic[]): Statistic {
  const [first, ...rest] = statistics;
  if (first === undefined) throw new InvalidInput('There is nothing to pool: give at least one statistic.');
  return rest.reduce(addStatistics, first);
}
