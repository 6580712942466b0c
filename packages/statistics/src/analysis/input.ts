/** What one analysis is told: metrics, how to analyse them, and rows of sums. */
import type { DifferenceType } from '../inference/settings.ts';

/** How a metric turns values of units into one number for each arm. */
export type MetricStatistic =
  | 'mean'
  | 'ratio'
  | 'regressionAdjustedMean'
  | 'regressionAdjustedRatio'
  | 'quantileOfUnits'
  | 'quantileOfEvents';

/** `proportion` for values of 0 and 1. */
export type ComponentType = 'mean' | 'proportion' | 'quantile';

export interface Metric {
  readonly id: string;
  readonly statistic: MetricStatistic;
  readonly numeratorType: ComponentType;
  readonly denominatorType: ComponentType | null;
  /** Of regression-adjusted means; the covariates of a ratio are of the types of its parts. */
  readonly covariateType: ComponentType | null;
  /** Whether less is better. */
  readonly inverse: boolean;
  /** Of the relative effect, for Bayesian analyses. */
  readonly prior: { readonly proper: boolean; readonly mean: number; readonly standardDeviation: number };
  /** Whether θ comes with the rows instead of being estimated; for regression-adjusted means. */
  readonly useSuppliedTheta: boolean;
  /** Between 0 and 1, for quantiles. */
  readonly quantileLevel: number | null;
  /** Power is computed for goals. */
  readonly roles: readonly ('goal' | 'guardrail' | 'secondary')[] | null;
  /** The relative effect that the experiment should be able to find. */
  readonly targetEffect: number;
  /** Whether to repeat everything on the sums without capping. */
  readonly computeUncapped: boolean;
}

/** What the levels of an analysis are. `precomputedAttribute` reads the same columns as `attribute`, from sums that can be added. */
export type Breakdown =
  | { readonly kind: 'none' | 'level' | 'date' | 'activation' }
  | { readonly kind: 'attribute' | 'precomputedAttribute' | 'unitAttribute'; readonly name: string };

export interface Analysis {
  readonly engine: 'bayesian' | 'frequentist';
  /** The first is the control. */
  readonly variationIds: readonly string[];
  /** How units were meant to be split. */
  readonly weights: readonly number[];
  /** Where the control stands in the list of results. */
  readonly baselineIndex: number;
  readonly breakdown: Breakdown;
  readonly alpha: number;
  readonly differenceType: DifferenceType;
  readonly sequential: boolean;
  /** Of sequential tests: units at which the interval is tightest. */
  readonly tuningParameter: number;
  /** Looks only for harm: the alternative is `less`, `greater` for inverse metrics. Frequentist only. */
  readonly oneSided: boolean;
  /** Whether p-values will be corrected; matters for power only. */
  readonly multiplicityCorrected: boolean;
  readonly durationDays: number;
  readonly trafficFraction: number;
  /** Levels beyond are taken together as `(other)`. */
  readonly maxLevels: number;
  readonly numGoalMetrics: number;
  readonly numGuardrailMetrics: number;
  /** Compares the covariates instead of the outcome: arms that differ before the experiment are not comparable. */
  readonly covariateAsResponse: boolean;
  readonly postStratify: boolean;
}

/** Sums of one metric over the units of a row; absent ones are 0. */
export interface SummableFields {
  readonly sum?: number;
  readonly sumOfSquares?: number;
  readonly denominatorSum?: number;
  readonly denominatorSumOfSquares?: number;
  readonly sumOfProductsWithDenominator?: number;
  readonly covariateSum?: number;
  readonly covariateSumOfSquares?: number;
  readonly sumOfProductsWithCovariate?: number;
  readonly denominatorCovariateSum?: number;
  readonly denominatorCovariateSumOfSquares?: number;
  readonly sumOfProductsWithDenominatorCovariate?: number;
  readonly sumOfProductsCovariateWithDenominator?: number;
  readonly sumOfProductsCovariateWithDenominatorCovariate?: number;
  readonly sumOfProductsDenominatorWithDenominatorCovariate?: number;
}

/** What cannot be added up: at most one row of a variation in a level may have it. */
export interface SingleFields {
  readonly quantileN?: number;
  readonly quantileNForInterval?: number;
  readonly quantileEstimate?: number;
  readonly quantileLower?: number;
  readonly quantileUpper?: number;
  readonly theta?: number;
}

export interface MetricSums extends SummableFields, SingleFields {
  /** The same sums before capping. */
  readonly uncapped?: SummableFields;
}

export interface Row {
  readonly variation: string;
  /** `level`, `date`, `activation`, `attribute:NAME`, `unitAttribute:NAME` → value. */
  readonly breakdowns: Readonly<Record<string, unknown>>;
  readonly units: number;
  /** What means are divided by; `units` where no row has it. */
  readonly count?: number;
  /** One for each metric of the set, in its order. */
  readonly metrics: readonly MetricSums[];
}

/** Rows of one query, for one or several metrics. */
export interface ResultSet {
  /** Ids; null for what is not analysed. */
  readonly metrics: readonly (string | null)[];
  readonly rows: readonly Row[];
}

/** What a bandit decides by. */
export interface BanditInput {
  readonly variationIds: readonly string[];
  readonly currentWeights: readonly number[];
  /** Whether the weights may change now. */
  readonly reweight: boolean;
  /** Id of the metric. */
  readonly decisionMetric: string;
  readonly minimumWeight: number;
  readonly topTwo: boolean;
}

export interface ExperimentInput {
  readonly metrics: readonly Metric[];
  readonly analyses: readonly Analysis[];
  readonly results: readonly ResultSet[];
  readonly bandit: BanditInput | null;
}
