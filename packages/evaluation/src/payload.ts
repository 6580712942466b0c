/**
 * The payload: what an SDK downloads and what an evaluator is compiled from (flags 6.1 to 6.6).
 * The server's payload compiler produces exactly these types; an absent option is an absent key, never `null`.
 */

/** Any JSON value. Values of features are JSON, so zero, `""`, `[]`, `false` and `null` are all values. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * A targeting condition (flags 8.3): attribute paths with the value or the operators they must meet, joined by
 * `$and`, `$or`, `$nor` and `$not`.
 *
 * @example { country: { $in: ['DE', 'AT'] }, 'account.plan': 'pro' }
 */
export type Condition = JsonObject;

/** Values of list groups by group id; only groups that a condition of the payload names. */
export type SavedGroups = Readonly<Record<string, readonly (string | number)[]>>;

/** A half-open range of buckets, `[from, to)`, within 0..1. */
export type VariationRange = readonly [from: number, to: number];

/** A slice of a legacy namespace: its id and the half-open range of it. */
export type NamespaceSlice = readonly [namespace: string, from: number, to: number];

/** A slice of a multi-range namespace: the user's bucket must lie in one of the ranges. */
export interface Filter {
  readonly attribute?: string;
  readonly seed: string;
  /** Default 2. */
  readonly hashVersion?: number;
  readonly ranges: readonly VariationRange[];
}

/** What is said of one variation beside its value. */
export interface VariationMeta {
  readonly key?: string;
  readonly name?: string;
  /** The user enters the experiment, but the next rules decide the value (control of a holdout or a monitored ramp). */
  readonly passthrough?: boolean;
}

/** Another feature whose value a rule or an experiment depends on. */
export interface ParentCondition {
  /** Id of the other feature. */
  readonly id: string;
  /** Judged on the object `{ value }`. */
  readonly condition: Condition;
  /** Failing blocks the whole feature instead of this rule only. */
  readonly gate?: boolean;
}

/** Who is in: the part of a rule or experiment that hashes the user. */
export interface Bucketing {
  /** Share of users, 0..1. */
  readonly coverage?: number;
  /** Default `id`. */
  readonly hashAttribute?: string;
  /** Used when the hash attribute is empty and sticky bucketing is active. */
  readonly fallbackAttribute?: string;
  readonly disableStickyBucketing?: boolean;
  readonly bucketVersion?: number;
  readonly minBucketVersion?: number;
  readonly namespace?: NamespaceSlice;
  readonly filters?: readonly Filter[];
  readonly seed?: string;
  /** 1 or 2, default 1. */
  readonly hashVersion?: number;
}

/** How an experiment is divided and named. */
export interface VariationLayout {
  /** Share of each variation; they add up to 1. Equal shares when absent. */
  readonly weights?: readonly number[];
  /** Explicit bucket ranges; they replace coverage and weights. */
  readonly ranges?: readonly VariationRange[];
  readonly key?: string;
  readonly meta?: readonly VariationMeta[];
  readonly name?: string;
  readonly phase?: string;
}

/** When a running experiment starts and ends, as far as it is planned (ISO instants). */
export interface ExperimentSchedule {
  readonly startDate?: string;
  readonly endDate?: string;
  readonly endAfterStart?: { readonly value: number; readonly unit: 'hours' | 'days' };
}

/** Metadata of a feature (flags 6.8). */
export interface FeatureMetadata {
  readonly projects?: readonly string[];
  readonly customFields?: JsonObject;
  readonly tags?: readonly string[];
}

/** Metadata of a rule or an auto-run experiment (flags 6.8). */
export interface ExperimentMetadata extends FeatureMetadata {
  readonly schedule?: ExperimentSchedule;
}

interface RuleTargeting {
  /** Stem of the rule's id. */
  readonly id?: string;
  readonly condition?: Condition;
  readonly parentConditions?: readonly ParentCondition[];
  readonly metadata?: ExperimentMetadata;
}

/** Serves one value: a force rule, a rollout, a released experiment or safe rollout, a holdout. */
export interface ForceRule extends RuleTargeting, Bucketing {
  readonly force: JsonValue;
  /** Bucket range that replaces coverage. */
  readonly range?: VariationRange;
  /** Experiments that remote evaluation found entered on the way to this value. */
  readonly tracks?: readonly EnteredExperiment[];
}

/** Serves one of several values by the user's bucket: an experiment, a safe rollout, a monitored ramp step. */
export interface ExperimentRule extends RuleTargeting, Bucketing, VariationLayout {
  readonly variations: readonly JsonValue[];
}

/** An experiment whose weights depend on the user's context. */
export interface ContextualBanditRule extends RuleTargeting, Bucketing, VariationLayout {
  readonly contextualVariations: readonly JsonValue[];
  /** Key of the payload's `contextualBandits`. */
  readonly contextualBanditRef?: string;
}

/** Serves nothing itself; its gates block the feature when they fail. */
export interface GateRule {
  readonly parentConditions: readonly ParentCondition[];
}

/** One compiled rule (flags 6.4). Which member it has, `force`, `variations` or `contextualVariations`, says what it is. */
export type FeatureRule = ForceRule | ExperimentRule | ContextualBanditRule | GateRule;

/** What the payload says of one feature (flags 6.3). */
export interface FeatureDefinition {
  readonly defaultValue: JsonValue;
  /** Absent rather than empty. */
  readonly rules?: readonly FeatureRule[];
  readonly metadata?: FeatureMetadata;
}

/** A page address that an auto-run experiment is limited to (flags 8.7). */
export interface UrlTarget {
  readonly include: boolean;
  readonly type: 'simple' | 'regex';
  readonly pattern: string;
}

/** The leaf of a contextual bandit that a user was routed to; −1 when none matched. */
export interface ContextualBanditLeaf {
  readonly leafId: number;
  readonly variationWeights: readonly number[];
  readonly banditVersion?: number;
}

/** An experiment as it is run and reported. */
export interface Experiment extends Bucketing, VariationLayout {
  readonly key: string;
  readonly variations: readonly JsonValue[];
  readonly condition?: Condition;
  readonly parentConditions?: readonly ParentCondition[];
  readonly urlPatterns?: readonly UrlTarget[];
  readonly status?: 'draft' | 'running' | 'stopped';
  /** `false` switches the experiment off. */
  readonly active?: boolean;
  /** Index of the variation that every included user gets. */
  readonly force?: number;
  readonly persistQueryString?: boolean;
  /** In results only: how a contextual bandit chose the weights. */
  readonly contextualBandit?: ContextualBanditLeaf;
  /** Old style: a last word on inclusion by the embedding code; throwing means no. */
  readonly include?: () => boolean;
  /** Old style: the user must be in one of these groups of `User.groups`. */
  readonly groups?: readonly string[];
  /** Old style: the address must match this expression. */
  readonly url?: RegExp;
}

/** What a visual change does to a page. */
export type DomMutation = {
  readonly selector: string;
  readonly action: string;
  readonly attribute: string;
  readonly value?: string;
  readonly parentSelector?: string;
  readonly insertBeforeSelector?: string;
};

/** One variation of an auto-run experiment: a redirect (`""` = no destination) or visual changes. */
export type AutoExperimentVariation = {
  readonly urlRedirect?: string;
  readonly css?: string;
  readonly js?: string;
  readonly domMutations?: readonly DomMutation[];
};

/** An experiment that SDKs in browsers run by themselves (flags 6.6). */
export interface AutoExperiment extends Experiment {
  readonly variations: readonly AutoExperimentVariation[];
  /** Stable id of the change set. */
  readonly changeId?: string;
  readonly metadata?: ExperimentMetadata;
}

/** The contexts of a contextual bandit; the first whose condition holds gives the weights. */
export interface ContextualBandit {
  readonly banditVersion?: number;
  readonly contexts: readonly {
    readonly leafId: number;
    readonly condition: Condition;
    /** In the order of the rule's variations. */
    readonly weights: readonly number[];
  }[];
}

/** The body an SDK downloads, without `status` (flags 6.1). Key order here is the order in which they are written. */
export interface Payload {
  /** `{}` when encrypted. */
  readonly features: Readonly<Record<string, FeatureDefinition>>;
  /** `[]` when encrypted; absent unless visual or redirect experiments are on. */
  readonly experiments?: readonly AutoExperiment[];
  /** ISO instant of the last configuration version that changed this payload. */
  readonly dateUpdated: string;
  readonly savedGroups?: SavedGroups;
  readonly contextualBandits?: Readonly<Record<string, ContextualBandit>>;
  readonly encryptedFeatures?: string;
  readonly encryptedExperiments?: string;
  readonly encryptedSavedGroups?: string;
  readonly encryptedContextualBandits?: string;
}

/** The result of running one experiment for one user (flags 8.5). */
export interface ExperimentResult {
  /** `meta[variationId].key`, or the index as text. */
  readonly key: string;
  /** `null` when the experiment was not reached through a feature. */
  readonly featureId: string | null;
  readonly inExperiment: boolean;
  /** `false` when the variation was forced or the user is out. */
  readonly hashUsed: boolean;
  readonly variationId: number;
  readonly value: JsonValue;
  /** The attribute that was hashed (the fallback attribute where it stood in). */
  readonly hashAttribute: string;
  /** Its value as given; `""` when empty. */
  readonly hashValue: unknown;
  readonly stickyBucketUsed: boolean;
  readonly name?: string;
  /** The user's bucket, 0..1. */
  readonly bucket?: number;
  readonly passthrough?: boolean;
  readonly leafId?: number;
  readonly variationWeights?: readonly number[];
  readonly banditVersion?: number;
}

/** An experiment together with what it gave the user. */
export interface EnteredExperiment {
  readonly experiment: Experiment;
  readonly result: ExperimentResult;
}

/** The variations that one attribute value was given before (flags 8.6). */
export interface StickyBucketDocument {
  readonly attributeName: string;
  readonly attributeValue: string;
  /** Variation key by `<experiment key>__<bucket version>`. */
  readonly assignments: Readonly<Record<string, string>>;
}

/** Documents by `stickyBucketKey`. */
export type StickyBucketDocuments = Readonly<Record<string, StickyBucketDocument>>;
