/** Sums of one metric for one variation in one level and stratum: rows added up, and the statistic that they make. */
import { InvalidInput } from '../problem.ts';
import type { Component, Statistic } from '../samples/statistic.ts';
import type { ComponentType, Metric, MetricSums, SingleFields, SummableFields } from './input.ts';

/** All sums, so that they can be added without asking which there are. */
type Sums = { -readonly [Name in keyof SummableFields]-?: number };

export interface Cell {
  units: number;
  count: number;
  readonly sums: Sums;
  readonly uncapped: Sums;
  single: SingleFields | undefined;
}

function noSums(): Sums {
  return {
    sum: 0,
    sumOfSquares: 0,
    denominatorSum: 0,
    denominatorSumOfSquares: 0,
    sumOfProductsWithDenominator: 0,
    covariateSum: 0,
    covariateSumOfSquares: 0,
    sumOfProductsWithCovariate: 0,
    denominatorCovariateSum: 0,
    denominatorCovariateSumOfSquares: 0,
    sumOfProductsWithDenominatorCovariate: 0,
    sumOfProductsCovariateWithDenominator: 0,
    sumOfProductsCovariateWithDenominatorCovariate: 0,
    sumOfProductsDenominatorWithDenominatorCovariate: 0,
  };
}

/** A cell before its first row. */
export function emptyCell(): Cell {
  return { units: 0, count: 0, sums: noSums(), uncapped: noSums(), single: undefined };
}

function addSums(to: Sums, from: SummableFields | undefined): void {
  if (from === undefined) return;
  to.sum += from.sum ?? 0;
  to.sumOfSquares += from.sumOfSquares ?? 0;
  to.denominatorSum += from.denominatorSum ?? 0;
  to.denominatorSumOfSquares += from.denominatorSumOfSquares ?? 0;
  to.sumOfProductsWithDenominator += from.sumOfProductsWithDenominator ?? 0;
  to.covariateSum += from.covariateSum ?? 0;
  to.covariateSumOfSquares += from.covariateSumOfSquares ?? 0;
  to.sumOfProductsWithCovariate += from.sumOfProductsWithCovariate ?? 0;
  to.denominatorCovariateSum += from.denominatorCovariateSum ?? 0;
  to.denominatorCovariateSumOfSquares += from.denominatorCovariateSumOfSquares ?? 0;
  to.sumOfProductsWithDenominatorCovariate += from.sumOfProductsWithDenominatorCovariate ?? 0;
  to.sumOfProductsCovariateWithDenominator += from.sumOfProductsCovariateWithDenominator ?? 0;
  to.sumOfProductsCovariateWithDenominatorCovariate += from.sumOfProductsCovariateWithDenominatorCovariate ?? 0;
  to.sumOfProductsDenominatorWithDenominatorCovariate += from.sumOfProductsDenominatorWithDenominatorCovariate ?? 0;
}

function hasSingleFields(sums: SingleFields): boolean {
  const { quantileN, quantileNForInterval, quantileEstimate, quantileLower, quantileUpper, theta } = sums;
  return [quantileN, quantileNForInterval, quantileEstimate, quantileLower, quantileUpper, theta].some(
    (value) => value !== undefined && value !== 0,
  );
}

/**
 * Adds a row to a cell.
 * @throws InvalidInput where both have a quantile or a θ, which cannot be added
 */
export function addToCell(cell: Cell, units: number, count: number, row: MetricSums, where: string): void {
  if (cell.single !== undefined && hasSingleFields(row)) {
    throw new InvalidInput(
      `${where} has several rows with a quantile or theta, which cannot be added up. Give one row for each variation and level.`,
    );
  }
  if (hasSingleFields(row)) cell.single = row;
  cell.units += units;
  cell.count += count;
  addSums(cell.sums, row);
  addSums(cell.uncapped, row.uncapped);
}

function componentOf(type: ComponentType | null, n: number, sum: number, sumOfSquares: number): Component {
  return type === 'proportion' ? { type, n, sum } : { type: 'mean', n, sum, sumOfSquares };
}

const nothing: Statistic = { type: 'mean', n: 0, sum: 0, sumOfSquares: 0 };

/** What a metric is made from. */
export interface CellOptions {
  readonly isUncapped: boolean;
  /** The covariates in place of the outcome; without covariates there is nothing. */
  readonly covariateAsResponse: boolean;
}

/** The statistic of a cell; means and components count `count`, ratios and adjusted statistics `units`. */
export function statisticOf(metric: Metric, cell: Cell, { isUncapped, covariateAsResponse }: CellOptions): Statistic {
  const sums = isUncapped ? cell.uncapped : cell.sums;
  if (covariateAsResponse) return covariateStatistic(metric, cell, sums);
  const { units: n, count, single } = cell;
  const outcome = componentOf(metric.numeratorType, count, sums.sum, sums.sumOfSquares);
  const denominator = (): Component =>
    componentOf(metric.denominatorType, count, sums.denominatorSum, sums.denominatorSumOfSquares);
  switch (metric.statistic) {
    case 'mean':
      return outcome;
    case 'ratio':
      return {
        type: 'ratio',
        n,
        numerator: outcome,
        denominator: denominator(),
        sumOfProducts: sums.sumOfProductsWithDenominator,
      };
    case 'regressionAdjustedMean':
      return {
        type: 'regressionAdjusted',
        n,
        outcome,
        covariate: componentOf(metric.covariateType, count, sums.covariateSum, sums.covariateSumOfSquares),
        sumOfProducts: sums.sumOfProductsWithCovariate,
        theta: metric.useSuppliedTheta ? (single?.theta ?? 0) : null,
      };
    case 'regressionAdjustedRatio':
      return {
        type: 'regressionAdjustedRatio',
        n,
        numerator: outcome,
        denominator: denominator(),
        ...ratioCovariates(metric, count, sums),
        sumsOfProducts: {
          numeratorNumeratorCovariate: sums.sumOfProductsWithCovariate,
          denominatorDenominatorCovariate: sums.sumOfProductsDenominatorWithDenominatorCovariate,
          numeratorCovariateDenominatorCovariate: sums.sumOfProductsCovariateWithDenominatorCovariate,
          numeratorDenominator: sums.sumOfProductsWithDenominator,
          numeratorDenominatorCovariate: sums.sumOfProductsWithDenominatorCovariate,
          denominatorNumeratorCovariate: sums.sumOfProductsCovariateWithDenominator,
        },
        theta: null,
      };
    case 'quantileOfUnits':
      return { type: 'quantile', ...quantileFields(metric, single) };
    case 'quantileOfEvents':
      return {
        type: 'clusteredQuantile',
        ...quantileFields(metric, single),
        numClusters: n,
        sumBelow: sums.sum,
        sumOfSquaresBelow: sums.sumOfSquares,
        sumEvents: sums.denominatorSum,
        sumOfSquaresEvents: sums.denominatorSumOfSquares,
        sumOfProducts: sums.sumOfProductsWithDenominator,
      };
  }
}

function ratioCovariates(
  { numeratorType, denominatorType }: Metric,
  count: number,
  sums: Sums,
): { numeratorCovariate: Component; denominatorCovariate: Component } {
  return {
    numeratorCovariate: componentOf(numeratorType, count, sums.covariateSum, sums.covariateSumOfSquares),
    denominatorCovariate: componentOf(
      denominatorType,
      count,
      sums.denominatorCovariateSum,
      sums.denominatorCovariateSumOfSquares,
    ),
  };
}

function covariateStatistic(metric: Metric, { units: n, count }: Cell, sums: Sums): Statistic {
  if (metric.statistic === 'regressionAdjustedMean') {
    return componentOf(metric.covariateType, count, sums.covariateSum, sums.covariateSumOfSquares);
  }
  if (metric.statistic !== 'regressionAdjustedRatio') return nothing;
  const { numeratorCovariate, denominatorCovariate } = ratioCovariates(metric, count, sums);
  return {
    type: 'ratio',
    n,
    numerator: numeratorCovariate,
    denominator: denominatorCovariate,
    sumOfProducts: sums.sumOfProductsCovariateWithDenominatorCovariate,
  };
}

function quantileFields(
  { quantileLevel }: Metric,
  single: SingleFields | undefined,
): { n: number; level: number; estimate: number; lower: number; upper: number; nForInterval: number } {
  return {
    n: single?.quantileN ?? 0,
    level: quantileLevel ?? Number.NaN,
    estimate: single?.quantileEstimate ?? 0,
    lower: single?.quantileLower ?? 0,
    upper: single?.quantileUpper ?? 0,
    nForInterval: single?.quantileNForInterval ?? 0,
  };
}
