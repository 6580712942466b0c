/**
 * One step into a value: the member of that name, own or inherited, or `null` where there is none. Only objects and
 * arrays have members here, so a path through text, a number or a function ends in `null`.
 *
 * @example step({ country: 'DE' }, 'country') // "DE"
 */
export function step(subject: unknown, name: string): unknown {
  if (typeof subject !== 'object' || subject === null) return null;
  const value = (subject as Readonly<Record<string, unknown>>)[name];
  return value === undefined && !(name in subject) ? null : value;
}

/**
 * The value at a dot path, or `null` where a step is missing (flags 8.3).
 *
 * @example valueAt({ pets: { dog: 'fido' } }, ['pets', 'dog']) // "fido"
 */
export function valueAt(subject: unknown, steps: readonly string[]): unknown {
  let value = subject;
  for (const name of steps) value = step(value, name);
  return value;
}
