/**
 * The statistics of experiments: from sums over units to effects, intervals, p-values, chances to win, weights and decisions. Pure:
 * no input or output, no state, no dependencies.
 */

export {
  type AnalysisResult,
  analyseExperiment,
  analyseMetric,
  type BanditResult,
  type ExperimentResult,
  type LevelResult,
  type MetricResult,
  type Supplementary,
  type VariationResult,
} from './analysis/analyse.ts';
export type * from './analysis/input.ts';
export type * from './analysis/variations.ts';

export { bestArmProbabilities, bestTwoProbabilities, type Normal } from './bandits/best-arm.ts';
export type { ArmSums } from './bandits/best-split.ts';
export * from './bandits/contextual-tree.ts';
export * from './bandits/weights.ts';

export * from './decisions/covariate-imbalance.ts';
export * from './decisions/criteria.ts';
export * from './decisions/metric-status.ts';
export * from './decisions/time-to-decision.ts';

export { type Comparison, type EffectMoments, effectMoments, varianceOfEffect } from './effects/moments.ts';
export { momentsOf, poolStrata, postStratifiedMoments, viableStrata } from './effects/post-stratification.ts';
export { estimateStratum, type Stratum, type StratumEstimate } from './effects/stratum.ts';

export * from './inference/bayesian.ts';
export { type FixedHorizonResult, fixedHorizonTest, welchDegreesOfFreedom } from './inference/fixed-horizon.ts';
export type { Alternative, FrequentistResult, FrequentistSettings } from './inference/frequentist.ts';
export * from './inference/multiple-comparisons.ts';
export * from './inference/sample-ratio.ts';
export * from './inference/sequential.ts';
export type * from './inference/settings.ts';

export { chiSquareSurvival } from './numeric/chi-square.ts';
export { normalCdf, normalQuantile } from './numeric/normal.ts';
export { studentCdf, studentQuantile, studentUpperTail } from './numeric/student.ts';

export * from './power/mid-experiment.ts';
export * from './power/planning.ts';

export { adviceFor, InvalidInput, type Problem } from './problem.ts';

export { type AdjustedArms, adjust, estimateTheta, withoutCovariates } from './samples/adjustment.ts';
export { type Capping, capOf, capped } from './samples/capping.ts';
export { componentCovariance, componentMean, componentVariance } from './samples/component.ts';
export * from './samples/moments.ts';
export { addStatistics, pool } from './samples/pooling.ts';
export { clusterVariance, quantileVarianceBeforeFloor } from './samples/quantile-variance.ts';
export {
  adjustedRatioCovarianceMatrix,
  adjustedRatioGradient,
  covariateRatioMean,
  covariateRatioMoments,
} from './samples/ratio-adjustment.ts';
export type * from './samples/statistic.ts';
