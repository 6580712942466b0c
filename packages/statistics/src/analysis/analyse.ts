/** The entry point: rows of sums to results. */
import { banditPrior, banditWeights } from '../bandits/weights.ts';
import { sampleRatioMismatch } from '../inference/sample-ratio.ts';
import type { Interval } from '../inference/settings.ts';
import { InvalidInput, type Problem } from '../problem.ts';
import { statisticOf } from './cell.ts';
import type { Analysis, BanditInput, ExperimentInput, Metric, ResultSet } from './input.ts';
import { isQuantile, type Level, levelsOf, multipleExposures, unknownVariations } from './levels.ts';
import { type PlainVariation, variationsOf } from './variations.ts';

/** The same comparison made another way, to show what a setting has changed. */
export interface Supplementary {
  /** Without regression adjustment, where the metric has it. */
  readonly withoutCovariates?: PlainVariation;
  /** On the sums before capping, where that is asked for. */
  readonly uncapped?: PlainVariation;
  /** Bayesian, with a flat prior where the metric's is proper. */
  readonly flatPrior?: PlainVariation;
  /** Strata added up, where they were weighted. */
  readonly unstratified?: PlainVariation;
  /** Neither covariates nor strata, where there were both. */
  readonly withoutVarianceReduction?: PlainVariation;
}

export type VariationResult = PlainVariation & { readonly supplementary: Supplementary };

export interface LevelResult {
  /** Empty without a breakdown. */
  readonly level: string;
  /** Of the units of this level against the weights. */
  readonly srmPValue: number;
  /** With the control at `baselineIndex`. */
  readonly variations: readonly VariationResult[];
}

export interface AnalysisResult {
  /** Ids in the rows that are no variation: renamed or removed ones, or a wrong query. */
  readonly unknownVariations: readonly string[];
  /** Units that saw several variations, and count for none. */
  readonly multipleExposures: number;
  /** The largest first; none where there are no rows of known variations. */
  readonly levels: readonly LevelResult[];
}

export interface MetricResult {
  readonly metric: string;
  /** In the order asked for; quantiles are left out of those by a precomputed attribute. */
  readonly analyses: readonly AnalysisResult[];
}

export interface BanditResult {
  readonly singleVariationResults:
    | readonly { readonly units: number; readonly mean: number; readonly credibleInterval: Interval }[]
    | null;
  readonly currentWeights: readonly number[];
  readonly updatedWeights: readonly number[];
  readonly bestArmProbabilities: readonly number[] | null;
  readonly updateMessage: 'updated' | 'notUpdated' | 'tooFewUnits';
  readonly error: Problem | '';
  readonly reweight: boolean;
  readonly weightsWereUpdated: boolean;
}

export interface ExperimentResult {
  readonly error: null;
  readonly metrics: readonly MetricResult[];
  readonly bandit: BanditResult | null;
}

/**
 * Analyses an experiment: every metric of the result sets that is configured and has rows, in every analysis. Problems of single
 * comparisons stand in their results.
 * @throws InvalidInput where rows contradict each other: the message says which, and what to change
 */
export function analyseExperiment(input: ExperimentInput): ExperimentResult {
  const metrics = new Map(
    input.metrics.map((metric) => [metric.id, input.bandit === null ? metric : asBanditMetric(metric)]),
  );
  const results = input.results.flatMap((set) =>
    set.metrics.flatMap((id, place): MetricResult[] => {
      const metric = id === null ? undefined : metrics.get(id);
      if (metric === undefined || set.rows.length === 0) return [];
      return [{ metric: metric.id, analyses: analyseMetric(metric, place, set, input.analyses) }];
    }),
  );
  return { error: null, metrics: results, bandit: input.bandit === null ? null : decide(input, input.bandit, metrics) };
}

/** Sums that are weighted over periods are no counts any more, and have no covariances of four quantities. */
function asBanditMetric(metric: Metric): Metric {
  const asMean = (type: Metric['covariateType']): Metric['covariateType'] => (type === 'proportion' ? 'mean' : type);
  return {
    ...metric,
    statistic: metric.statistic === 'regressionAdjustedRatio' ? 'ratio' : metric.statistic,
    numeratorType: metric.numeratorType === 'proportion' ? 'mean' : metric.numeratorType,
    denominatorType: asMean(metric.denominatorType),
    covariateType: asMean(metric.covariateType),
  };
}

/** One metric in all analyses, from the rows in which it stands at `place`. */
export function analyseMetric(
  metric: Metric,
  place: number,
  set: ResultSet,
  analyses: readonly Analysis[],
): AnalysisResult[] {
  const unknown = unknownVariations(set.rows, analyses);
  const exposures = multipleExposures(set.rows);
  return analyses.flatMap((analysis): AnalysisResult[] => {
    // A quantile cannot be put together from sums over attributes.
    if (isQuantile(metric) && analysis.breakdown.kind === 'precomputedAttribute') return [];
    const levels = levelsOf(metric, place, set, analysis);
    return [
      {
        unknownVariations: unknown,
        multipleExposures: exposures,
        levels: levels.map((level) => levelResult(metric, analysis, level)),
      },
    ];
  });
}

const withoutAdjustment: Partial<Record<Metric['statistic'], Metric['statistic']>> = {
  regressionAdjustedMean: 'mean',
  regressionAdjustedRatio: 'ratio',
};

function levelResult(metric: Metric, analysis: Analysis, level: Level): LevelResult {
  const units = analysis.variationIds.map((_, arm) =>
    level.strata.reduce((sum, cells) => sum + (cells[arm]?.units ?? 0), 0),
  );
  const variants: [keyof Supplementary, PlainVariation[]][] = [];
  const statistic = withoutAdjustment[metric.statistic];
  const unadjusted = statistic === undefined ? undefined : { ...metric, statistic };
  const unstratified = { ...analysis, postStratify: false };
  const isStratified = analysis.postStratify && !isQuantile(metric);
  if (unadjusted !== undefined) variants.push(['withoutCovariates', variationsOf(unadjusted, analysis, level, false)]);
  if (metric.computeUncapped) variants.push(['uncapped', variationsOf(metric, analysis, level, true)]);
  if (analysis.engine === 'bayesian' && metric.prior.proper) {
    const flat = { ...metric, prior: { ...metric.prior, proper: false } };
    variants.push(['flatPrior', variationsOf(flat, analysis, level, false)]);
  }
  if (isStratified) {
    variants.push(['unstratified', variationsOf(metric, unstratified, level, false)]);
    if (unadjusted !== undefined) {
      variants.push(['withoutVarianceReduction', variationsOf(unadjusted, unstratified, level, false)]);
    }
  }
  return {
    level: level.level,
    srmPValue: sampleRatioMismatch(units, analysis.weights),
    variations: variationsOf(metric, analysis, level, false).map((variation, arm) => ({
      ...variation,
      supplementary: Object.fromEntries(variants.flatMap(([name, results]) => entry(name, results[arm]))),
    })),
  };
}

const entry = (name: keyof Supplementary, result: PlainVariation | undefined): [string, PlainVariation][] =>
  result === undefined ? [] : [[name, result]];

/** The only level that a bandit decides by. */
const allUnits = 'All';

function decide(
  { analyses, results }: ExperimentInput,
  bandit: BanditInput,
  metrics: ReadonlyMap<string, Metric>,
): BanditResult {
  const { currentWeights, reweight, variationIds, minimumWeight, topTwo } = bandit;
  const [analysis] = analyses;
  const set = results.find((candidate) => candidate.metrics.includes(bandit.decisionMetric));
  const metric = metrics.get(bandit.decisionMetric);
  const unchanged = { currentWeights, updatedWeights: currentWeights, reweight, weightsWereUpdated: false };
  if (set === undefined || metric === undefined || set.rows.length === 0 || analysis?.breakdown.kind !== 'none') {
    return {
      ...unchanged,
      singleVariationResults: null,
      bestArmProbabilities: null,
      updateMessage: 'notUpdated',
      error: 'noRows',
    };
  }
  if (isQuantile(metric)) {
    throw new InvalidInput(
      `A bandit decides by a mean or a ratio, not by the quantile ${metric.id}: choose another metric.`,
    );
  }
  const place = set.metrics.indexOf(metric.id);
  const levels = levelsOf(metric, place, set, { ...analysis, variationIds, postStratify: false });
  const cells = levels.find(({ level }) => level === allUnits)?.strata[0];
  if (cells === undefined) {
    throw new InvalidInput(
      `The decision metric ${metric.id} has no rows with level "${allUnits}", which a bandit decides by.`,
    );
  }
  const statistics = cells.map((cell) => statisticOf(metric, cell, { isUncapped: false, covariateAsResponse: false }));
  const { alpha } = analysis;
  const weights = banditWeights(statistics, {
    prior: banditPrior,
    inverse: metric.inverse,
    topTwo,
    minimumWeight,
    alpha,
  });
  const updatedWeights = reweight && weights.weights !== null ? weights.weights : currentWeights;
  return {
    ...unchanged,
    singleVariationResults: weights.units.map((units, arm) => ({
      units,
      mean: weights.posteriorMeans[arm] ?? Number.NaN,
      credibleInterval: weights.credibleIntervals[arm] ?? [Number.NaN, Number.NaN],
    })),
    updatedWeights,
    bestArmProbabilities: weights.enoughUnits ? weights.bestArmProbabilities : null,
    updateMessage: weights.message,
    error: '',
    weightsWereUpdated: updatedWeights.some((weight, arm) => weight !== currentWeights[arm]),
  };
}
