/** How a bandit splits traffic: by the probability that each arm is the best (Thompson 1933). */
import { type Prior } from '../inference/bayesian.ts';
import type { Interval } from '../inference/settings.ts';
import { normalQuantile } from '../numeric/normal.ts';
import { componentMean } from '../samples/component.ts';
import { mean, ratioMoments, unadjustedMean, variance } from '../samples/moments.ts';
import type { Statistic } from '../samples/statistic.ts';
import { bestArmProbabilities, bestTwoProbabilities, type Normal } from './best-arm.ts';

/** What weights follow from besides the arms. */
export interface BanditSettings {
  /** Of each arm's mean, in the metric's unit; N(0, 10⁴) as a rule. */
  readonly prior: Prior;
  readonly inverse: boolean;
  /** Whether arms share traffic by the probability of being among the best two instead of being the best (Russo 2016). */
  readonly topTwo: boolean;
  /** The least weight of each arm. */
  readonly minimumWeight: number;
  /** 1 − coverage of the intervals. */
  readonly alpha: number;
}

/** The prior that is used where nothing else is asked for. */
export const banditPrior: Prior = { mean: 0, variance: 10_000, proper: true };

/** Each arm needs so many units before weights are changed. */
export const leastUnitsPerArm = 100;

/** What is known of each arm, and how traffic should be split. */
export interface BanditWeights {
  readonly units: number[];
  readonly armMeans: number[];
  readonly armVariances: number[];
  readonly posteriorMeans: number[];
  readonly posteriorVariances: number[];
  /** What regression-adjusted means were raised by, so that they are on the scale of the metric. */
  readonly covariateAddBack: number;
  /** Around the arm's mean, with the width of its posterior. */
  readonly credibleIntervals: Interval[];
  readonly enoughUnits: boolean;
  readonly message: 'updated' | 'tooFewUnits';
  readonly bestArmProbabilities: number[];
  /** Null without enough units. */
  readonly weights: number[] | null;
}

interface Arm {
  readonly n: number;
  readonly mean: number;
  readonly variance: number;
}

/** The normal posterior of an arm's mean; an arm without variance counts as without data. */
function posteriorOf({ n, mean, variance }: Arm, prior: Prior): Normal {
  const dataPrecision = variance > 0 ? n / variance : 0;
  const priorPrecision = prior.proper ? 1 / prior.variance : 0;
  const precision = dataPrecision + priorPrecision;
  const pulled = dataPrecision === 0 ? 0 : dataPrecision * mean;
  return { mean: (pulled + (prior.proper ? priorPrecision * prior.mean : 0)) / precision, variance: 1 / precision };
}

/**
 * Weights from probabilities: minimum + (1 − K·minimum)·p/Σp, which keeps their order; equal weights where the minimum leaves
 * nothing to share.
 */
export function weightsWithFloor(probabilities: readonly number[], minimumWeight: number): number[] {
  const floor = Math.max(0, minimumWeight);
  const count = probabilities.length;
  if (count * floor >= 1) return probabilities.map(() => 1 / count);
  const total = probabilities.reduce((sum, probability) => sum + probability, 0);
  return probabilities.map((probability) => floor + ((1 - count * floor) * probability) / total);
}

function covariateMean(statistic: Statistic): number {
  return statistic.type === 'regressionAdjusted' ? componentMean(statistic.covariate) : 0;
}

/** Ratios of which the denominator has no positive mean count as 0. */
function armMean(statistic: Statistic): number {
  if (statistic.type !== 'ratio') return mean(statistic);
  return ratioMoments(statistic).denominatorMean <= 0 ? 0 : unadjustedMean(statistic);
}

/**
 * Thompson sampling with independent normal posteriors, the probabilities integrated instead of drawn. Regression-adjusted arms
 * share the θ of the first, and get θ times the covariate's mean over all arms back.
 */
export function banditWeights(statistics: readonly Statistic[], settings: BanditSettings): BanditWeights {
  const [leader] = statistics;
  const theta = leader?.type === 'regressionAdjusted' ? (leader.theta ?? 0) : 0;
  const shared = statistics.map((statistic) =>
    statistic.type === 'regressionAdjusted' ? { ...statistic, theta } : statistic,
  );
  const totalUnits = shared.reduce((sum, { n }) => sum + n, 0);
  const addBack =
    theta === 0 ? 0 : (theta * shared.reduce((sum, arm) => sum + arm.n * covariateMean(arm), 0)) / totalUnits;
  const arms = shared.map((arm): Arm => ({ n: arm.n, mean: armMean(arm) + addBack, variance: variance(arm) }));
  const posteriors = arms.map((arm) => posteriorOf(arm, settings.prior));
  const enoughUnits = arms.every(({ n }) => n >= leastUnitsPerArm);
  const z = normalQuantile(1 - settings.alpha / 2);
  const best = bestArmProbabilities(posteriors, settings.inverse);
  const followed = settings.topTwo ? bestTwoProbabilities(posteriors, settings.inverse) : best;
  return {
    units: arms.map(({ n }) => n),
    armMeans: arms.map(({ mean }) => mean),
    armVariances: arms.map(({ variance }) => variance),
    posteriorMeans: posteriors.map(({ mean }) => mean),
    posteriorVariances: posteriors.map(({ variance }) => variance),
    covariateAddBack: addBack,
    credibleIntervals: arms.map(({ mean }, k): Interval => {
      const halfWidth = z * Math.sqrt(posteriors[k]?.variance ?? Number.NaN);
      return [mean - halfWidth, mean + halfWidth];
    }),
    enoughUnits,
    message: enoughUnits ? 'updated' : 'tooFewUnits',
    bestArmProbabilities: best,
    weights: enoughUnits ? weightsWithFloor(followed, settings.minimumWeight) : null,
  };
}

/** Every probability below this is raised to it, before leaf weights are made to sum to 1. */
const leastLeafProbability = 0.01;

export interface LeafWeights {
  readonly weights: readonly number[];
  readonly bestArmProbabilities: number[] | null;
  readonly message: 'updated' | 'tooFewUnits';
}

/**
 * Weights of one leaf of a contextual bandit: best-arm probabilities with the prior N(0, 10⁴), raised to at least 0.01 and divided
 * by their sum. With fewer than 100 units in an arm the current weights stay.
 */
export function leafWeights(arms: readonly Arm[], currentWeights: readonly number[], inverse: boolean): LeafWeights {
  if (!arms.every(({ n }) => n >= leastUnitsPerArm)) {
    return { weights: currentWeights, bestArmProbabilities: null, message: 'tooFewUnits' };
  }
  const posteriors = arms.map((arm) => posteriorOf(arm, banditPrior));
  const probabilities = bestArmProbabilities(posteriors, inverse);
  const raised = probabilities.map((probability) => Math.max(probability, leastLeafProbability));
  const total = raised.reduce((sum, probability) => sum + probability, 0);
  return { weights: raised.map((weight) => weight / total), bestArmProbabilities: probabilities, message: 'updated' };
}
