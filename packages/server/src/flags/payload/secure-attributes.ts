import { type Condition, type JsonValue, logicalOperators } from '@halyard/evaluation';
import { settingsOf } from '../../organization/index.ts';
import { digest } from '../../platform/index.ts';
import type { StateReader } from '../../record/index.ts';
import { attributeKind, isList } from '../../targeting/index.ts';

/** Replaces what is expected of secure attributes by hashes. */
export interface SecureAttributes {
  /** Whether what is expected of the user's value at that path goes out as hashes. */
  isHashed(path: string): boolean;
  condition(condition: Condition): Condition;
  /** Values among which the one at that path is looked for. */
  values<Value extends JsonValue>(path: string, values: readonly Value[]): readonly (Value | string)[];
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
  const secure = new Map(
    states
      .all(attributeKind)
      .map(({ id, state }) => [id, state.datatype === 'secureString' || state.datatype === 'secureString[]'] as const),
  );
  if (![...secure.values()].includes(true)) return unchanged;
  /** A path belongs to the attribute that names most of its steps: `user.email` may be secure where `user` is not. */
  const isHashed = (path: string): boolean => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
      const known = secure.get(path.slice(0, end));
      if (known !== undefined) return known;
    }
    return false;
  };
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
        return [key, isHashed(key) ? hashOperand(part) : part];
      }),
    );
  };
  return {
    isHashed,
    condition: (condition) => hashCondition(condition) as Condition,
    values: (path, values) =>
      isHashed(path) ? values.map((value) => (typeof value === 'string' ? hashed(value) : value)) : values,
  };
}
