import type { Exclusion } from './experiment.ts';
import type { FeatureResult } from './feature-result.ts';

/** What came of a rule for a user: it decided the value, or why it did not. */
export type RuleOutcome =
  | 'applied'
  /** A prerequisite of the rule does not hold. */
  | 'prerequisite'
  /** A prerequisite of the whole feature does not hold, which ends the evaluation. */
  | 'blocked'
  /** A prerequisite leads back to the feature, which ends the evaluation. */
  | 'cyclic'
  /** The user is not in the share of users that the rule is for. */
  | 'rollout'
  /** The user entered its experiment, whose variation leaves the value to the next rules. */
  | 'passthrough'
  /** It holds, and has no value of its own: what is left of a gate, say. */
  | 'servesNothing'
  /** The user is not in its experiment. */
  | Exclusion;

/** A feature's value for a user, and how it came about. */
export interface Explanation {
  readonly result: FeatureResult;
  /** Of each rule that was looked at, from the first to the one that decided. */
  readonly outcomes: readonly RuleOutcome[];
}
