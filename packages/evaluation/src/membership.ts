import type { JsonValue } from './payload.ts';
import type { Predicate } from './predicate.ts';

/** From this many entries on a Set is faster than going through the list. */
const SET_SIZE = 9;

/**
 * Whether a value is in a list, strictly (`1` is not `"1"`); of an array, whether any element is.
 *
 * @example isIn(['a', 'b'])(['x', 'a']) // true
 */
export function isIn(list: readonly JsonValue[]): Predicate {
  const contains = containedIn(list);
  return (value) => (Array.isArray(value) ? value.some(contains) : contains(value));
}

/** As `isIn`, with strings compared in lower case. */
export function isInIgnoringCase(list: readonly JsonValue[]): Predicate {
  const contains = containedIn(list.map(lowered));
  return (value) =>
    Array.isArray(value) ? value.some((element) => contains(lowered(element))) : contains(lowered(value));
}

function containedIn(list: readonly unknown[]): Predicate {
  if (list.length < SET_SIZE) return (value) => list.includes(value);
  const set = new Set(list);
  return (value) => set.has(value);
}

function lowered<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
