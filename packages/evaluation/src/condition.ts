import { step, valueAt } from './attribute-path.ts';
import { isPlainObject, textOf } from './coercion.ts';
import { atLeast, atMost, compares, exists, hasType, lessThan, moreThan } from './comparison.ts';
import { equals } from './equality.ts';
import { isIn, isInIgnoringCase } from './membership.ts';
import type { Condition, JsonObject, JsonValue, SavedGroups } from './payload.ts';
import { all, any, never, not, type Predicate } from './predicate.ts';
import { matches, nativeRegularExpression, type RegularExpressionFactory } from './regular-expression.ts';
import type { Attributes } from './user.ts';
import { comparesVersion } from './version-string.ts';

/**
 * How deep conditions and operator objects may be nested in each other. A deeper condition holds for nobody. The
 * service accepts far less; the limit keeps a hostile payload from exhausting the stack.
 */
export const MAX_CONDITION_DEPTH = 200;

/** What conditions are compiled with. */
export interface ConditionOptions {
  readonly regularExpression?: RegularExpressionFactory;
}

/** Everything the conditions of one payload share. */
export interface ConditionScope {
  readonly savedGroups: SavedGroups;
  readonly regularExpression: RegularExpressionFactory;
  /** Membership by group id: a group that many rules name is turned into a Set once. */
  readonly groups: Map<string, Predicate>;
}

/** Makes the scope for the conditions of one payload. */
export function conditionScope(savedGroups: SavedGroups = {}, options: ConditionOptions = {}): ConditionScope {
  return {
    savedGroups,
    regularExpression: options.regularExpression ?? nativeRegularExpression,
    groups: new Map(),
  };
}

/**
 * Compiles a condition into a predicate over attributes (flags 8.3). A malformed condition (a logical operator
 * without its list, nesting beyond `MAX_CONDITION_DEPTH`) holds for nobody, also inside of a negation: an audience
 * may come out too small by a mistake, never too large.
 *
 * @example compileCondition({ country: { $in: ['DE'] } })({ country: 'DE' }) // true
 */
export function compileCondition(
  condition: Condition,
  savedGroups: SavedGroups = {},
  options: ConditionOptions = {},
): Predicate {
  return compileConditionIn(conditionScope(savedGroups, options), condition);
}

/** `compileCondition` within the scope of a payload. */
export function compileConditionIn(scope: ConditionScope, condition: Condition): Predicate {
  try {
    return conditionPredicate(scope, condition, 0);
  } catch (error) {
    if (error instanceof MalformedCondition) return never;
    throw error;
  }
}

/**
 * Whether a condition holds for the attributes. Compile a condition that is asked more than once.
 *
 * @example evaluateCondition({ value: true }, { value: true }) // true
 */
export function evaluateCondition(
  attributes: Attributes,
  condition: Condition,
  savedGroups: SavedGroups = {},
  options: ConditionOptions = {},
): boolean {
  return compileCondition(condition, savedGroups, options)(attributes);
}

/** Thrown out of the compilation of a condition, however deep, to make the whole of it hold for nobody. */
class MalformedCondition extends Error {}

function conditionPredicate(scope: ConditionScope, condition: JsonValue | undefined, depth: number): Predicate {
  if (!isPlainObject(condition)) throw new MalformedCondition('A condition must be an object');
  if (depth >= MAX_CONDITION_DEPTH) throw new MalformedCondition('A condition is nested too deep');
  return all(Object.entries(condition).map(([key, operand]) => entryPredicate(scope, key, operand, depth + 1)));
}

function entryPredicate(scope: ConditionScope, key: string, operand: JsonValue, depth: number): Predicate {
  const join = LOGIC.get(key);
  return join === undefined
    ? attributePredicate(key, valuePredicate(scope, operand, depth))
    : join(operand, scope, depth);
}

/** An empty `$or` holds. */
function anyCondition(scope: ConditionScope, operand: JsonValue, depth: number): Predicate {
  const conditions = conditionList(scope, operand, depth);
  return conditions.length === 0 ? all([]) : any(conditions);
}

function conditionList(scope: ConditionScope, operand: JsonValue, depth: number): Predicate[] {
  if (!Array.isArray(operand)) throw new MalformedCondition('A logical operator needs a list of conditions');
  return operand.map((condition: JsonValue) => conditionPredicate(scope, condition, depth));
}

function attributePredicate(path: string, test: Predicate): Predicate {
  if (!path.includes('.')) return (attributes) => test(step(attributes, path));
  const steps = path.split('.');
  return (attributes) => test(valueAt(attributes, steps));
}

function valuePredicate(scope: ConditionScope, operand: JsonValue, depth: number): Predicate {
  if (!isOperatorObject(operand)) return equals(operand);
  if (depth >= MAX_CONDITION_DEPTH) throw new MalformedCondition('A condition is nested too deep');
  return all(
    Object.entries(operand).map(([operator, argument]) => {
      const compile = OPERATORS.get(operator);
      return compile === undefined ? never : compile(argument, scope, depth + 1);
    }),
  );
}

/** An object whose keys all start with `$`: operators. One that mixes them with plain keys is a plain value. */
export function isOperatorObject(operand: JsonValue): operand is JsonObject {
  if (!isPlainObject(operand)) return false;
  const keys = Object.keys(operand);
  return keys.length > 0 && keys.every((key) => key.startsWith('$'));
}

type PartCompiler = (operand: JsonValue, scope: ConditionScope, depth: number) => Predicate;

const LOGIC: ReadonlyMap<string, PartCompiler> = new Map<string, PartCompiler>([
  ['$or', (operand, scope, depth) => anyCondition(scope, operand, depth)],
  ['$nor', (operand, scope, depth) => not(anyCondition(scope, operand, depth))],
  ['$and', (operand, scope, depth) => all(conditionList(scope, operand, depth))],
  ['$not', (operand, scope, depth) => not(conditionPredicate(scope, operand, depth))],
]);

const OPERATORS: ReadonlyMap<string, PartCompiler> = new Map<string, PartCompiler>([
  ['$eq', (operand) => (value) => value === operand],
  ['$ne', (operand) => (value) => value !== operand],
  ['$lt', (operand) => compares(lessThan, operand)],
  ['$lte', (operand) => compares(atMost, operand)],
  ['$gt', (operand) => compares(moreThan, operand)],
  ['$gte', (operand) => compares(atLeast, operand)],
  ['$veq', (operand) => comparesVersion((order) => order === 0, operand)],
  ['$vne', (operand) => comparesVersion((order) => order !== 0, operand)],
  ['$vlt', (operand) => comparesVersion((order) => order < 0, operand)],
  ['$vlte', (operand) => comparesVersion((order) => order <= 0, operand)],
  ['$vgt', (operand) => comparesVersion((order) => order > 0, operand)],
  ['$vgte', (operand) => comparesVersion((order) => order >= 0, operand)],
  ['$exists', exists],
  ['$type', hasType],
  // A membership operator without its list is false, and so is its negation.
  ['$in', (operand) => (isList(operand) ? isIn(operand) : never)],
  ['$nin', (operand) => (isList(operand) ? not(isIn(operand)) : never)],
  ['$ini', (operand) => (isList(operand) ? isInIgnoringCase(operand) : never)],
  ['$nini', (operand) => (isList(operand) ? not(isInIgnoringCase(operand)) : never)],
  ['$inGroup', (operand, scope) => isInGroup(scope, operand)],
  ['$notInGroup', (operand, scope) => not(isInGroup(scope, operand))],
  ['$all', (operand, scope, depth) => containsAll(operand, (entry) => valuePredicate(scope, entry, depth))],
  [
    '$alli',
    (operand, scope, depth) =>
      containsAll(operand, (entry) =>
        typeof entry === 'string' ? equals(entry, true) : valuePredicate(scope, entry, depth),
      ),
  ],
  ['$elemMatch', elementMatches],
  ['$size', (operand, scope, depth) => hasSize(valuePredicate(scope, operand, depth))],
  ['$regex', (operand, scope) => matches(operand, false, scope.regularExpression)],
  ['$regexi', (operand, scope) => matches(operand, true, scope.regularExpression)],
  ['$not', (operand, scope, depth) => not(valuePredicate(scope, operand, depth))],
]);

/** The keys of a condition that join conditions; every other key is the path of an attribute. */
export const logicalOperators: ReadonlySet<string> = new Set(LOGIC.keys());

/** The operators that test a value. */
export const conditionOperators: ReadonlySet<string> = new Set(OPERATORS.keys());

function isList(operand: JsonValue): operand is readonly JsonValue[] {
  return Array.isArray(operand);
}

/** An unknown group has no members. */
function isInGroup(scope: ConditionScope, operand: JsonValue): Predicate {
  const groupId = textOf(operand);
  let membership = scope.groups.get(groupId);
  if (membership === undefined) {
    const values = Object.hasOwn(scope.savedGroups, groupId) ? scope.savedGroups[groupId] : undefined;
    membership = Array.isArray(values) ? isIn(values) : never;
    scope.groups.set(groupId, membership);
  }
  return membership;
}

/** Each entry of the operand must match some element. */
function containsAll(operand: JsonValue, compileEntry: (entry: JsonValue) => Predicate): Predicate {
  if (!isList(operand)) return never;
  const entries = operand.map(compileEntry);
  return (value) => Array.isArray(value) && entries.every((matchesEntry) => value.some(matchesEntry));
}

/** Elements such as 0, `""` and null never match. */
function elementMatches(operand: JsonValue, scope: ConditionScope, depth: number): Predicate {
  const matchesElement = isOperatorObject(operand)
    ? valuePredicate(scope, operand, depth)
    : conditionPredicate(scope, operand, depth);
  return (value) => Array.isArray(value) && value.some((element) => Boolean(element) && matchesElement(element));
}

function hasSize(test: Predicate): Predicate {
  return (value) => Array.isArray(value) && test(value.length);
}
