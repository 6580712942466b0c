/**
 * Evaluation of feature flags: the types of the payload, and a compiled evaluator for it. Pure: no input or output,
 * no state, no dependencies.
 */

export { bucketRanges, chooseVariation, equalWeights, inRange } from './buckets.ts';
export {
  type ConditionOptions,
  compileCondition,
  conditionOperators,
  evaluateCondition,
  isOperatorObject,
  logicalOperators,
  MAX_CONDITION_DEPTH,
} from './condition.ts';
export { DecryptionError, decryptText, encryptText } from './encryption.ts';

export { compilePayload, type EvaluablePayload, type Evaluator } from './evaluator.ts';
export type { FeatureResult, FeatureResultSource } from './feature-result.ts';
export {
  type EvaluatedFlag,
  type FlagEvaluation,
  type FlagReason,
  flagEvaluation,
  type ValueType,
} from './flag-evaluation.ts';
export { fnv1a, hash } from './hash.ts';
export { inNamespace } from './namespace.ts';
export type * from './payload.ts';
export type { Predicate } from './predicate.ts';
export { MAX_PREREQUISITE_DEPTH } from './prerequisite.ts';
export { persistQueryString, queryStringOverride } from './query-string.ts';
export { assignmentKey, type ExperimentRecorder, recordExperiments } from './recorder.ts';
export type { Redirect } from './redirect.ts';
export {
  nativeRegularExpression,
  type RegularExpression,
  type RegularExpressionFactory,
} from './regular-expression.ts';
export { type RemoteEvaluation, type RemoteEvaluationRequest, remoteEvaluation } from './remote-evaluation.ts';
export type { Explanation, RuleOutcome } from './rule-outcome.ts';
export { stickyBucketKey } from './sticky-buckets.ts';
export { compileUrlTargets, type UrlPredicate } from './url-targeting.ts';
export type { Attributes, ExperimentOverride, TrackExperiment, User } from './user.ts';
export { paddedVersion } from './version-string.ts';
