/** Arms as random units, and the sums that a warehouse would make of them. */
import * as fc from 'fast-check';
import type { MeanStatistic, RatioStatistic, RegressionAdjustedStatistic, Statistic } from '../src/index.ts';

/** What is known of one unit. */
export interface Unit {
  readonly outcome: number;
  readonly other: number;
  readonly covariate: number;
  readonly otherCovariate: number;
}

const value = fc.integer({ min: 1, max: 2000 }).map((whole) => whole / 16);

const unit = fc.record({ outcome: value, other: value, covariate: value, otherCovariate: value });

/** An arm whose outcomes are not all the same. */
export const arm: fc.Arbitrary<readonly Unit[]> = fc
  .array(unit, { minLength: 8, maxLength: 40 })
  .filter((units) => new Set(units.map(({ outcome }) => outcome)).size > 3)
  .filter((units) => new Set(units.map(({ covariate }) => covariate)).size > 3);

const total = (units: readonly Unit[], of: (unit: Unit) => number): number =>
  units.reduce((sum, one) => sum + of(one), 0);

function meanOf(units: readonly Unit[], of: (unit: Unit) => number): MeanStatistic {
  return { type: 'mean', n: units.length, sum: total(units, of), sumOfSquares: total(units, (one) => of(one) ** 2) };
}

const outcome = (one: Unit): number => one.outcome;
const other = (one: Unit): number => one.other;
const covariate = (one: Unit): number => one.covariate;

function ratioOf(units: readonly Unit[]): RatioStatistic {
  return {
    type: 'ratio',
    n: units.length,
    numerator: meanOf(units, outcome),
    denominator: meanOf(units, other),
    sumOfProducts: total(units, (one) => one.outcome * one.other),
  };
}

function adjustedOf(units: readonly Unit[]): RegressionAdjustedStatistic {
  return {
    type: 'regressionAdjusted',
    n: units.length,
    outcome: meanOf(units, outcome),
    covariate: meanOf(units, covariate),
    sumOfProducts: total(units, (one) => one.outcome * one.covariate),
    theta: null,
  };
}

function adjustedRatioOf(units: readonly Unit[]): Statistic {
  const before = (one: Unit): number => one.otherCovariate;
  const times = (a: (one: Unit) => number, b: (one: Unit) => number): number => total(units, (one) => a(one) * b(one));
  return {
    type: 'regressionAdjustedRatio',
    n: units.length,
    numerator: meanOf(units, outcome),
    denominator: meanOf(units, other),
    numeratorCovariate: meanOf(units, covariate),
    denominatorCovariate: meanOf(units, before),
    sumsOfProducts: {
      numeratorNumeratorCovariate: times(outcome, covariate),
      denominatorDenominatorCovariate: times(other, before),
      numeratorCovariateDenominatorCovariate: times(covariate, before),
      numeratorDenominator: times(outcome, other),
      numeratorDenominatorCovariate: times(outcome, before),
      denominatorNumeratorCovariate: times(other, covariate),
    },
    theta: null,
  };
}

/** Every kind that is made of sums. */
export const summable = {
  mean: (units: readonly Unit[]): Statistic => meanOf(units, outcome),
  ratio: ratioOf,
  regressionAdjusted: adjustedOf,
  regressionAdjustedRatio: adjustedRatioOf,
} as const;
