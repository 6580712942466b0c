/**
 * The variance of a sample quantile, from order statistics that bound it. A warehouse computes them for a sample size from a
 * grid (`nForInterval`), so that the width is scaled from there to n. Deng, Knoblich, Lu (2018), section 4.
 */
import { normalQuantile } from '../numeric/normal.ts';
import type { ClusteredQuantileStatistic, QuantileStatistic } from './statistic.ts';

/** Φ⁻¹(0.975): the bounds are those of a 95 % interval, whatever the level of the test. */
const z = normalQuantile(0.975);

/** From so many observations on the variance is at least this, as rounded values can make the bounds meet. */
const floorFrom = 100;
const floor = 1e-5;

/**
 * (n*\/n)(n − 1)((upper − lower)/2z)²; for events of units, times the variance of the share of events below the quantile over
 * what it would be if events were independent, ν(1 − ν)/n.
 */
export function quantileVarianceBeforeFloor(statistic: QuantileStatistic | ClusteredQuantileStatistic): number {
  const { n, level, lower, upper, nForInterval } = statistic;
  if (n <= 1) return 0;
  const halfWidth = (upper - lower) / (2 * z);
  const independent = (nForInterval / n) * (n - 1) * halfWidth * halfWidth;
  if (statistic.type === 'quantile') return independent;
  if (level === 0 || statistic.numClusters <= 1 || statistic.sumEvents <= 0) return 0;
  return (independent * clusterVariance(statistic)) / ((level * (1 - level)) / n);
}

/**
 * Variance of the share of events at or below the quantile, Σbelow/Σevents, where units are independent and the events of one
 * are not: the delta method over units.
 */
export function clusterVariance(statistic: ClusteredQuantileStatistic): number {
  const { numClusters: k, sumBelow, sumOfSquaresBelow, sumEvents, sumOfSquaresEvents, sumOfProducts } = statistic;
  const below = sumBelow / k;
  const events = sumEvents / k;
  const correction = k / (k - 1);
  const varianceBelow = (sumOfSquaresBelow / k - below * below) * correction;
  const varianceEvents = (sumOfSquaresEvents / k - events * events) * correction;
  const covariance = (sumOfProducts / k - below * events) * correction;
  const share = below / events;
  return (varianceBelow - 2 * share * covariance + share * share * varianceEvents) / (k * events * events);
}

/** The variance of a quantile times n: at least 1e-5 from 100 observations on. */
export function quantileVariance(statistic: QuantileStatistic | ClusteredQuantileStatistic): number {
  const before = quantileVarianceBeforeFloor(statistic);
  return statistic.n >= floorFrom && before < floor ? floor : before;
}

/** Whether the sample is too small for a 95 % interval of this quantile, or its bounds meet. The floor does not help. */
export function isQuantileUncertain(statistic: QuantileStatistic | ClusteredQuantileStatistic): boolean {
  const { n, level } = statistic;
  return (
    n <= (z * z * level) / (1 - level) ||
    n <= (z * z * (1 - level)) / level ||
    quantileVarianceBeforeFloor(statistic) <= 0
  );
}
