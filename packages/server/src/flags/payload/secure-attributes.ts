import { type Condition, type JsonValue, logicalOperators } from '@halyard/evaluation';
import { settingsOf } from '../../organization/index.ts';
import { digest } from '../../platform/index.ts';
import type { StateReader } from '../../record/index.ts';
import { attributeKind } from '../../targeting/index.ts';

/** Replaces what is expected of secure attributes by hashes. */
export interface SecureAttributes {
  /** Whether what is expected of the attribute goes out as hashes. */
  isHashed(attribute: string): boolean;
  condition(condition: Condition): Condition;
  /** Values that an attribute is looked for among. */
  values<Value extends JsonValue>(attribute: string, values: readonly Value[]): readonly (Value | string)[];
}

const unchanged: SecureAttributes = {
  isHashed: () => false,
  condition: (condition) => condition,
  values: (_, values) => values,
};

/** Operands that are not values of the attribute: ids of groups, names of types. */
const notValues = new Set(['$inGroup', '$notInGroup', '$type']);

/**
 * SDKs hash the user's values of secure attributes in the same way, SHA-256 of salt and value, so that payloads need not hold
 * the plain ones.
 *
 * @param wanted whether the connection asks for it
 */
export function secureAttributes(states: StateReader, wanted: boolean): SecureAttributes {
  const { secureAttributeSalt: salt } = settingsOf(states);
  if (!wanted || salt === '') return unchanged;
  const secure = new Set(
    states
      .all(attributeKind)
      .filter(({ state }) => state.datatype === 'secureString' || state.datatype === 'secureString[]')
      .map(({ id }) => id),
  );
  if (secure.size === 0) return unchanged;
  const hashed = (text: string) => digest(salt + text).toString('hex');
  // The values of a group stand in many conditions, as one and the same list.
  const lists = new WeakMap<readonly JsonValue[], readonly JsonValue[]>();
  const hashList = (list: readonly JsonValue[]): readonly JsonValue[] => {
    const known = lists.get(list) ?? list.map(hashOperand);
    lists.set(list, known);
    return known;
  };

  const hashOperand = (operand: JsonValue): JsonValue => {
    if (typeof operand === 'string') return hashed(operand);
    if (isList(operand)) return hashList(operand);
    if (typeof operand !== 'object' || operand === null) return operand;
    return Object.fromEntries(
      Object.entries(operand).map(([key, part]) => [key, notValues.has(key) ? part : hashOperand(part)]),
    );
  };
  const hashCondition = (condition: JsonValue): JsonValue => {
    if (isList(condition)) return condition.map(hashCondition);
    if (typeof condition !== 'object' || condition === null) return condition;
    return Object.fromEntries(
      Object.entries(condition).map(([key, part]) => {
        if (logicalOperators.has(key)) return [key, hashCondition(part)];
        return [key, secure.has(key.split('.', 1)[0] ?? key) ? hashOperand(part) : part];
      }),
    );
  };
  return {
    isHashed: (attribute) => secure.has(attribute),
    condition: (condition) => hashCondition(condition) as Condition,
    values: (attribute, values) =>
      secure.has(attribute) ? values.map((value) => (typeof value === 'string' ? hashed(value) : value)) : values,
  };
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
