import { InvalidInput } from '../problem.ts';

/** How values of units are limited from above, so that a few of them do not drown the others. */
export type Capping =
  | { readonly kind: 'absolute'; readonly cap: number }
  /** `level` between 0 and 1; `ignoreZeros` for metrics that most units do not have. */
  | { readonly kind: 'percentile'; readonly level: number; readonly ignoreZeros: boolean };

/**
 * The cap for a metric: a given value, or a quantile of the values of **all** units of all variations together (one cap for all
 * arms: a cap for each arm would move the means apart). Quantiles are interpolated between order statistics (type 7 of Hyndman,
 * Fan 1996). Never for proportions, which have nothing to cap, nor for quantiles, which need none.
 * @param values one number for each unit, in the unit of the metric
 * @returns Infinity without values
 * @throws InvalidInput for a level outside [0, 1]
 */
export function capOf(values: readonly number[], capping: Capping): number {
  if (capping.kind === 'absolute') return capping.cap;
  const { level, ignoreZeros } = capping;
  if (!(level >= 0 && level <= 1))
    throw new InvalidInput(`A percentile to cap at lies between 0 and 1, not at ${level}.`);
  const sorted = (ignoreZeros ? values.filter((value) => value !== 0) : values).toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * level;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) return Infinity;
  return below + (above - below) * (place - Math.floor(place));
}

/** The values, none above the cap. */
export function capped(values: readonly number[], cap: number): number[] {
  return values.map((value) => Math.min(value, cap));
}
