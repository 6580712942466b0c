import type { JsonValue } from './payload.ts';
import type { Predicate } from './predicate.ts';

/** A relational operator of JavaScript: two strings by code unit, otherwise numeric with null → 0; NaN never holds. */
export type Comparison = (left: string, right: string) => boolean;

/** `<` */
export const lessThan: Comparison = (left, right) => left < right;
/** `<=` */
export const atMost: Comparison = (left, right) => left <= right;
/** `>` */
export const moreThan: Comparison = (left, right) => left > right;
/** `>=` */
export const atLeast: Comparison = (left, right) => left >= right;

/**
 * Compares a value with an operand as JavaScript does.
 *
 * @example compares(moreThan, 5)('8') // true
 */
export function compares(comparison: Comparison, operand: JsonValue): Predicate {
  // The operators take any operands at run time; TypeScript only lets equal types meet.
  const right = operand as string;
  return (value) => {
    try {
      return comparison(value as string, right);
    } catch {
      // Objects without a usable conversion to a primitive.
      return false;
    }
  };
}

/** Whether a value exists (truthy operand), or is null or undefined (falsy operand). */
export function exists(operand: JsonValue): Predicate {
  return operand ? (value) => value !== null && value !== undefined : (value) => value === null || value === undefined;
}

/** Whether a value is of the named type; a missing attribute is `null`. */
export function hasType(operand: JsonValue): Predicate {
  return (value) => typeOf(value) === operand;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' || type === 'undefined'
    ? type
    : 'unknown';
}
