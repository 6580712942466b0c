import { type ConditionScope, compileConditionIn } from './condition.ts';
import { CYCLIC_PREREQUISITE, type FeatureResult } from './feature-result.ts';
import type { ParentCondition } from './payload.ts';
import type { Predicate } from './predicate.ts';
import type { User } from './user.ts';

/** How long a chain of prerequisites may be. A longer one counts as cyclic, before it exhausts the stack (at some 2,500). */
export const MAX_PREREQUISITE_DEPTH = 1000;

/** A parent condition prepared for many users. */
export interface PreparedPrerequisite {
  readonly featureKey: string;
  readonly holds: Predicate;
  readonly gate: boolean;
}

/** Prepares the parent conditions of a rule or experiment; `undefined` when there are none. */
export function preparePrerequisites(
  parents: readonly ParentCondition[] | undefined,
  scope: ConditionScope,
): readonly PreparedPrerequisite[] | undefined {
  if (!parents?.length) return undefined;
  return parents.map((parent) => ({
    featureKey: parent.id,
    // Like every other condition, an absent one holds.
    holds: compileConditionIn(scope, parent.condition ?? {}),
    gate: Boolean(parent.gate),
  }));
}

/**
 * The features under evaluation, from the one asked for down to the present prerequisite, and the results of those
 * that are done. Keeping these makes the cost linear where features share prerequisites, and a kept result never
 * depends on the path it was reached by, because a cycle ends the whole evaluation.
 */
export class EvaluationPath {
  /** `undefined` while a feature is under evaluation. */
  readonly #results = new Map<string, FeatureResult | undefined>();
  readonly #keepsResults: boolean;
  #depth = 0;

  /** Starts at the feature that is asked for, if it is a feature. */
  constructor(user: User, start?: string) {
    // A sticky bucket that is saved on the way may change what an experiment with the same key gives next.
    this.#keepsResults = user.saveStickyBucketDocument === undefined;
    if (start !== undefined) this.begin(start);
  }

  /** Takes a feature into the path, or answers with its result: a known one, or that it is cyclic. */
  begin(featureKey: string): FeatureResult | undefined {
    const known = this.#results.get(featureKey);
    if (known !== undefined) return known;
    if (this.#results.has(featureKey) || this.#depth >= MAX_PREREQUISITE_DEPTH) return CYCLIC_PREREQUISITE;
    this.#results.set(featureKey, undefined);
    this.#depth++;
    return undefined;
  }

  /** Takes a feature out of the path. */
  finish(featureKey: string, result: FeatureResult): FeatureResult {
    if (this.#keepsResults) this.#results.set(featureKey, result);
    else this.#results.delete(featureKey);
    this.#depth--;
    return result;
  }
}

/** Evaluates a feature on the way of another. */
export type EvaluatePrerequisite = (featureKey: string, user: User, path: EvaluationPath) => FeatureResult;

/** `blocked`: a gate does not hold. `failed`: a prerequisite of the rule alone does not. */
export type PrerequisiteOutcome = 'held' | 'failed' | 'blocked' | 'cyclic';

/** Evaluates prerequisites in order (flags 8.4, step 4a); the first that does not hold decides. */
export function judgePrerequisites(
  prerequisites: readonly PreparedPrerequisite[],
  user: User,
  path: EvaluationPath,
  evaluate: EvaluatePrerequisite,
): PrerequisiteOutcome {
  for (const { featureKey, holds, gate } of prerequisites) {
    const { value, source } = evaluate(featureKey, user, path);
    if (source === 'cyclicPrerequisite') return 'cyclic';
    if (!holds({ value })) return gate ? 'blocked' : 'failed';
  }
  return 'held';
}
