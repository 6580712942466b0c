import { inRange } from './buckets.ts';
import { bucketOf, type SeededHash, seedHash } from './hash.ts';
import type { NamespaceSlice, VariationRange } from './payload.ts';

/** A namespace slice prepared for many users. */
export interface PreparedNamespace {
  readonly hash: SeededHash;
  readonly range: VariationRange;
}

/** Prepares a slice of a legacy namespace; these hash with version 1 under the seed `__<namespace>`. */
export function prepareNamespace([namespace, from, to]: NamespaceSlice): PreparedNamespace | null {
  const hash = seedHash(`__${namespace}`, 1);
  return hash === null ? null : { hash, range: [from, to] };
}

/** Whether the value falls into a prepared slice. */
export function isInNamespace(namespace: PreparedNamespace, value: string): boolean {
  return inRange(bucketOf(namespace.hash, value), namespace.range);
}

/**
 * Whether a user with this hash value lies in the slice of a legacy namespace (flags 8.2).
 *
 * @example inNamespace('1', ['namespace1', 0.4, 1]) // true
 */
export function inNamespace(value: string, slice: NamespaceSlice): boolean {
  const namespace = prepareNamespace(slice);
  return namespace !== null && isInNamespace(namespace, value);
}
