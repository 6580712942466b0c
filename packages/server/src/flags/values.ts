import type { FeatureValueType } from '@halyard/contract';
import type { JsonValue } from '@halyard/evaluation';
import JSON5 from 'json5';
import { invalid, quoted } from '../platform/index.ts';
import { isObject } from '../targeting/index.ts';

const deepest = 64;

/**
 * Checks a value, which is always text, against the type of its feature, and brings it into the form that is stored.
 *
 * @param name what the message calls the value
 * @throws Refusal (invalid) when it is no value of the type
 */
export function normalValue(type: FeatureValueType, text: string, name: string): string {
  switch (type) {
    case 'boolean':
      return text === '' || text === 'false' ? 'false' : 'true';
    case 'number':
      if (!/^-?[0-9]+(\.[0-9]+)?$/.test(text)) {
        throw invalid(`${name} must be a number written in digits, such as -12.5, not ${quoted(text)}.`);
      }
      if (!Number.isFinite(Number(text))) {
        throw invalid(`${name} is a number too large for JSON, which ends at about 1.8e308: ${quoted(text)}.`);
      }
      return text;
    case 'string':
      return text;
    case 'json':
      return normalJson(text, name);
  }
}

function normalJson(text: string, name: string): string {
  const strict = tryParse(JSON.parse, text);
  const value = strict ?? tryParse(JSON5.parse, text);
  if (value === undefined) throw invalid(`${name} is not JSON: ${quoted(text)}.`);
  if (isNestedBeyond(deepest, value.parsed)) throw invalid(`${name} is nested deeper than ${deepest} levels.`);
  if (!holdsOnlyFinite(value.parsed)) {
    throw invalid(`${name} holds a number that JSON cannot express, such as 1e400, NaN or Infinity.`);
  }
  refuseConfigReference(value.parsed, name);
  return strict === undefined ? JSON.stringify(value.parsed) : text;
}

function tryParse(parse: (text: string) => unknown, text: string): { parsed: unknown } | undefined {
  try {
    return { parsed: parse(text) };
  } catch {
    return undefined;
  }
}

function isNestedBeyond(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isNestedBeyond(levels - 1, member));
}

function holdsOnlyFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(holdsOnlyFinite);
}

/** Configs are referred to by fields of their own, never from inside a value. */
function refuseConfigReference(value: unknown, name: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const bases: unknown[] = key === '$extends' && Array.isArray(member) ? member : [];
    if (bases.some((base) => typeof base === 'string' && base.startsWith('@config:'))) {
      throw invalid(
        `${name} extends a config in its text. Name the config in "baseConfig" or the rule's "config" instead.`,
      );
    }
    refuseConfigReference(member, name);
  }
}

/** A stored value as SDKs get it. What cannot be read, in rows of old, becomes 0 or null. */
export function typedValue(type: FeatureValueType, text: string): JsonValue {
  switch (type) {
    case 'boolean':
      return text !== 'false';
    case 'number': {
      const number = Number.parseFloat(text);
      return Number.isFinite(number) ? number : 0;
    }
    case 'string':
      return text;
    case 'json':
      return (tryParse(JSON.parse, text)?.parsed ?? null) as JsonValue;
  }
}

const mostKept = 20;

/** Reads stored values and keeps the latest: for whoever looks at one feature in one environment after the other. */
export function valueReader(): typeof typedValue {
  const read = new Map<FeatureValueType, Map<string, JsonValue>>();
  return (type, text) => {
    const ofType = read.get(type) ?? new Map<string, JsonValue>();
    read.set(type, ofType);
    const known = ofType.get(text);
    if (known !== undefined) return known;
    const value = typedValue(type, text);
    if (ofType.size >= mostKept) ofType.clear();
    ofType.set(text, value);
    return value;
  };
}

/** A sparse rule's value laid over the default value. Where one of the two is no object, the rule's value stands alone. */
export function overlaid(base: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(base) || !isObject(patch)) return patch;
  const kept = Object.entries(patch).filter(([key]) => key !== '__proto__');
  return { ...base, ...Object.fromEntries(kept) };
}
