import type {
  Condition,
  Experiment,
  ExperimentResult,
  JsonValue,
  NamespaceSlice,
  StickyBucketDocument,
  StickyBucketDocuments,
} from './payload.ts';

/** What is known of a user, by attribute name. Values are usually JSON; anything else is tolerated. */
export type Attributes = Readonly<Record<string, unknown>>;

/** Told of every experiment that hashing put the user in, also on the way through prerequisites and passthrough variations. */
export type TrackExperiment = (experiment: Experiment, result: ExperimentResult) => void;

/** Local changes to an experiment, merged over what the payload says of it. */
export interface ExperimentOverride {
  readonly condition?: Condition;
  readonly weights?: readonly number[];
  readonly active?: boolean;
  readonly status?: 'draft' | 'running' | 'stopped';
  readonly force?: number;
  readonly coverage?: number;
  readonly groups?: readonly string[];
  readonly namespace?: NamespaceSlice;
  readonly url?: RegExp;
}

/** For whom, and in which circumstances, features are evaluated. Never changed by an evaluation. */
export interface User {
  readonly attributes: Attributes;
  /** Address of the page the user is on. */
  readonly url?: string;
  /** Variation index by experiment key. */
  readonly forcedVariations?: Readonly<Record<string, number>>;
  /** Value by feature key; unknown features included. */
  readonly forcedFeatures?: ReadonlyMap<string, JsonValue>;
  /** Only forced variations run. */
  readonly qaMode?: boolean;
  /** `false` switches all experiments off. */
  readonly enabled?: boolean;
  /**
   * Earlier assignments by `stickyBucketKey`. Sticky bucketing is active exactly when this is given. It is read at
   * each look-up, so a `saveStickyBucketDocument` that writes here is seen by the next experiment.
   */
  readonly stickyBucketAssignmentDocs?: StickyBucketDocuments;
  /** Told of every document that a new assignment changed. Without it assignments are only read. */
  readonly saveStickyBucketDocument?: (document: StickyBucketDocument) => void;
  /** May be called several times for one assignment; `recordExperiments` keeps each once. */
  readonly trackExperiment?: TrackExperiment;
  /** Old style: local changes by experiment key. */
  readonly experimentOverrides?: Readonly<Record<string, ExperimentOverride>>;
  /** Old style: groups the user is in, for experiments that name `groups`. */
  readonly groups?: Readonly<Record<string, boolean>>;
}
