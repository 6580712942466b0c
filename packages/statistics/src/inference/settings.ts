import type { EffectMoments } from '../effects/moments.ts';
import { poolStrata } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import type { Problem } from '../problem.ts';
import { adjust } from '../samples/adjustment.ts';

/** `scaled`: the absolute difference times units per day at full traffic: what shipping would change each day. */
export type DifferenceType = 'relative' | 'absolute' | 'scaled';

/** What every comparison is told. */
export interface ComparisonSettings {
  readonly differenceType: DifferenceType;
  /** 1 − coverage of the interval, and the level of the test. */
  readonly alpha: number;
  /** Whether several strata are weighted by their sizes instead of added up. */
  readonly postStratify: boolean;
  /** For `scaled`: units in the experiment, all variations together. */
  readonly totalUnits: number | null;
  /** For `scaled`: the share of all traffic that the experiment has. */
  readonly trafficFraction: number;
  /** For `scaled`. */
  readonly durationDays: number;
}

/** The normal distribution of the effect, to be drawn. */
export interface Uplift {
  readonly distribution: 'normal';
  readonly mean: number;
  readonly standardDeviation: number;
}

/** The effect before it is scaled. */
export type Unscaled = Pick<EffectMoments, 'pointEstimate' | 'standardError' | 'postStratificationApplied'>;

export type Interval = readonly [lower: number, upper: number];

/** What a result says whatever the test: neutral numbers beside an error. */
export interface ComparisonResult {
  readonly pointEstimate: number;
  readonly uplift: Uplift;
  readonly error: Problem | null;
  readonly unscaled: Unscaled;
}

/** A normal distribution of the effect. */
export const uplift = (mean: number, standardDeviation: number): Uplift => ({
  distribution: 'normal',
  mean,
  standardDeviation,
});

/** What of the moments a result repeats. */
export function unscaledOf({ pointEstimate, standardError, postStratificationApplied }: EffectMoments): Unscaled {
  return { pointEstimate, standardError, postStratificationApplied };
}

/** The kind of effect that is computed before scaling. */
export const comparisonOf = (differenceType: DifferenceType): 'relative' | 'absolute' =>
  differenceType === 'relative' ? 'relative' : 'absolute';

const scalable = new Set(['mean', 'proportion', 'regressionAdjusted']);

/** The factor for a scaled difference, 1 for others, or why there is none. */
export function scaleOf(strata: readonly Stratum[], settings: ComparisonSettings): number | Problem {
  if (settings.differenceType !== 'scaled') return 1;
  const { totalUnits, trafficFraction, durationDays } = settings;
  if (trafficFraction === 0 || durationDays === 0) return 'zeroTrafficOrDuration';
  const { control, treatment } = poolStrata(strata);
  const arms = adjust(control, treatment);
  if (!scalable.has(arms.control.type) || !scalable.has(arms.treatment.type)) return 'scaledUnsupportedForStatistic';
  if (totalUnits === null || totalUnits === 0) return 'noUnits';
  return totalUnits / (trafficFraction * durationDays);
}
