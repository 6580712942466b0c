import { type Condition, type JsonValue, logicalOperators } from '@halyard/evaluation';
import { settingsOf } from '../../organization/index.ts';
import { digest } from '../../platform/index.ts';
import type { StateReader } from '../../record/index.ts';
import { attributeKind } from '../../targeting/index.ts';

/** Replaces what conditions expect of secure attributes by hashes. */
export type SecureAttributes = (condition: Condition) => Condition;

const unchanged: SecureAttributes = (condition) => condition;

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

  const hashOperand = (operand: JsonValue): JsonValue => {
    if (typeof operand === 'string') return hashed(operand);
    if (Array.isArray(operand)) return operand.map(hashOperand);
    if (typeof operand !== 'object' || operand === null) return operand;
    return Object.fromEntries(
      Object.entries(operand).map(([key, part]) => [key, notValues.has(key) ? part : hashOperand(part)]),
    );
  };
  const hashCondition = (condition: JsonValue): JsonValue => {
    if (Array.isArray(condition)) return condition.map(hashCondition);
    if (typeof condition !== 'object' || condition === null) return condition;
    return Object.fromEntries(
      Object.entries(condition).map(([key, part]) => {
        if (logicalOperators.has(key)) return [key, hashCondition(part)];
        return [key, secure.has(key.split('.', 1)[0] ?? key) ? hashOperand(part) : part];
      }),
    );
  };
  return (condition) => hashCondition(condition) as Condition;
}
