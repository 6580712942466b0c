/** The effect of a treatment against the control, and how well it is known. */
import { quadraticForm } from '../numeric/matrix.ts';
import type { Problem } from '../problem.ts';
import { adjust } from '../samples/adjustment.ts';
import { componentCovariance, componentMean, componentVariance } from '../samples/component.ts';
import { hasNonPositiveVariance, mean, unadjustedMean, variance } from '../samples/moments.ts';
import { adjustedRatioCovarianceMatrix, adjustedRatioGradient } from '../samples/ratio-adjustment.ts';
import type { RegressionAdjustedRatioStatistic, RegressionAdjustedStatistic, Statistic } from '../samples/statistic.ts';

/** `relative`: (treatment − control)/|control|, without unit. `absolute`: treatment − control, in the metric's unit. */
export type Comparison = 'relative' | 'absolute';

/** Point estimate and standard error of an effect; all 0 beside an error. */
export interface EffectMoments {
  readonly pointEstimate: number;
  readonly standardError: number;
  /** Units of both arms together. */
  readonly pairwiseSampleSize: number;
  readonly error: Problem | null;
  readonly postStratificationApplied: boolean;
}

/** The neutral moments that stand beside an error. */
export const noEffect = (error: Problem, postStratificationApplied = false): EffectMoments => ({
  pointEstimate: 0,
  standardError: 0,
  pairwiseSampleSize: 0,
  error,
  postStratificationApplied,
});

/**
 * The effect from two samples, adjusted by their covariates first.
 *
 * Absolute: ȳ_b − ȳ_a with variance s²_a/n_a + s²_b/n_b. Relative: divided by the absolute value of the unadjusted control mean,
 * so that the sign is that of the absolute effect; the variance by the delta method (Deng, Knoblich, Lu 2018).
 * @returns an error where an arm or the effect has no variance, the control's mean is 0 or only one arm has covariates
 */
export function effectMoments(control: Statistic, treatment: Statistic, comparison: Comparison): EffectMoments {
  const arms = adjust(control, treatment);
  const spread = varianceOfEffect(arms.control, arms.treatment, comparison);
  if (hasNonPositiveVariance(arms.control) || hasNonPositiveVariance(arms.treatment) || spread <= 0) {
    return noEffect('nonPositiveVariance');
  }
  if (mean(arms.control) === 0 || unadjustedMean(arms.control) === 0) return noEffect('zeroBaseline');
  if ((arms.control.type === 'regressionAdjusted') !== (arms.treatment.type === 'regressionAdjusted')) {
    return noEffect('mixedAdjustment');
  }
  const difference = mean(arms.treatment) - mean(arms.control);
  return {
    pointEstimate: comparison === 'absolute' ? difference : difference / Math.abs(unadjustedMean(arms.control)),
    standardError: Math.sqrt(spread),
    pairwiseSampleSize: arms.control.n + arms.treatment.n,
    error: null,
    postStratificationApplied: false,
  };
}

/** The squared standard error of the effect of two arms that are adjusted already; a relative one is 0 without a baseline or units. */
export function varianceOfEffect(control: Statistic, treatment: Statistic, comparison: Comparison): number {
  if (comparison === 'absolute') return variance(control) / control.n + variance(treatment) / treatment.n;
  if (control.type === 'regressionAdjusted' && treatment.type === 'regressionAdjusted') {
    return relativeVarianceOfAdjusted(control, treatment);
  }
  if (control.type === 'regressionAdjustedRatio' && treatment.type === 'regressionAdjustedRatio') {
    return relativeVarianceOfAdjustedRatios(control, treatment);
  }
  const baseline = unadjustedMean(control);
  if (baseline === 0 || control.n === 0 || treatment.n === 0) return 0;
  const square = baseline * baseline;
  const other = unadjustedMean(treatment);
  return (
    variance(treatment) / (treatment.n * square) + (variance(control) * other * other) / (control.n * square * square)
  );
}

/** The control's mean stands in numerator and denominator: its outcome counts with ȳ_b/ȳ_a, its covariate with 1. */
function relativeVarianceOfAdjusted(
  control: RegressionAdjustedStatistic,
  treatment: RegressionAdjustedStatistic,
): number {
  const baseline = componentMean(control.outcome);
  if (baseline === 0 || control.n === 0 || treatment.n === 0) return 0;
  const square = baseline * baseline;
  const change = componentMean(treatment.outcome) / baseline;
  const theta = control.theta ?? 0;
  const covariance = componentCovariance(control.n, control.outcome, control.covariate, control.sumOfProducts);
  const ofControl =
    componentVariance(control.outcome) * change * change -
    2 * theta * covariance * change +
    theta * theta * componentVariance(control.covariate);
  return variance(treatment) / (treatment.n * square) + ofControl / (control.n * square);
}

function relativeVarianceOfAdjustedRatios(
  control: RegressionAdjustedRatioStatistic,
  treatment: RegressionAdjustedRatioStatistic,
): number {
  const ratio = unadjustedMean(control);
  const denominator = componentMean(control.denominator);
  if (ratio === 0 || denominator === 0) return 0;
  const size = Math.abs(ratio);
  const difference = mean(treatment) - mean(control);
  const lever = (size + difference * Math.sign(ratio)) / (ratio * ratio);
  const ofControl = adjustedRatioGradient(control, control.theta ?? 0);
  const ofTreatment = adjustedRatioGradient(treatment, treatment.theta ?? 0);
  const controlGradient = [
    -lever / denominator,
    (lever * componentMean(control.numerator)) / (denominator * denominator),
    ...ofControl.covariate.map((part) => -part / size),
  ];
  const treatmentGradient = [...ofTreatment.outcome, ...ofTreatment.covariate].map((part) => part / size);
  return (
    quadraticForm(controlGradient, adjustedRatioCovarianceMatrix(control), controlGradient) / control.n +
    quadraticForm(treatmentGradient, adjustedRatioCovarianceMatrix(treatment), treatmentGradient) / treatment.n
  );
}
