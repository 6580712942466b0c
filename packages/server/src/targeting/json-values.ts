import type { Condition, JsonValue } from '@halyard/evaluation';

export const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** A condition is any object: which keys and operands make sense is another question. */
export const isObject = (value: JsonValue): value is Condition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
