/** Tests whose result is looked at once, when the planned number of units is there. */
import { poolStrata } from '../effects/post-stratification.ts';
import type { Stratum } from '../effects/stratum.ts';
import { studentQuantile, studentUpperTail } from '../numeric/student.ts';
import { adjust } from '../samples/adjustment.ts';
import { variance } from '../samples/moments.ts';
import type { Statistic } from '../samples/statistic.ts';
import { type FrequentistResult, type FrequentistSettings, frequentistResult } from './frequentist.ts';

export interface FixedHorizonResult extends FrequentistResult {
  /** Null beside an error. */
  readonly degreesOfFreedom: number | null;
  readonly tStatistic: number | null;
}

/**
 * Welch–Satterthwaite: (u + v)²/(u²/(n_a − 1) + v²/(n_b − 1)), u = s²_a/n_a, v = s²_b/n_b. Of the arms' means, also where the effect
 * is relative or post-stratified.
 */
export function welchDegreesOfFreedom(control: Statistic, treatment: Statistic): number {
  const u = variance(control) / control.n;
  const v = variance(treatment) / treatment.n;
  return (u + v) ** 2 / ((u * u) / (control.n - 1) + (v * v) / (treatment.n - 1));
}

/**
 * Welch's t-test of two arms, given as one or several strata (Welch 1947; Satterthwaite 1946).
 *
 * t = (estimate − nullValue)/standard error against Student's t. The interval covers the true effect in 1 − alpha of all
 * experiments that are looked at once; looking again and again until it excludes 0 does not keep that promise (see
 * `sequentialTest`). Assumes independent units and samples large enough for means to be normal.
 */
export function fixedHorizonTest(strata: readonly Stratum[], settings: FrequentistSettings): FixedHorizonResult {
  const { alternative, alpha, nullValue } = settings;
  let degreesOfFreedom: number | null = null;
  let tStatistic: number | null = null;
  const result = frequentistResult(strata, settings, ({ pointEstimate, standardError }) => {
    const pooled = poolStrata(strata);
    const { control, treatment } = adjust(pooled.control, pooled.treatment);
    const df = welchDegreesOfFreedom(control, treatment);
    const t = (pointEstimate - nullValue) / standardError;
    degreesOfFreedom = df;
    tStatistic = t;
    return {
      halfWidth: studentQuantile(1 - (alternative === 'twoSided' ? alpha / 2 : alpha), df) * standardError,
      pValue: pValueOf(t, df, alternative),
      pValueError: null,
    };
  });
  return { ...result, degreesOfFreedom, tStatistic };
}

function pValueOf(t: number, df: number, alternative: FrequentistSettings['alternative']): number {
  if (alternative === 'twoSided') return 2 * studentUpperTail(Math.abs(t), df);
  return studentUpperTail(alternative === 'greater' ? t : -t, df);
}
