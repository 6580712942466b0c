/** What fixed-horizon and sequential tests share. */
import { type EffectMoments, noEffect } from '../effects/moments.ts';
import { momentsOf } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import type { Problem } from '../problem.ts';
import {
  type ComparisonResult,
  type ComparisonSettings,
  comparisonOf,
  type Interval,
  scaleOf,
  unscaledOf,
  uplift,
} from './settings.ts';

/** What the treatment is suspected of: to differ, to be greater, or to be less than the control. */
export type Alternative = 'twoSided' | 'greater' | 'less';

export interface FrequentistSettings extends ComparisonSettings {
  readonly alternative: Alternative;
  /** The effect under the null hypothesis, 0 as a rule; before scaling. */
  readonly nullValue: number;
}

export interface FrequentistResult extends ComparisonResult {
  readonly confidenceInterval: Interval;
  readonly pValue: number | null;
  readonly pValueError: Problem | null;
}

/** Estimate ± half-width; a one-sided interval is open on the side that the alternative points away from. */
function intervalAround(estimate: number, halfWidth: number, alternative: Alternative): Interval {
  if (alternative === 'less') return [-Infinity, estimate + halfWidth];
  return [estimate - halfWidth, alternative === 'greater' ? Infinity : estimate + halfWidth];
}

/** The outcome of a test beside the effect: half the width of the interval, and the p-value. */
export interface Judgement {
  readonly halfWidth: number;
  readonly pValue: number | null;
  readonly pValueError: Problem | null;
}

/** No effect and a p-value of 1: what stands beside an error. */
function neutralResult(moments: EffectMoments, error: Problem | null, pValueError: Problem | null): FrequentistResult {
  return {
    pointEstimate: 0,
    confidenceInterval: [0, 0],
    pValue: 1,
    uplift: uplift(0, 0),
    error,
    pValueError,
    unscaled: unscaledOf(moments),
  };
}

/** Effect, then scale, then the test; the first error ends it. Scaling leaves the p-value as it is. */
export function frequentistResult(
  strata: readonly Stratum[],
  settings: FrequentistSettings,
  judge: (moments: EffectMoments) => Judgement,
): FrequentistResult {
  const moments = momentsOf(strata, comparisonOf(settings.differenceType), settings);
  if (moments.error !== null) return neutralResult(noEffect(moments.error), moments.error, null);
  const { halfWidth, pValue, pValueError } = judge(moments);
  if (pValueError === 'alphaTooLarge') return neutralResult(moments, null, pValueError);
  const scale = scaleOf(strata, settings);
  if (typeof scale === 'string') return neutralResult(moments, scale, null);
  const { pointEstimate, standardError } = moments;
  const [lower, upper] = intervalAround(pointEstimate, halfWidth, settings.alternative);
  return {
    pointEstimate: pointEstimate * scale,
    confidenceInterval: [lower * scale, upper * scale],
    pValue,
    uplift: uplift(pointEstimate * scale, standardError * scale),
    error: null,
    pValueError,
    unscaled: unscaledOf(moments),
  };
}
