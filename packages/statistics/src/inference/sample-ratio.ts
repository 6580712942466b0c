import { chiSquareSurvival } from '../numeric/chi-square.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Σ(O − E)²/E over the arms with a positive weight. */
function chiSquare(observed: readonly number[], weights: readonly number[]): number {
  const total = sum(observed);
  const share = total / sum(weights);
  let statistic = 0;
  for (const [arm, units] of observed.entries()) {
    const expected = (weights[arm] ?? 0) * share;
    if ((weights[arm] ?? 0) > 0) statistic += (units - expected) ** 2 / expected;
  }
  return statistic;
}

/**
 * Pearson's χ² test that units were split as intended (Pearson 1900; Fabijan et al. 2019). A small p-value says that something
 * loses units of one arm, and that nothing else of the experiment can be trusted.
 *
 * Arms with weight ≤ 0 do not count in the statistic, but in the degrees of freedom, arms − 1: the rule for one level of a
 * dimension. For the experiment as a whole see `sampleRatioHealth`.
 * @returns 1 without units, NaN with one arm
 */
export function sampleRatioMismatch(observed: readonly number[], weights: readonly number[]): number {
  if (sum(observed) === 0) return 1;
  return chiSquareSurvival(chiSquare(observed, weights), observed.length - 1);
}

/** Units for each variation below which a mismatch is not judged. */
const leastUnitsPerVariation = { standard: 8, bandit: 5 } as const;

export type Health = 'healthy' | 'unhealthy' | 'notEnoughTraffic';

/**
 * Whether the split of an experiment is healthy: arms without weight are left out altogether, and with less than 8 units per
 * variation (bandits: 5) it is not judged.
 * @param threshold p-values below are unhealthy, such as 0.001
 */
export function sampleRatioHealth(
  arms: readonly { readonly units: number | undefined; readonly weight: number | undefined }[],
  threshold: number,
  kind: 'standard' | 'bandit' = 'standard',
): { readonly pValue: number; readonly health: Health } {
  const kept = arms.flatMap(({ units, weight }) =>
    units === undefined || weight === undefined || weight <= 0 ? [] : [{ units, weight }],
  );
  const total = sum(kept.map(({ units }) => units));
  const pValue =
    kept.length < 2
      ? 1
      : sampleRatioMismatch(
          kept.map(({ units }) => units),
          kept.map(({ weight }) => weight),
        );
  if (total < leastUnitsPerVariation[kind] * arms.length) return { pValue, health: 'notEnoughTraffic' };
  return { pValue, health: pValue < threshold ? 'unhealthy' : 'healthy' };
}

/**
 * The same for an experiment whose weights changed: expected units are Σ over periods of the period's units times its weights,
 * with variations − 1 degrees of freedom.
 * @param periods units of each variation, and the weights they were assigned with
 */
export function sampleRatioMismatchOverPeriods(
  periods: readonly { readonly observed: readonly number[]; readonly weights: readonly number[] }[],
): number {
  const observed: number[] = [];
  const expected: number[] = [];
  for (const period of periods) {
    const total = sum(period.observed);
    const weights = sum(period.weights);
    for (const [arm, units] of period.observed.entries()) {
      observed[arm] = (observed[arm] ?? 0) + units;
      expected[arm] = (expected[arm] ?? 0) + (total * (period.weights[arm] ?? 0)) / weights;
    }
  }
  return sampleRatioMismatch(observed, expected);
}

/** Units below which several exposures are not judged. */
const leastUnitsForExposures = 10;

/**
 * Units that saw several variations, beside those that saw one. Such units are left out of the analysis, so that many of them
 * bias it.
 * @param leastShare from this share on it is unhealthy, such as 0.01
 */
export function multipleExposuresHealth(
  units: number,
  multipleExposures: number,
  leastShare: number,
): { readonly share: number; readonly health: Health } {
  const share = units > 0 ? multipleExposures / units : 0;
  if (units < leastUnitsForExposures) return { share, health: 'notEnoughTraffic' };
  return { share, health: share >= leastShare ? 'unhealthy' : 'healthy' };
}
