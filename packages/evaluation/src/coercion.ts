/**
 * The JavaScript conversions that conditions and hashing are specified with, made safe for hostile attributes: an
 * object such as `{ "toString": 1 }` makes the native conversions throw.
 */

/**
 * The text of a value: `String(value)`, or `""` where that throws.
 *
 * @example textOf(5) // "5"
 * @example textOf(null) // "null"
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return '';
  }
}

/**
 * The number of a value: `Number(value)` (null → 0, "5" → 5, true → 1), or NaN where that throws.
 *
 * @example numberOf('5') // 5
 */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  try {
    return Number(value);
  } catch {
    return Number.NaN;
  }
}

/** The JSON text of a value, or `undefined` where it has none (a cycle, too deep, a BigInt). */
export function jsonTextOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object that is neither null nor an array. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
