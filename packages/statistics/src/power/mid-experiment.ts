/** The power of a running experiment, now and with more units. */
import type { EffectMoments } from '../effects/moments.ts';
import type { Prior } from '../inference/bayesian.ts';
import { sequentialHalfWidth, sequentialRho } from '../inference/sequential.ts';
import { normalCdf, normalQuantile } from '../numeric/normal.ts';
import type { Problem } from '../problem.ts';

export interface MidExperimentPowerSettings {
  readonly alpha: number;
  /** The power wanted for all goal metrics together, such as 0.8. */
  readonly targetPower: number;
  /** The relative effect that should be found; its absolute value counts. */
  readonly targetEffect: number;
  readonly numGoalMetrics: number;
  /** With the control. */
  readonly numVariations: number;
  /** Of the relative effect, for a Bayesian analysis; null for a frequentist one. */
  readonly prior: Prior | null;
  /** Whether p-values are corrected for the number of goal metrics and treatments. */
  readonly multiplicityCorrected: boolean;
  readonly sequential: boolean;
  readonly tuningParameter: number;
}

/** What is known so far. */
export type EffectSoFar = Pick<EffectMoments, 'standardError' | 'pairwiseSampleSize' | 'error'>;

/** How many more units a pair of arms needs. */
export interface AdditionalUnits {
  readonly status: 'successful' | 'unsuccessful';
  readonly error: Problem | null;
  /** Additional units as a multiple of those so far; null where it cannot be known. */
  readonly scalingFactor: number | null;
  /** Null where none are needed. */
  readonly additionalUnits: number | null;
  readonly upperBoundAchieved: boolean;
  /** As asked for, of all goal metrics together. */
  readonly targetPower: number;
}

/** Each goal metric needs more power than all of them together. */
export function targetPowerPerMetric({ targetPower, numGoalMetrics }: MidExperimentPowerSettings): number {
  return targetPower ** (1 / numGoalMetrics);
}

/**
 * The chance that a true effect of the target size is found, either way, with (1 + factor) times the units so far, in units of
 * the standard error expected then. With a proper prior: that the credible interval excludes 0.
 */
export function midExperimentPower(effect: EffectSoFar, settings: MidExperimentPowerSettings, factor: number): number {
  const { alpha, prior } = settings;
  const soFar = effect.error === null ? effect.standardError * effect.standardError : 0;
  const target = Math.abs(settings.targetEffect);
  const tests = settings.multiplicityCorrected ? (settings.numVariations - 1) * settings.numGoalMetrics : 1;
  const z = normalQuantile(1 - alpha / (2 * tests));
  const spread = soFar / (1 + factor);
  const sd = Math.sqrt(spread);
  if (prior?.proper) {
    if (spread === 0) return Number.NaN;
    const bound = spread * Math.sqrt(1 / prior.variance + 1 / spread) * z;
    const pull = (spread * prior.mean) / prior.variance;
    return normalCdf(-(bound - pull - target) / sd) + normalCdf(-(bound + pull + target) / sd);
  }
  if (spread === 0) return 1;
  const bound = settings.sequential ? sequentialBound(effect, settings, factor, alpha / tests) : z * sd;
  return normalCdf(-(bound - target) / sd) + normalCdf(-(bound + target) / sd);
}

function sequentialBound(
  { standardError, pairwiseSampleSize: n }: EffectSoFar,
  { tuningParameter }: MidExperimentPowerSettings,
  factor: number,
  alpha: number,
): number {
  const rho = sequentialRho(alpha, tuningParameter, 'twoSided');
  return sequentialHalfWidth(standardError * standardError * n, n * (1 + factor), rho, alpha, 'twoSided');
}

const mostDoublings = 27;
/** The largest multiple of the units so far that the search tries. */
export const mostScalingFactor: number = 2 ** mostDoublings;
const mostHalvings = 100;
const closeEnough = 1e-5;

/** A power of two with enough power; 0 where there is enough already, undefined where no number of units gives it. */
function enoughFactor(powerAt: (factor: number) => number, target: number): number | undefined {
  if (powerAt(0) > target) return 0;
  let factor = 1;
  for (let round = 0; round < mostDoublings && !(powerAt(factor) >= target); round++) factor *= 2;
  return powerAt(factor) >= target ? factor : undefined;
}

/**
 * The factor of additional units with the target power: doubled from 1 until there is enough power, then bisected until the
 * power is within 1e-5 of the target. All factors are dyadic, so that every implementation comes to the same number;
 * `exactScalingFactor` has the root itself.
 */
export function additionalUnits(effect: EffectSoFar, settings: MidExperimentPowerSettings): AdditionalUnits {
  const target = targetPowerPerMetric(settings);
  const result = { error: null, upperBoundAchieved: false, targetPower: settings.targetPower };
  if (effect.error !== null) {
    return { ...result, status: 'unsuccessful', error: effect.error, scalingFactor: null, additionalUnits: 0 };
  }
  const powerAt = (factor: number): number => midExperimentPower(effect, settings, factor);
  const enough = enoughFactor(powerAt, target);
  if (enough === 0) return { ...result, status: 'successful', scalingFactor: 0, additionalUnits: null };
  if (enough === undefined) {
    return {
      ...result,
      status: 'unsuccessful',
      error: 'scalingFactorUnbounded',
      scalingFactor: null,
      additionalUnits: null,
      upperBoundAchieved: true,
    };
  }
  let low = 0;
  let high = enough;
  let factor = enough;
  for (let round = 0; round < mostHalvings; round++) {
    const difference = powerAt(factor) - target;
    if (Math.abs(difference) < closeEnough) break;
    if (difference > 0) high = factor;
    else low = factor;
    factor = (low + high) / 2;
  }
  return {
    ...result,
    status: 'successful',
    scalingFactor: factor,
    additionalUnits: effect.pairwiseSampleSize * factor,
  };
}

/** As many times the units so far as no experiment goes on for. */
const mostFactor = 2 ** 26;

/**
 * The factor at which the power is the target, to the last digit; null after an error, and where more than 2²⁶ times the units so
 * far were needed.
 */
export function exactScalingFactor(effect: EffectSoFar, settings: MidExperimentPowerSettings): number | null {
  if (effect.error !== null) return null;
  const target = targetPowerPerMetric(settings);
  const powerAt = (factor: number): number => midExperimentPower(effect, settings, factor);
  if (powerAt(0) >= target) return 0;
  let high = enoughFactor(powerAt, target);
  if (high === undefined || high > mostFactor) return null;
  // A target of 1 is met wherever the power rounds to it: at the power of two that was found, too.
  if (powerAt(high) === target) return high;
  let low = high === 1 ? 0 : high / 2;
  for (let middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (powerAt(middle) >= target) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Days until the additional units are there, rounded up; 0 where none are needed, null where it cannot be known.
 * @param dailyUnits units a day of the pair of arms
 */
export function additionalDays(units: number | null, scalingFactor: number | null, dailyUnits: number): number | null {
  if (scalingFactor === null) return null;
  return scalingFactor === 0 || units === null ? 0 : Math.ceil(units / dailyUnits);
}
