/** Whether a variation has won or lost on one metric. */
import type { DifferenceType, Interval } from '../inference/settings.ts';
import { normalCdf, normalQuantile } from '../numeric/normal.ts';

/** One arm's figures as they are shown. */
export interface ArmFigures {
  /** Sum of the metric; of quantiles the number of observations. */
  readonly value: number;
  /** The mean. */
  readonly rate: number;
}

/** A comparison as far as its status needs it. */
export interface StatusInput {
  readonly baseline: ArmFigures;
  readonly variation: ArmFigures;
  /** The estimated effect. */
  readonly effect: number;
  /** Bayesian; null where there is none. */
  readonly chanceToWin: number | null;
  /** Frequentist: the adjusted one where p-values are corrected. */
  readonly pValue: number | null;
}

export interface StatusSettings {
  readonly engine: 'bayesian' | 'frequentist';
  readonly differenceType: DifferenceType;
  /** Below it a p-value is significant. */
  readonly alpha: number;
  /** Above it, or below 1 minus it, a chance to win is significant; such as 0.95. */
  readonly confidenceLevel: number;
  readonly inverse: boolean;
  /** The larger of both arms' values must reach this. */
  readonly minSampleSize: number;
  /** Relative changes below do not matter, from `maxPercentageChange` on they are suspicious. As fractions: 0.005, 0.5. */
  readonly minPercentageChange: number;
  readonly maxPercentageChange: number;
}

/** `draw`: significant, but too small to matter. `neutral`: not known yet. */
export type Status = 'won' | 'lost' | 'draw' | 'neutral';

export interface MetricStatus {
  readonly status: Status;
  /** The same with limits for stopping early: a chance of at least 0.999, or p below 0.001. */
  readonly superStatus: Status;
  readonly enoughData: boolean;
  readonly belowMinimum: boolean;
  /** An effect so large that it is probably a mistake. Its status stands. */
  readonly suspicious: boolean;
}

const superConfidence = 0.999;
const superAlpha = 0.001;

/** The status of one metric for one variation against the baseline. */
export function metricStatus(input: StatusInput, settings: StatusSettings): MetricStatus {
  const { baseline, variation } = input;
  const haveValues = baseline.value !== 0 && variation.value !== 0;
  const enoughData = haveValues && Math.max(baseline.value, variation.value) >= settings.minSampleSize;
  const change = Math.abs(relativeChange(input, settings.differenceType));
  const belowMinimum = change < settings.minPercentageChange;
  const statusAt = (confidenceLevel: number, alpha: number): Status => {
    const direction = significance(input, { ...settings, confidenceLevel, alpha });
    if (direction === undefined || !enoughData) return 'neutral';
    return belowMinimum ? 'draw' : direction;
  };
  return {
    status: statusAt(settings.confidenceLevel, settings.alpha),
    superStatus: statusAt(Math.max(superConfidence, settings.confidenceLevel), Math.min(superAlpha, settings.alpha)),
    enoughData,
    belowMinimum,
    suspicious: change >= settings.maxPercentageChange,
  };
}

function relativeChange({ effect, baseline, variation }: StatusInput, differenceType: DifferenceType): number {
  switch (differenceType) {
    case 'relative':
      return effect;
    case 'absolute':
      return effect / Math.abs(baseline.rate);
    case 'scaled':
      return (variation.rate - baseline.rate) / Math.abs(baseline.rate);
  }
}

/** Which way a comparison is significant, if it is. */
function significance(input: StatusInput, settings: StatusSettings): 'won' | 'lost' | undefined {
  const { chanceToWin, pValue, effect } = input;
  if (settings.engine === 'bayesian') {
    if (chanceToWin === null) return undefined;
    if (chanceToWin > settings.confidenceLevel) return 'won';
    return chanceToWin < 1 - settings.confidenceLevel ? 'lost' : undefined;
  }
  if (pValue === null || !(pValue < settings.alpha)) return undefined;
  return effect * (settings.inverse ? -1 : 1) > 0 ? 'won' : 'lost';
}

/** A guardrail is safe above this chance that the variation is not worse, by a flat prior. */
const safeChance = 0.95;

/** Whether a guardrail holds: lost as any metric, safe where harm is improbable, else not known yet. */
export function guardrailStatus(status: Status, flatPriorChance: number): 'lost' | 'safe' | 'neutral' {
  if (status === 'lost') return 'lost';
  return flatPriorChance > safeChance ? 'safe' : 'neutral';
}

/**
 * The chance to win with a flat prior that an interval at level alpha implies, from its half-width on the sides where it is
 * finite.
 */
export function flatPriorChanceToWin(estimate: number, interval: Interval, alpha: number, inverse: boolean): number {
  const [lower, upper] = interval;
  const isLowerFinite = Number.isFinite(lower);
  const isUpperFinite = Number.isFinite(upper);
  if (!isLowerFinite && !isUpperFinite) return 0;
  const isTwoSided = isLowerFinite && isUpperFinite;
  const halfWidth = isTwoSided ? (upper - lower) / 2 : isLowerFinite ? estimate - lower : upper - estimate;
  const sd = halfWidth / normalQuantile(1 - alpha / (isTwoSided ? 2 : 1));
  if (sd === 0) return (inverse ? -estimate : estimate) > 0 ? 1 : 0;
  return normalCdf((inverse ? -estimate : estimate) / sd);
}
