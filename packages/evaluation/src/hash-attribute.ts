import type { Attributes } from './user.ts';

/** The attribute that is hashed when nothing names another. */
export const DEFAULT_HASH_ATTRIBUTE = 'id';

/**
 * The value to hash, `""` when it is empty. Everything falsy is empty: a missing attribute, `""`, 0, NaN, `null`,
 * `false`.
 *
 * @example hashValueOf({ id: 0 }, 'id') // ""
 */
export function hashValueOf(attributes: Attributes, attribute: string): unknown {
  return attributes[attribute] || '';
}

/**
 * The name of the attribute to hash: the fallback where the first is empty and the fallback is not.
 *
 * @example hashAttributeOf({ deviceId: 'd1' }, 'id', 'deviceId') // "deviceId"
 */
export function hashAttributeOf(attributes: Attributes, attribute: string, fallback: string | undefined): string {
  return fallback !== undefined && !attributes[attribute] && attributes[fallback] ? fallback : attribute;
}
