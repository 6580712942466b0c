/**
 * What is known of one arm: sums over its units (visitors, accounts, …), from which everything else is computed. Sums are
 * additive, so a warehouse can make them in one pass and levels of a dimension can be added up.
 */

/** A metric with any values. The variance comes from the sum of squares, with divisor n − 1. */
export interface MeanStatistic {
  readonly type: 'mean';
  readonly n: number;
  readonly sum: number;
  readonly sumOfSquares: number;
}

/** A metric whose values are 0 and 1. The variance is p(1 − p). */
export interface ProportionStatistic {
  readonly type: 'proportion';
  readonly n: number;
  /** How many units have the value 1. */
  readonly sum: number;
}

/** A mean or a proportion, alone or as a part of a ratio or of an adjusted statistic. */
export type Component = MeanStatistic | ProportionStatistic;

/** Sum of one metric over sum of another, such as revenue per order, where units (not orders) were randomised. */
export interface RatioStatistic {
  readonly type: 'ratio';
  readonly n: number;
  readonly numerator: Component;
  readonly denominator: Component;
  readonly sumOfProducts: number;
}

/** A mean or proportion with a covariate known from before the experiment, for CUPED. */
export interface RegressionAdjustedStatistic {
  readonly type: 'regressionAdjusted';
  readonly n: number;
  readonly outcome: Component;
  readonly covariate: Component;
  readonly sumOfProducts: number;
  /** The regression coefficient; null where it is not estimated yet. */
  readonly theta: number | null;
}

/** Sums over units of the products of two quantities each. */
export interface RatioProducts {
  readonly numeratorNumeratorCovariate: number;
  readonly denominatorDenominatorCovariate: number;
  readonly numeratorCovariateDenominatorCovariate: number;
  readonly numeratorDenominator: number;
  readonly numeratorDenominatorCovariate: number;
  readonly denominatorNumeratorCovariate: number;
}

/** A ratio with the same ratio from before the experiment as covariate. */
export interface RegressionAdjustedRatioStatistic {
  readonly type: 'regressionAdjustedRatio';
  readonly n: number;
  readonly numerator: Component;
  readonly denominator: Component;
  readonly numeratorCovariate: Component;
  readonly denominatorCovariate: Component;
  readonly sumsOfProducts: RatioProducts;
  readonly theta: number | null;
}

interface QuantileFields {
  /** Number of observations: units, or events for `clusteredQuantile`. */
  readonly n: number;
  /** Which quantile, between 0 and 1. */
  readonly level: number;
  /** The sample quantile. */
  readonly estimate: number;
  /** Order statistics that bound a 95 % interval for a sample of `nForInterval`. */
  readonly lower: number;
  readonly upper: number;
  readonly nForInterval: number;
}

/** A quantile over units. */
export interface QuantileStatistic extends QuantileFields {
  readonly type: 'quantile';
}

/** A quantile over events, of which each unit has any number. */
export interface ClusteredQuantileStatistic extends QuantileFields {
  readonly type: 'clusteredQuantile';
  readonly numClusters: number;
  /** Sums over units of their events at or below the quantile, and of all their events. */
  readonly sumBelow: number;
  readonly sumOfSquaresBelow: number;
  readonly sumEvents: number;
  readonly sumOfSquaresEvents: number;
  readonly sumOfProducts: number;
}

/** What is known of one arm. All but quantiles can be added up over strata and arms. */
export type Statistic =
  | Component
  | RatioStatistic
  | RegressionAdjustedStatistic
  | RegressionAdjustedRatioStatistic
  | QuantileStatistic
  | ClusteredQuantileStatistic;
