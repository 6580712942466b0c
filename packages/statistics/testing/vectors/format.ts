/** The schema of the vector files, as far as every group has it. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface VectorCase {
  readonly id: string;
  readonly kind: string;
  readonly tags: readonly string[];
  readonly input: Json;
  readonly expected: Json;
  /** Absolute tolerances of single numbers, by their path. */
  readonly tolerance?: Readonly<Record<string, number>>;
  /** Rounding alone decides the outcome: it is enough that there is one. */
  readonly fragile?: boolean;
}

export interface VectorFile {
  readonly group: string;
  readonly cases: readonly VectorCase[];
}

const special: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity };

/** What JSON cannot say stands in strings. */
export function numberIn(value: unknown): unknown {
  return typeof value === 'string' && Object.hasOwn(special, value) ? special[value] : value;
}

/** The same with the strings that stand for numbers as numbers. */
export function withNumbers(value: Json): unknown {
  if (Array.isArray(value)) return value.map(withNumbers);
  if (value === null || typeof value !== 'object') return numberIn(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNumbers(inner)]));
}

/** The other way: every number that JSON cannot say as a string. */
export function withStrings(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(withStrings);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withStrings(inner)]));
}
