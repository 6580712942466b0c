import { type Condition, isOperatorObject, type JsonValue, logicalOperators } from '@halyard/evaluation';
import { isList, isObject } from './json-values.ts';

/** The key of a condition that lists saved groups, of all of which users must be. It is written out before SDKs see it. */
export const nestedGroups = '$savedGroups';

/** Operators whose operand is the id of a saved group, and what they become where its values are written in its place. */
const membership: ReadonlyMap<string, '$in' | '$nin'> = new Map([
  ['$inGroup', '$in'],
  ['$notInGroup', '$nin'],
]);

/** What a value is compared with, in place of a group's id; null: the id stays. */
type ValuesOf = (group: string, path: string) => readonly JsonValue[] | null;

/**
 * Writes the values of groups in the place of their ids, wherever the evaluator would ask for membership: what it compares as
 * a plain value stays, whatever it looks like.
 *
 * @param valuesOf told the group and the path of the user's value that is compared
 */
export function withGroupValues(condition: Condition, valuesOf: ValuesOf): Condition {
  const ofCondition = (node: JsonValue, outer: string | null): JsonValue => {
    if (!isObject(node)) return node;
    return mapEntries(node, (key, operand) => {
      if (key === '$not') return [key, ofCondition(operand, outer)];
      if (logicalOperators.has(key)) {
        return [key, isList(operand) ? operand.map((part) => ofCondition(part, outer)) : operand];
      }
      return [key, ofExpected(operand, outer ?? key)];
    });
  };
  const ofExpected = (expected: JsonValue, path: string): JsonValue => {
    if (!isOperatorObject(expected)) return expected;
    return mapEntries(expected, (operator, operand) => ofOperator(operator, operand, path));
  };
  const ofOperator = (operator: string, operand: JsonValue, path: string): [string, JsonValue] => {
    switch (operator) {
      case '$not':
      case '$size':
        return [operator, ofExpected(operand, path)];
      case '$elemMatch':
        return [operator, isOperatorObject(operand) ? ofExpected(operand, path) : ofCondition(operand, path)];
      case '$all':
      case '$alli':
        return [operator, isList(operand) ? operand.map((part) => ofExpected(part, path)) : operand];
      default: {
        const written = membership.get(operator);
        const values = written === undefined ? null : valuesOf(String(operand), path);
        return written === undefined || values === null ? [operator, operand] : [written, values];
      }
    }
  };
  return ofCondition(condition, null) as Condition;
}

const mapEntries = (object: Condition, map: (key: string, value: JsonValue) => [string, JsonValue]): Condition =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => map(key, value)));

/** The groups that a condition asks for membership in the lists of, as often as it does. */
export function listsAskedBy(condition: Condition): string[] {
  const asked: string[] = [];
  withGroupValues(condition, (group) => {
    asked.push(group);
    return null;
  });
  return asked;
}

/** The groups that a condition nests, as often as it does. */
function groupsNestedIn(condition: JsonValue): string[] {
  if (!isObject(condition)) return [];
  return Object.entries(condition).flatMap(([key, operand]) => {
    if (key === nestedGroups) return [operand].flat().filter((id) => typeof id === 'string');
    return logicalOperators.has(key) ? [operand].flat().flatMap(groupsNestedIn) : [];
  });
}

/** All groups that the text of a condition names, as often as it does. */
export function groupsNamedIn(text: string): string[] {
  // Most conditions name none, and need not be read. The names may be written with escapes.
  if (!text.includes('Group') && !text.includes('\\')) return [];
  const condition = conditionIn(text);
  return condition === null ? [] : [...groupsNestedIn(condition), ...listsAskedBy(condition)];
}

/** The condition that a stored text holds; null: it is none. */
export function conditionIn(text: string): Condition | null {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
