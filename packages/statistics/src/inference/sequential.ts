/**
 * Tests that may be looked at after every unit: asymptotic confidence sequences with a normal mixture (Robbins 1970; Waudby-Smith,
 * Arbour, Sinha, Kennedy, Ramdas, arXiv:2103.06476v7, equations 9, 134, 155, 161). The price is a wider interval, least so at
 * about `tuningParameter` units.
 *
 * With n units in both arms, s² = n·SE² and g = nρ² + 1.
 */
import { type EffectMoments, effectMoments } from '../effects/moments.ts';
import { poolStrata } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import {
  type Alternative,
  type FrequentistResult,
  type FrequentistSettings,
  frequentistResult,
  type Judgement,
} from './frequentist.ts';
import { comparisonOf } from './settings.ts';

export interface SequentialSettings extends FrequentistSettings {
  /** The number of units, both arms together, at which the interval is tightest. */
  readonly tuningParameter: number;
  /** Overrides what follows from `tuningParameter`; null as a rule. */
  readonly rho: number | null;
}

export interface SequentialResult extends FrequentistResult {
  readonly rho: number;
  /** Half the width of the interval before scaling; null where there is none. */
  readonly halfWidth: number | null;
}

/** ρ = √((−2 ln a + ln(1 − 2 ln a))/tuningParameter) with a = α, or 2α one-sided: what makes the interval tightest there. */
export function sequentialRho(alpha: number, tuningParameter: number, alternative: Alternative): number {
  const level = -2 * Math.log(alternative === 'twoSided' ? alpha : 2 * alpha);
  return Math.sqrt((level + Math.log(level + 1)) / tuningParameter);
}

/**
 * Two-sided s√(2g ln(√g/α))/(nρ), one-sided s√(2g ln(1 + √g/(2α)))/(nρ).
 * @param unitVariance s²: n times the squared standard error
 */
export function sequentialHalfWidth(
  unitVariance: number,
  n: number,
  rho: number,
  alpha: number,
  alternative: Alternative,
): number {
  const g = n * rho * rho + 1;
  const level = alternative === 'twoSided' ? Math.log(Math.sqrt(g) / alpha) : Math.log1p(Math.sqrt(g) / (2 * alpha));
  return (Math.sqrt(unitVariance) * Math.sqrt(2 * g * level)) / (n * rho);
}

/** min(1, √g·exp(−ρ²nz²/(2g))): the inverse of the two-sided sequence. */
export function sequentialPValue(z: number, n: number, rho: number): number {
  const g = n * rho * rho + 1;
  return Math.min(1, Math.exp(0.5 * Math.log(g) - (rho * rho * n * z * z) / (2 * g)));
}

/** The range of one-sided sequential p-values: below 1/2 there is no bound, and ρ belongs to the alpha asked for. */
const leastPValue = 1e-5;
const greatestPValue = 0.4999;

/**
 * √g/(2(exp(z²nρ²/(2g)) − 1)): the α at which the one-sided bound is 0, with ρ held, clipped to [1e-5, 0.4999].
 * @param z estimate/SE, positive where it points as the alternative does
 */
export function oneSidedSequentialPValue(z: number, n: number, rho: number): number {
  if (z <= 0) return greatestPValue;
  const g = n * rho * rho + 1;
  const root = Math.sqrt(g) / (2 * Math.expm1((z * z * n * rho * rho) / (2 * g)));
  return Math.min(greatestPValue, Math.max(leastPValue, root));
}

/**
 * A test that holds however often it is looked at and whenever it is stopped. One-sided p-values are those of the unstratified
 * effect against 0, also where the interval is post-stratified.
 */
export function sequentialTest(strata: readonly Stratum[], settings: SequentialSettings): SequentialResult {
  const { alternative, alpha, tuningParameter } = settings;
  const rho = settings.rho ?? sequentialRho(alpha, tuningParameter, alternative);
  let halfWidth: number | null = null;
  const result = frequentistResult(strata, settings, (moments): Judgement => {
    const { standardError, pairwiseSampleSize: n } = moments;
    const width = sequentialHalfWidth(standardError * standardError * n, n, rho, alpha, alternative);
    halfWidth = width;
    if (alternative !== 'twoSided' && alpha >= 0.5) return { halfWidth: 0, pValue: 1, pValueError: 'alphaTooLarge' };
    return { halfWidth: width, ...pValueOf(strata, moments, settings, rho) };
  });
  return { ...result, rho, halfWidth };
}

function pValueOf(
  strata: readonly Stratum[],
  moments: EffectMoments,
  settings: SequentialSettings,
  rho: number,
): Pick<Judgement, 'pValue' | 'pValueError'> {
  if (settings.alternative === 'twoSided') {
    const z = (moments.pointEstimate - settings.nullValue) / moments.standardError;
    return { pValue: sequentialPValue(z, moments.pairwiseSampleSize, rho), pValueError: null };
  }
  const { control, treatment } = poolStrata(strata);
  const plain = effectMoments(control, treatment, comparisonOf(settings.differenceType));
  const z = plain.pointEstimate / plain.standardError;
  if (!Number.isFinite(plain.pointEstimate) || !Number.isFinite(plain.standardError)) {
    return { pValue: null, pValueError: 'pValueNotConverged' };
  }
  const towards = settings.alternative === 'greater' ? z : -z;
  return { pValue: oneSidedSequentialPValue(towards, plain.pairwiseSampleSize, rho), pValueError: null };
}
