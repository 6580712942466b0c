/**
 * Why there is no result, and what to do about it. A problem is no exception: it stands in the result, beside neutral numbers
 * (no effect, p-value 1, chance to win 0.5).
 */
export type Problem = keyof typeof advice;

const advice = {
  nonPositiveVariance:
    'An arm, or the effect, has no variance. Wait for more units, or look whether the metric has more than one value.',
  zeroBaseline: 'The mean of the control is exactly 0, so nothing can be compared with it. Wait for more units.',
  mixedAdjustment: 'Only one of the two arms has covariates. Give both arms the sums of the covariate, or neither.',
  scaledUnsupportedForStatistic:
    'A scaled difference is defined for means and proportions only. Ask for a relative or absolute one.',
  noUnits: 'A scaled difference needs the number of units in the experiment. Give `totalUnits`.',
  zeroTrafficOrDuration:
    'A scaled difference needs traffic and time. Give a `trafficFraction` and `durationDays` above 0.',
  alphaTooLarge: 'A one-sided sequential test needs an alpha below 0.5.',
  pValueNotConverged: 'The effect or its standard error is not a finite number. Look for missing sums.',
  singularDesign: 'The covariates of a stratum determine each other. Leave one out, or merge the stratum.',
  scalingFactorUnbounded: 'The target power is out of reach. Plan for a larger effect, or a lower power.',
  tooFewUnits: 'Weights stay as they are until every variation has 100 units.',
  noRows: 'There is no row of the decision metric.',
} as const;

/** What a person can do about a problem, as a sentence or two. */
export function adviceFor(problem: Problem): string {
  return advice[problem];
}

/** The caller's mistake, such as a second row with a quantile for the same variation. The message says how to mend it. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
}
