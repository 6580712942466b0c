/** How each group's cases are computed: the shape of `expected` from the package's functions. */
import {
  additionalDays,
  additionalUnits,
  adjust,
  adjustedRatioCovarianceMatrix,
  adjustedRatioGradient,
  analyseExperiment,
  type BanditSettings,
  type BayesianSettings,
  banditWeights,
  bayesianTest,
  benjaminiHochberg,
  bestTwoProbabilities,
  type Comparison,
  type ContextualTreeInput,
  chanceToWin,
  chiSquareSurvival,
  clusterVariance,
  componentCovariance,
  componentMean,
  componentVariance,
  contextualTree,
  covariateRatioMean,
  covariateRatioMoments,
  type EffectMoments,
  type EffectSoFar,
  type ExperimentInput,
  effectMoments,
  estimateStratum,
  estimateTheta,
  exactScalingFactor,
  type FrequentistSettings,
  fixedHorizonTest,
  gaussianInterval,
  gaussianRisk,
  hasNonPositiveVariance,
  holm,
  InvalidInput,
  leafWeights,
  type MidExperimentPowerSettings,
  mean,
  midExperimentPower,
  momentsOf,
  normalCdf,
  normalQuantile,
  pool,
  postStratifiedMoments,
  quantileVarianceBeforeFloor,
  type RatioMoments,
  ratioMoments,
  type SequentialSettings,
  type Statistic,
  type Stratum,
  sampleRatioMismatch,
  sequentialHalfWidth,
  sequentialRho,
  sequentialTest,
  standardDeviation,
  studentCdf,
  studentQuantile,
  targetPowerPerMetric,
  truncatedNormalMean,
  unadjustedMean,
  variance,
  varianceOfEffect,
  varianceOfRatio,
  viableStrata,
  weightsWithFloor,
} from '../../src/index.ts';

interface Arms {
  readonly control: Statistic;
  readonly treatment: Statistic;
}

interface StrataInput {
  readonly strata?: readonly Stratum[];
  readonly control?: Statistic;
  readonly treatment?: Statistic;
}

function strataOf({ strata, control, treatment }: StrataInput): readonly Stratum[] {
  if (strata !== undefined) return strata;
  return control === undefined || treatment === undefined ? [] : [{ control, treatment }];
}

function summary(statistic: Statistic): Record<string, unknown> {
  return {
    type: statistic.type,
    mean: mean(statistic),
    unadjustedMean: unadjustedMean(statistic),
    variance: variance(statistic),
    standardDeviation: standardDeviation(statistic),
    hasNonPositiveVariance: hasNonPositiveVariance(statistic),
  };
}

function components(statistic: Statistic): Record<string, unknown> {
  switch (statistic.type) {
    case 'ratio':
      return { ...ratioMoments(statistic) };
    case 'regressionAdjusted': {
      const { n, outcome, covariate, sumOfProducts, theta } = statistic;
      return {
        outcomeVariance: componentVariance(outcome),
        covariateMean: componentMean(covariate),
        covariateVariance: componentVariance(covariate),
        covariance: componentCovariance(n, outcome, covariate, sumOfProducts),
        theta,
      };
    }
    case 'regressionAdjustedRatio': {
      const theta = statistic.theta ?? 0;
      const before = covariateRatioMoments(statistic, theta);
      const { outcome, covariate } = adjustedRatioGradient(statistic, theta);
      return {
        covariateRatioMean: covariateRatioMean(statistic),
        covarianceMatrix: adjustedRatioCovarianceMatrix(statistic),
        gradient: [...outcome, ...covariate],
        covariateRatioVariance: before.variance,
        ratioCovariance: before.covariance,
        theta: statistic.theta,
      };
    }
    case 'quantile':
      return { varianceBeforeFloor: quantileVarianceBeforeFloor(statistic) };
    case 'clusteredQuantile':
      return {
        varianceBeforeFloor: quantileVarianceBeforeFloor(statistic),
        clusterVariance: clusterVariance(statistic),
      };
    default:
      return {};
  }
}

function sampleStatistics(input: { statistic: Statistic } | { pool: Statistic[] }): unknown {
  const statistic = 'pool' in input ? pool(input.pool) : input.statistic;
  return { ...summary(statistic), ...components(statistic) };
}

function regressionAdjustment({ control, treatment }: Arms): unknown {
  const arms = adjust(control, treatment);
  return {
    theta: estimateTheta(control, treatment),
    control: summary(arms.control),
    treatment: summary(arms.treatment),
  };
}

function effects({ control, treatment, differenceType }: Arms & { differenceType: Comparison }): unknown {
  const arms = adjust(control, treatment);
  return {
    ...effectMoments(control, treatment, differenceType),
    varianceOfEffect: varianceOfEffect(arms.control, arms.treatment, differenceType),
  };
}

function postStratification({
  strata,
  differenceType,
}: {
  strata: readonly Stratum[];
  differenceType: Comparison;
}): unknown {
  return {
    stratified: postStratifiedMoments(strata, differenceType),
    withFallback: momentsOf(strata, differenceType, { postStratify: true }),
    cells: cells(viableStrata(strata)),
  };
}

function cells(strata: readonly Stratum[]): unknown {
  const [only] = strata;
  if (strata.length === 1 && only !== undefined) {
    return [{ n: only.control.n + only.treatment.n, controlN: only.control.n }];
  }
  return strata.map((stratum) => {
    const { n, estimate, covariance, error } = estimateStratum(stratum);
    const [first, second, third, fourth] = estimate;
    const means =
      estimate.length === 2
        ? { controlMean: first, effect: second }
        : {
            numeratorControlMean: first,
            numeratorEffect: second,
            denominatorControlMean: third,
            denominatorEffect: fourth,
          };
    return { n, controlN: stratum.control.n, ...means, covarianceMatrix: covariance, error };
  });
}

function fixedHorizon(input: StrataInput & { test: FrequentistSettings }): unknown {
  return fixedHorizonTest(strataOf(input), input.test);
}

function sequential(input: StrataInput & { test: SequentialSettings }): unknown {
  const result = sequentialTest(strataOf(input), input.test);
  const isTested = result.error === null && result.pValueError === null;
  return { ...result, pValueExact: isTested ? result.pValue : null };
}

function bayesian(input: StrataInput & { test: BayesianSettings }): unknown {
  return bayesianTest(strataOf(input), input.test);
}

interface DistributionArguments {
  readonly mean: number;
  readonly standardDeviation: number;
  readonly lower: number;
  readonly upper: number;
  readonly alpha: number;
  readonly inverse: boolean;
  readonly tuningParameter: number;
  readonly twoSided: boolean;
  readonly variance: number;
  readonly n: number;
  readonly rho: number | null;
  readonly x: number;
  readonly p: number;
  readonly df: number;
}

/** The functions by their names in the files; what a case wants is `value`, or `cdf` and `quantile`. */
const distributionFunctions: Readonly<
  Record<string, (given: DistributionArguments & RatioMoments) => Record<string, unknown>>
> = {
  truncatedNormalMean: ({ mean, standardDeviation, lower, upper }) => ({
    value: truncatedNormalMean(mean, standardDeviation, lower, upper),
  }),
  gaussianRisk: ({ mean, standardDeviation }) => ({ value: gaussianRisk(mean, standardDeviation) }),
  gaussianInterval: ({ mean, standardDeviation, alpha }) => ({
    value: gaussianInterval(mean, standardDeviation, alpha),
  }),
  chanceToWin: ({ mean, standardDeviation, inverse }) => ({ value: chanceToWin(mean, standardDeviation, inverse) }),
  varianceOfRatio: (moments) => ({ value: varianceOfRatio(moments) }),
  sequentialRho: (given) => ({ value: rhoOf(given) }),
  sequentialHalfWidth: (given) => ({
    value: sequentialHalfWidth(given.variance, given.n, given.rho ?? rhoOf(given), given.alpha, sided(given)),
  }),
  tDistribution: ({ x, p, df }) => ({ cdf: studentCdf(x, df), quantile: studentQuantile(p, df) }),
  normalDistribution: ({ x, p }) => ({ cdf: normalCdf(x), quantile: normalQuantile(p) }),
};

const sided = ({ twoSided }: DistributionArguments): 'twoSided' | 'greater' => (twoSided ? 'twoSided' : 'greater');

const rhoOf = (given: DistributionArguments): number => sequentialRho(given.alpha, given.tuningParameter, sided(given));

function distribution({ function: name, arguments: given }: { function: string; arguments: never }): unknown {
  const value = distributionFunctions[name]?.(given);
  const only = value?.['value'];
  return typeof only === 'number' && !Number.isFinite(only) ? undefined : { ...value, exact: value };
}

/** How often the independent implementation draws; ours integrates, and says what drawing would give. */
const draws = 10_000;

function bandit({ arms, settings }: { arms: Statistic[]; settings: BanditSettings }): unknown {
  const result = banditWeights(arms, settings);
  const posteriors = result.posteriorMeans.map((mean, k) => ({
    mean,
    variance: result.posteriorVariances[k] ?? Number.NaN,
  }));
  const { bestArmProbabilities: best } = result;
  const followed = settings.topTwo ? bestTwoProbabilities(posteriors, settings.inverse) : best;
  return {
    ...result,
    simulated: {
      draws,
      bestArmProbabilities: best,
      weights: result.weights,
      standardErrors: best.map((chance) => Math.sqrt((chance * (1 - chance)) / draws)),
    },
    // The cases have these also where there are too few units to follow them.
    exact: { bestArmProbabilities: best, weights: weightsWithFloor(followed, settings.minimumWeight) },
  };
}

function contextual(
  kind: string,
  input: ContextualTreeInput & { arms: never; currentWeights: number[]; inverse: boolean },
): unknown {
  if (kind === 'leafWeights') {
    const result = leafWeights(input.arms, input.currentWeights, input.inverse);
    return { ...result, exactBestArmProbabilities: result.bestArmProbabilities, exactWeights: result.weights };
  }
  const tree = contextualTree({ ...input, minUnitsPerLeaf: 0, seed: 1 });
  return {
    ...tree,
    leaves: tree.leaves.map((leaf) => ({ ...leaf, exactBestArmProbabilities: leaf.bestArmProbabilities })),
  };
}

function power({
  effect,
  settings,
  dailyUnits,
}: {
  effect: EffectSoFar & EffectMoments;
  settings: MidExperimentPowerSettings;
  dailyUnits: number;
}): unknown {
  const sampleSize = additionalUnits(effect, settings);
  const exact = exactScalingFactor(effect, settings);
  const exactUnits = exact === null ? null : effect.pairwiseSampleSize * exact;
  return {
    varianceOfEffect: effect.error === null ? effect.standardError ** 2 : 0,
    targetPowerPerMetric: targetPowerPerMetric(settings),
    powerAtFactor: [0, 0.5, 1, 4, 25].map((factor) => ({
      factor,
      power: midExperimentPower(effect, settings, factor),
    })),
    sampleSize,
    exactScalingFactor: exact,
    exactAdditionalUnits: exactUnits,
    exactAdditionalDays: additionalDays(exactUnits, exact, dailyUnits),
    additionalDays: additionalDays(sampleSize.additionalUnits, sampleSize.scalingFactor, dailyUnits),
  };
}

function mismatch(
  input: { observed: number[]; weights: number[] } | { chiSquare: { x: number; degreesOfFreedom: number } },
): unknown {
  if ('chiSquare' in input) return { survival: chiSquareSurvival(input.chiSquare.x, input.chiSquare.degreesOfFreedom) };
  return { pValue: sampleRatioMismatch(input.observed, input.weights) };
}

function multiple({ pValues }: { pValues: (number | null)[] }): unknown {
  return { holm: holm(pValues), benjaminiHochberg: benjaminiHochberg(pValues) };
}

/** An exception ends the whole run, and leaves nothing else. */
function endToEnd(input: ExperimentInput): unknown {
  try {
    const { bandit, ...result } = analyseExperiment(input);
    const exact = bandit && {
      ...bandit,
      exactBestArmProbabilities: bandit.bestArmProbabilities,
      exactUpdatedWeights: bandit.updatedWeights,
    };
    return { ...result, bandit: exact };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { error: error.message, metrics: [], bandit: null };
  }
}

export const groups: Readonly<Record<string, (input: never, kind: string) => unknown>> = {
  sampleStatistics,
  regressionAdjustment,
  effectMoments: effects,
  postStratification,
  fixedHorizonTests: fixedHorizon,
  sequentialTests: sequential,
  bayesianTests: bayesian,
  distributionFunctions: distribution,
  banditWeights: bandit,
  contextualBanditWeights: (input: never, kind) => contextual(kind, input),
  midExperimentPower: power,
  sampleRatioMismatch: mismatch,
  multipleComparisons: multiple,
  endToEnd,
};
