import type { FeatureValueType, Prerequisite, SavedGroupTargeting, ScheduleRule } from '@halyard/contract';
import type { CustomFieldValues } from '../organization/index.ts';
import { type Live, stateKind } from '../record/index.ts';
import type { LiveRevision, RevisionKind } from '../revisions/index.ts';
import type { StoredNamespace } from '../targeting/index.ts';

/** Where a rule applies. An empty list means nowhere, never everywhere. */
export interface RuleScope {
  readonly allEnvironments: boolean;
  readonly environments: readonly string[];
  readonly allProjects: boolean;
  readonly projects: readonly string[];
}

/** What every stored rule has. */
export interface RuleBase extends RuleScope {
  readonly id: string;
  readonly description: string;
  /** JSON text; `""` targets everyone. */
  readonly condition: string;
  readonly enabled: boolean;
  readonly scheduleRules: readonly ScheduleRule[];
  readonly scheduleType?: 'none' | 'schedule' | 'ramp';
  readonly savedGroupTargeting: readonly SavedGroupTargeting[];
  readonly prerequisites: readonly Prerequisite[];
}

export interface ForceRule extends RuleBase {
  readonly type: 'force';
  readonly value: string;
  readonly sparse?: boolean;
}

export interface RolloutRule extends RuleBase {
  readonly type: 'rollout';
  readonly value: string;
  readonly sparse?: boolean;
  readonly coverage: number;
  readonly hashAttribute: string;
  /** Absent on rules of old: the feature's id. */
  readonly seed?: string;
  /** Absent on rules of old: 1. */
  readonly hashVersion?: 1 | 2;
}

interface ExperimentValue {
  readonly value: string;
  readonly weight: number;
  readonly name?: string;
}

/** An experiment that is written into the rule itself. */
export interface InlineExperimentRule extends RuleBase {
  readonly type: 'experiment';
  readonly trackingKey: string;
  readonly hashAttribute?: string;
  readonly fallbackAttribute?: string;
  readonly disableStickyBucketing?: boolean;
  readonly bucketVersion?: number;
  readonly minBucketVersion?: number;
  readonly namespace?: StoredNamespace;
  readonly coverage?: number;
  readonly values: readonly ExperimentValue[];
}

export type StoredRule = ForceRule | RolloutRule | InlineExperimentRule;

/** A JSON Schema that the values of a feature must fit. */
export interface ValueSchema {
  readonly schemaType: 'schema' | 'simple';
  readonly schema: string;
  readonly simple: { readonly type: string; readonly fields: readonly object[] };
  readonly date: string;
  readonly enabled: boolean;
}

/** Everything of a feature that can be changed: what a revision holds a full copy of. */
export interface FeatureContent {
  readonly valueType: FeatureValueType;
  readonly archived: boolean;
  readonly description: string;
  /** A member's user id; older rows may hold free text. */
  readonly owner: string;
  /** The primary project, `""` for none: permissions and approvals go by it. */
  readonly project: string;
  readonly targetingAllProjects: boolean;
  readonly targetingProjects: readonly string[];
  readonly tags: readonly string[];
  readonly defaultValue: string;
  /** Own switches. An environment without one follows its parent, else it is off. */
  readonly environments: Readonly<Record<string, { readonly enabled: boolean }>>;
  readonly rules: readonly StoredRule[];
  readonly prerequisites: readonly Prerequisite[];
  readonly jsonSchema: ValueSchema | null;
  readonly neverStale: boolean;
  /** By the fields' ids; absent where there are none. Those of fields that are gone are ignored. */
  readonly customFields?: CustomFieldValues;
}

/** The live state of a feature. */
export interface FeatureState extends FeatureContent {
  readonly revision: LiveRevision;
  /** The next instant at which the schedule of one of its rules takes effect. */
  readonly nextScheduledUpdate: string | null;
}

export type LiveFeature = Live<FeatureState>;

export const featureKind = stateKind<FeatureState>('feature');

export const featureRevisionKind: RevisionKind = { name: 'feature', idPrefix: 'frev_', landed: 'published' };

/** The part of a state that a revision copies. */
export function contentOf({
  revision: _revision,
  nextScheduledUpdate: _next,
  ...content
}: FeatureState): FeatureContent {
  return content;
}

/**
 * The projects to which a feature is delivered; null: to every one. `""` stands for the feature that is in no project: only
 * connections that serve all projects deliver it.
 */
export function deliveryProjects(feature: FeatureContent): ReadonlySet<string> | null {
  return feature.targetingAllProjects ? null : new Set([feature.project, ...feature.targetingProjects]);
}

/** Where a feature is seen: by whoever may read in its project or in one it is targeted at. */
export function seenIn(feature: FeatureContent): readonly string[] | null {
  const projects = deliveryProjects(feature);
  return projects === null ? null : [...projects];
}

/** A rule's id as SDKs know it: without the suffix that tells the copies for different environments apart. */
export function ruleIdStem(id: string): string {
  const suffix = id.indexOf('__');
  return suffix < 0 ? id : id.slice(0, suffix);
}
