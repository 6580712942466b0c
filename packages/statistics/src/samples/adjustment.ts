/** One regression coefficient for both arms (CUPED). */
import { componentCovariance, componentVariance } from './component.ts';
import { joinComponents } from './pooling.ts';
import { covariateRatioMoments } from './ratio-adjustment.ts';
import type { RegressionAdjustedRatioStatistic, RegressionAdjustedStatistic, Statistic } from './statistic.ts';

type Adjustable = RegressionAdjustedStatistic | RegressionAdjustedRatioStatistic;

/** Two arms after adjustment. */
export interface AdjustedArms {
  readonly control: Statistic;
  readonly treatment: Statistic;
}

/** Below this the adjustment of a ratio changes nothing but the last digits. */
const leastRatioTheta = 1e-8;

/**
 * Gives both arms the θ that takes most variance away (`estimateTheta`). θ = 0 (a covariate or outcome without variance) makes
 * both arms plain statistics. Arms that both bring a θ keep theirs; other kinds come back as they are.
 */
export function adjust(control: Statistic, treatment: Statistic): AdjustedArms {
  if (control.type === 'regressionAdjusted' && treatment.type === 'regressionAdjusted') {
    if (control.theta !== null && treatment.theta !== null) return { control, treatment };
    const theta = meanTheta(control, treatment);
    return theta === 0 ? plain(control, treatment) : withTheta(control, treatment, theta);
  }
  if (control.type === 'regressionAdjustedRatio' && treatment.type === 'regressionAdjustedRatio') {
    if (control.theta !== null && treatment.theta !== null) return { control, treatment };
    const theta = ratioTheta(control, treatment);
    return Math.abs(theta) < leastRatioTheta ? plain(control, treatment) : withTheta(control, treatment, theta);
  }
  return { control, treatment };
}

/**
 * The coefficient both arms share: cov(y, x)/var(x) over both arms for means and proportions (Deng, Xu, Kohavi, Walker 2013), its
 * delta-method form for ratios. In units of the outcome per unit of the covariate.
 * @returns null for kinds without covariates, or arms of different kinds
 */
export function estimateTheta(control: Statistic, treatment: Statistic): number | null {
  if (control.type === 'regressionAdjusted' && treatment.type === 'regressionAdjusted') {
    return meanTheta(control, treatment);
  }
  return control.type === 'regressionAdjustedRatio' && treatment.type === 'regressionAdjustedRatio'
    ? ratioTheta(control, treatment)
    : null;
}

const withTheta = (control: Adjustable, treatment: Adjustable, theta: number): AdjustedArms => ({
  control: { ...control, theta },
  treatment: { ...treatment, theta },
});

const plain = (control: Statistic, treatment: Statistic): AdjustedArms => ({
  control: withoutCovariates(control),
  treatment: withoutCovariates(treatment),
});

function meanTheta(control: RegressionAdjustedStatistic, treatment: RegressionAdjustedStatistic): number {
  const outcome = joinComponents(control.outcome, treatment.outcome);
  const covariate = joinComponents(control.covariate, treatment.covariate);
  const n = control.n + treatment.n;
  const covariateVariance = componentVariance(covariate);
  if (covariateVariance === 0 || componentVariance(outcome) === 0) return 0;
  const sumOfProducts = control.sumOfProducts + treatment.sumOfProducts;
  return componentCovariance(n, outcome, covariate, sumOfProducts) / covariateVariance;
}

function ratioTheta(control: RegressionAdjustedRatioStatistic, treatment: RegressionAdjustedRatioStatistic): number {
  const a = covariateRatioMoments(control, 1);
  const b = covariateRatioMoments(treatment, 1);
  const before = a.variance + b.variance;
  return before === 0 ? 0 : -(a.covariance + b.covariance) / before;
}

/** The statistic as if nothing was known from before the experiment. */
export function withoutCovariates(statistic: Statistic): Statistic {
  if (statistic.type === 'regressionAdjusted') return statistic.outcome;
  if (statistic.type !== 'regressionAdjustedRatio') return statistic;
  const { n, numerator, denominator, sumsOfProducts } = statistic;
  return { type: 'ratio', n, numerator, denominator, sumOfProducts: sumsOfProducts.numeratorDenominator };
}
