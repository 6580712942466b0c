import { chooseVariation } from './buckets.ts';
import { textOf } from './coercion.ts';
import { bucketOf, type SeededHash, seedHash } from './hash.ts';
import { DEFAULT_HASH_ATTRIBUTE, hashValueOf } from './hash-attribute.ts';
import type { Filter, VariationRange } from './payload.ts';
import type { Attributes } from './user.ts';

/** A filter prepared for many users; `hash` is null for an unknown hash version, which nobody passes. */
export interface PreparedFilter {
  readonly attribute: string;
  readonly hash: SeededHash | null;
  readonly ranges: readonly VariationRange[];
}

/** Prepares the slices of multi-range namespaces of a rule or experiment. */
export function prepareFilters(filters: readonly Filter[]): PreparedFilter[] {
  return filters.map((filter) => ({
    attribute: filter.attribute || DEFAULT_HASH_ATTRIBUTE,
    hash: seedHash(filter.seed, filter.hashVersion || 2),
    ranges: filter.ranges,
  }));
}

/** Whether the user lies in one of the ranges of every filter (flags 8.2). A user without the attribute does not. */
export function passesFilters(filters: readonly PreparedFilter[], attributes: Attributes): boolean {
  for (const filter of filters) {
    const value = hashValueOf(attributes, filter.attribute);
    if (value === '' || filter.hash === null) return false;
    if (chooseVariation(bucketOf(filter.hash, textOf(value)), filter.ranges) < 0) return false;
  }
  return true;
}
