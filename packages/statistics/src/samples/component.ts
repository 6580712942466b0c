/** Mean, variance and covariance of single quantities, from their sums. */
import type { Component } from './statistic.ts';

/** Σy/n; 0 without units. */
export function componentMean({ n, sum }: Component): number {
  return n === 0 ? 0 : sum / n;
}

/** Sample variance of a mean, (Σy² − (Σy)²/n)/(n − 1); p(1 − p) of a proportion. 0 with at most one unit. */
export function componentVariance(component: Component): number {
  const { n, sum } = component;
  if (component.type === 'proportion') {
    const p = componentMean(component);
    return p * (1 - p);
  }
  return n <= 1 ? 0 : (component.sumOfSquares - (sum * sum) / n) / (n - 1);
}

/**
 * Covariance of two components over the same `n` units, from the sum of their products; with divisor n where both are
 * proportions, as their variances have. 0 with at most one unit.
 */
export function componentCovariance(n: number, x: Component, y: Component, sumOfProducts: number): number {
  if (n <= 1) return 0;
  if (x.type === 'proportion' && y.type === 'proportion') return sumOfProducts / n - (x.sum * y.sum) / (n * n);
  return (sumOfProducts - (x.sum * y.sum) / n) / (n - 1);
}
