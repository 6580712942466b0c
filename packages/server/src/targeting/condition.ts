import {
  type Condition,
  conditionOperators,
  isOperatorObject,
  type JsonValue,
  logicalOperators,
} from '@halyard/evaluation';
import { invalid, judgeRegularExpression, quoted, type RegularExpressionVerdict } from '../platform/index.ts';

/** Deep enough for anything a person writes, and far from what could exhaust a stack, in SDKs too. */
const deepest = 32;
/** Each is judged when it is written, which takes time. */
const mostExpressions = 50;

/**
 * Reads a condition that a request brings.
 *
 * @param place what the condition belongs to, for the message
 * @returns null where it targets everyone
 * @throws Refusal (invalid) when it is not JSON, not of the shape of a condition, or could do harm
 */
export function readCondition(text: string, place: string): Condition | null {
  if (text.trim() === '') return null;
  const condition = parsed(text, place);
  if (!isObject(condition))
    throw invalid(`The condition of ${place} must be a JSON object, such as {"country": "DE"}.`);
  checkCondition(condition, { place, expressions: 0 }, 1);
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
  expressions: number;
}

const isObject = (value: JsonValue): value is Condition =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Walks a condition as the evaluator does: what that reaches, this has seen. */
function checkCondition(condition: JsonValue, checking: Checking, depth: number): void {
  const { place } = checking;
  refuseDepth(depth, place);
  if (!isObject(condition))
    throw invalid(
      `The condition of ${place} holds ${quoted(JSON.stringify(condition))} where a condition is expected.`,
    );
  for (const [key, operand] of Object.entries(condition)) {
    if (key === '$savedGroups') throw unknownGroups([operand].flat(), place);
    if (key.startsWith('$') && !logicalOperators.has(key)) throw unknownOperator(key, logicalOperators, place);
    if (!logicalOperators.has(key)) {
      checkExpected(operand, checking, depth + 1);
    } else if (key === '$not') {
      checkCondition(operand, checking, depth + 1);
    } else {
      if (!Array.isArray(operand)) throw invalid(`The condition of ${place} needs a list of conditions after ${key}.`);
      for (const part of operand) checkCondition(part, checking, depth + 1);
    }
  }
}

/** Checks what is expected of one attribute: a value to equal, or operators. */
function checkExpected(expected: JsonValue, checking: Checking, depth: number): void {
  refuseDepth(depth, checking.place);
  if (!isOperatorObject(expected)) return refuseDeepValue(expected, checking.place, depth);
  for (const [operator, operand] of Object.entries(expected)) checkOperator(operator, operand, checking, depth);
}

function checkOperator(operator: string, operand: JsonValue, checking: Checking, depth: number): void {
  const { place } = checking;
  if (!conditionOperators.has(operator)) throw unknownOperator(operator, conditionOperators, place);
  switch (operator) {
    case '$inGroup':
    case '$notInGroup':
      throw unknownGroups([operand], place);
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
      if (!Array.isArray(operand)) return refuseDeepValue(operand, place, depth);
      for (const part of operand) checkExpected(part, checking, depth + 1);
      return;
    case '$in':
    case '$nin':
    case '$ini':
    case '$nini':
      if (!Array.isArray(operand)) throw invalid(`The condition of ${place} needs a list after ${operator}.`);
      return refuseDeepValue(operand, place, depth);
    default:
      return refuseDeepValue(operand, place, depth);
  }
}

/** An element is matched by operators, or by a condition on its own members. */
function checkElement(operand: JsonValue, checking: Checking, depth: number): void {
  if (isOperatorObject(operand)) checkExpected(operand, checking, depth);
  else checkCondition(operand, checking, depth);
}

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

const unknownGroups = (ids: readonly JsonValue[], place: string) =>
  invalid(
    `The condition of ${place} names an unknown saved group: ${ids
      .map((id) => quoted(String(id)))
      .join(', ')
      .slice(0, 500)}.`,
  );

function refuseDepth(depth: number, place: string): void {
  if (depth > deepest) throw invalid(`The condition of ${place} is nested deeper than ${deepest} levels.`);
}

function refuseDeepValue(value: JsonValue, place: string, depth: number): void {
  refuseDepth(depth, place);
  if (typeof value !== 'object' || value === null) return;
  for (const part of Object.values(value)) refuseDeepValue(part, place, depth + 1);
}

/** The attributes that a condition looks at: first steps of its paths, whatever the logic around them. */
export function attributesIn(condition: Condition): Set<string> {
  const found = new Set<string>();
  const visit = (node: JsonValue): void => {
    if (!isObject(node)) return;
    for (const [key, operand] of Object.entries(node)) {
      if (logicalOperators.has(key)) for (const part of [operand].flat()) visit(part);
      else if (key !== '$savedGroups') found.add(key.split('.', 1)[0] ?? key);
    }
  };
  visit(condition);
  return found;
}
