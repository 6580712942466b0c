import { inRange } from './buckets.ts';
import { textOf } from './coercion.ts';
import { bucketOf, type SeededHash, seedHash } from './hash.ts';
import { DEFAULT_HASH_ATTRIBUTE, hashAttributeOf, hashValueOf } from './hash-attribute.ts';
import type { ForceRule, VariationRange } from './payload.ts';
import type { User } from './user.ts';

/** The share of users that a force rule is limited to. */
export interface PreparedRollout {
  readonly attribute: string;
  readonly fallback: string | undefined;
  /** `null` for an unknown hash version, which includes nobody. */
  readonly hash: SeededHash | null;
  readonly range: VariationRange | undefined;
  readonly coverage: number;
}

/** Prepares the limits of a force rule; `undefined` when it has none and so includes everybody. */
export function prepareRollout(rule: ForceRule, featureKey: string): PreparedRollout | undefined {
  if (rule.range === undefined && rule.coverage === undefined) return undefined;
  return {
    attribute: rule.hashAttribute || DEFAULT_HASH_ATTRIBUTE,
    fallback: rule.disableStickyBucketing ? undefined : rule.fallbackAttribute || undefined,
    hash: seedHash(rule.seed || featureKey, rule.hashVersion || 1),
    range: rule.range,
    coverage: rule.coverage ?? 1,
  };
}

/**
 * Whether the user is in the rollout (flags 8.2). A range is half open and wins over coverage; coverage is inclusive
 * (`bucket ≤ coverage`), except that 0 is nobody.
 */
export function isIncluded(rollout: PreparedRollout, user: User): boolean {
  if (rollout.range === undefined && rollout.coverage === 0) return false;
  const fallback = user.stickyBucketAssignmentDocs === undefined ? undefined : rollout.fallback;
  const value = hashValueOf(user.attributes, hashAttributeOf(user.attributes, rollout.attribute, fallback));
  if (value === '' || rollout.hash === null) return false;
  const bucket = bucketOf(rollout.hash, textOf(value));
  return rollout.range === undefined ? bucket <= rollout.coverage : inRange(bucket, rollout.range);
}
