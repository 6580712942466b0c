import {
  type Condition,
  conditionOperators,
  isOperatorObject,
  type JsonValue,
  logicalOperators,
} from '@halyard/evaluation';
import {
  invalid,
  judgeRegularExpression,
  quoted,
  quotedList,
  type RegularExpressionVerdict,
} from '../platform/index.ts';
import { nestedGroups } from './condition-groups.ts';
import { isList, isObject } from './json-values.ts';

/** Deep enough for anything a person writes, and far from what could exhaust a stack, in SDKs too. */
const deepest = 32;
/** Each is judged when it is written, which takes time. */
const mostExpressions = 50;

/** Finds a saved group that a request may name; null: it may name none of that id. */
export type FindGroup = (id: string) => { readonly type: 'condition' | 'list' } | null;

/**
 * Reads a condition that a request brings.
 *
 * @param place what the condition belongs to, for the message
 * @param findGroup the saved groups that it may name; null: it is not about users, and may name none
 * @returns null where it targets everyone
 * @throws Refusal (invalid) when it is not JSON, not of the shape of a condition, names groups that it may not, or could do harm
 */
export function readCondition(text: string, place: string, findGroup: FindGroup | null = null): Condition | null {
  if (text.trim() === '') return null;
  const condition = parsed(text, place);
  if (!isObject(condition))
    throw invalid(`The condition of ${place} must be a JSON object, such as {"country": "DE"}.`);
  checkCondition(condition, { place, findGroup, expressions: 0 }, 1);
  return Object.keys(condition).length === 0 ? null : condition;
}

function parsed(text: string, place: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw invalid(`The condition of ${place} is not JSON: ${(error as Error).message}.`);
  }
}

interface Checking {
  readonly place: string;
  readonly findGroup: FindGroup | null;
  expressions: number;
}

/** Walks a condition as the evaluator does: what that reaches, this has seen. */
function checkCondition(
  condition: JsonValue,
  checking: Checking,
  depth: number,
  of: 'users' | 'elements' = 'users',
): void {
  const { place } = checking;
  refuseDepth(depth, place);
  if (!isObject(condition))
    throw invalid(
      `The condition of ${place} holds ${quoted(JSON.stringify(condition))} where a condition is expected.`,
    );
  for (const [key, operand] of Object.entries(condition)) {
    if (key === nestedGroups) {
      if (of === 'elements')
        throw invalid(`The condition of ${place} asks ${nestedGroups} of an element, not of a user.`);
      checkGroups(operand, checking);
      continue;
    }
    if (key.startsWith('$') && !logicalOperators.has(key)) throw unknownOperator(key, logicalOperators, place);
    if (!logicalOperators.has(key)) {
      checkExpected(operand, checking, depth + 1);
    } else if (key === '$not') {
      checkCondition(operand, checking, depth + 1, of);
    } else {
      if (!Array.isArray(operand)) throw invalid(`The condition of ${place} needs a list of conditions after ${key}.`);
      for (const part of operand) checkCondition(part, checking, depth + 1, of);
    }
  }
}

/** Checks what is expected of one attribute: a value to equal, or operators. */
function checkExpected(expected: JsonValue, checking: Checking, depth: number): void {
  refuseDepth(depth, checking.place);
  if (!isOperatorObject(expected)) return checkValue(expected, checking.place, depth);
  for (const [operator, operand] of Object.entries(expected)) checkOperator(operator, operand, checking, depth);
}

function checkOperator(operator: string, operand: JsonValue, checking: Checking, depth: number): void {
  const { place } = checking;
  if (!conditionOperators.has(operator)) throw unknownOperator(operator, conditionOperators, place);
  switch (operator) {
    case '$inGroup':
    case '$notInGroup':
      return checkList(operand, operator, checking);
    case '$regex':
    case '$regexi':
      return checkExpression(operand, operator, checking);
    case '$not':
    case '$size':
      return checkExpected(operand, checking, depth + 1);
    case '$elemMatch':
      return checkElement(operand, checking, depth + 1);
    case '$all':
    case '$alli':
      if (!Array.isArray(operand)) return checkValue(operand, place, depth);
      for (const part of operand) checkExpected(part, checking, depth + 1);
      return;
    case '$in':
    case '$nin':
    case '$ini':
    case '$nini':
      if (!Array.isArray(operand)) throw invalid(`The condition of ${place} needs a list after ${operator}.`);
      return checkValue(operand, place, depth);
    default:
      return checkValue(operand, place, depth);
  }
}

/** An element is matched by operators, or by a condition on its own members, of which saved groups say nothing. */
function checkElement(operand: JsonValue, checking: Checking, depth: number): void {
  if (isOperatorObject(operand)) return checkExpected(operand, checking, depth);
  checkCondition(operand, checking, depth, 'elements');
}

/** The groups that `$savedGroups` lists: users must be in all of them. */
function checkGroups(operand: JsonValue, { place, findGroup }: Checking): void {
  if (!isList(operand) || operand.length === 0 || !operand.every((id) => typeof id === 'string')) {
    throw invalid(`The condition of ${place} needs a list of ids of saved groups after ${nestedGroups}.`);
  }
  const unknown = operand.filter((id) => (findGroup?.(id) ?? null) === null);
  if (unknown.length > 0) throw unknownGroups(unknown, findGroup, place);
}

/** The group whose list of values is asked for a value. */
function checkList(id: JsonValue, operator: string, { place, findGroup }: Checking): void {
  if (typeof id !== 'string') {
    throw invalid(`The condition of ${place} needs the id of a saved group after ${operator}.`);
  }
  const group = findGroup?.(id) ?? null;
  if (group === null) throw unknownGroups([id], findGroup, place);
  if (group.type !== 'list') {
    throw invalid(
      `The condition of ${place} asks ${operator} of the saved group ${quoted(id)}, which is no list but a condition: name it in ${nestedGroups}.`,
    );
  }
}

const unknownGroups = (ids: readonly string[], findGroup: FindGroup | null, place: string) =>
  findGroup === null
    ? invalid(`The condition of ${place} names saved groups, which hold users: only what targets users may name them.`)
    : invalid(`The condition of ${place} names an unknown saved group: ${quotedList(ids)}.`);

function checkExpression(pattern: JsonValue, operator: string, checking: Checking): void {
  const { place } = checking;
  if (typeof pattern !== 'string')
    throw invalid(`The condition of ${place} needs a regular expression as text after ${operator}.`);
  if (++checking.expressions > mostExpressions) {
    throw invalid(`The condition of ${place} holds more than ${mostExpressions} regular expressions.`);
  }
  const verdict = judged(pattern, operator === '$regexi' ? 'i' : '');
  if (verdict.kind === 'safe') return;
  if (verdict.kind === 'invalid') {
    throw invalid(
      `The regular expression ${quoted(pattern)} in the condition of ${place} cannot be read. ${verdict.reason}`,
    );
  }
  throw invalid(
    `The regular expression ${quoted(pattern)} in the condition of ${place} could stall the applications that evaluate it: ${verdict.reason}.`,
  );
}

const unknownOperator = (operator: string, known: ReadonlySet<string>, place: string) =>
  invalid(
    `The condition of ${place} uses the unknown operator ${quoted(operator)}. There are here: ${[...known].join(', ')}.`,
  );

/** What JavaScript cannot read may be meant for SDKs of other languages: then it is judged as JavaScript would write it. */
function judged(pattern: string, flags: 'i' | ''): RegularExpressionVerdict {
  const verdict = judgeRegularExpression(pattern, flags);
  return verdict.kind === 'invalid' ? judgeRegularExpression(inJavaScript(pattern), flags) : verdict;
}

/** Flags in the text, named groups of Python and Go, possessive repetitions and atomic groups. */
const inJavaScript = (pattern: string): string =>
  pattern
    .replaceAll(/\(\?[a-zA-Z]*(-[a-zA-Z]+)?\)/g, '')
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll('(?>', '(?:')
    .replaceAll(/([*+?}])\+/g, '$1');

function refuseDepth(depth: number, place: string): void {
  if (depth > deepest) throw invalid(`The condition of ${place} is nested deeper than ${deepest} levels.`);
}

function checkValue(value: JsonValue, place: string, depth: number): void {
  refuseDepth(depth, place);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    // It would be null in payloads, which those match who have no value at all.
    throw invalid(`The condition of ${place} holds a number that JSON cannot express, such as 1e400.`);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const part of Object.values(value)) checkValue(part, place, depth + 1);
}

/** The attributes that a condition looks at: first steps of its paths, whatever the logic around them. */
export function attributesIn(condition: Condition): Set<string> {
  const found = new Set<string>();
  const visit = (node: JsonValue): void => {
    if (!isObject(node)) return;
    for (const [key, operand] of Object.entries(node)) {
      if (logicalOperators.has(key)) for (const part of [operand].flat()) visit(part);
      else if (key !== nestedGroups) found.add(key.split('.', 1)[0] ?? key);
    }
  };
  visit(condition);
  return found;
}
