import type { Experiment, ExperimentResult, JsonValue } from './payload.ts';

/** What decided a feature's value (flags 8.4). */
export type FeatureResultSource =
  | 'unknownFeature'
  | 'defaultValue'
  | 'force'
  | 'override'
  | 'experiment'
  | 'prerequisite'
  | 'cyclicPrerequisite';

/** The result of evaluating one feature for one user. Frozen and shared where it does not depend on the user. */
export interface FeatureResult {
  /** `null` also when there is nothing to serve (unknown feature, blocked, cyclic). */
  readonly value: JsonValue;
  /** Truthiness of the value. */
  readonly on: boolean;
  readonly off: boolean;
  readonly source: FeatureResultSource;
  /** Id of the deciding rule, or `""`. */
  readonly ruleId: string;
  readonly experiment?: Experiment;
  readonly experimentResult?: ExperimentResult;
}

/**
 * Builds the result of a value that no experiment chose, frozen because evaluators share it between users.
 *
 * @example featureResult('red', 'force', 'fr_1').on // true
 */
export function featureResult(value: JsonValue, source: FeatureResultSource, ruleId = ''): FeatureResult {
  const on = Boolean(value);
  return Object.freeze({ value, on, off: !on, source, ruleId });
}

/** The feature is not in the payload. */
export const UNKNOWN_FEATURE = featureResult(null, 'unknownFeature');

/** A gate does not hold. */
export const BLOCKED_BY_PREREQUISITE = featureResult(null, 'prerequisite');

/** The feature is its own prerequisite, directly or through others. */
export const CYCLIC_PREREQUISITE = featureResult(null, 'cyclicPrerequisite');
