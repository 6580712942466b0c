import type { Condition, FeatureDefinition, JsonValue } from '@halyard/evaluation';
import type { StateReader } from '../../record/index.ts';
import {
  attributeKind,
  conditionIn,
  deepestNesting,
  isList,
  isObject,
  listsAskedBy,
  nestedGroups,
  numberOf,
  type SavedGroupContent,
  savedGroupKind,
  withGroupValues,
  writtenOutLengths,
} from '../../targeting/index.ts';
import type { RuleBase } from '../feature.ts';
import { groupsOfRule } from '../saved-groups.ts';
import type { PayloadOptions } from './options.ts';
import { secureAttributes } from './secure-attributes.ts';
import { storedCondition } from './stored-condition.ts';

/** Compiles whom rules target: their own conditions, and the saved groups that they name. */
export interface CompiledTargeting {
  /** For the rules of one feature, one after the other. */
  rules(): RuleTargeting;
  /** The values of a list, as SDKs get them; null: the group is none. */
  groupValues(group: string): readonly (string | number)[] | null;
}

/** What SDKs ask of the users of a rule; null: nothing, it is everyone. */
export type RuleTargeting = (rule: Pick<RuleBase, 'condition' | 'savedGroupTargeting'>) => Condition | null;

/**
 * The most characters of saved groups that are written out in one feature. What is written is held to less; groups that grow
 * later must not take all memory, nor may the rules that they make too long reach anybody new.
 */
const longestWrittenOut = 64 * 2 ** 20;

/** The groups in whose conditions another one is written out, from the outside in; `null` stands for the rule. */
type Way = readonly (string | null)[];

/**
 * What stands in for a group that cannot be written out: it lets nobody in, also where it is negated.
 *
 * @param attribute one that no user has
 */
const nobody = (attribute: string, negated = false): Condition =>
  negated ? { $not: { [attribute]: true } } : { [attribute]: true };

export function compiledTargeting(
  states: StateReader,
  options: Pick<PayloadOptions, 'hashSecureAttributes' | 'savedGroupReferences'>,
): CompiledTargeting {
  const secured = secureAttributes(states, options.hashSecureAttributes);
  const find = (id: string): SavedGroupContent | null => states.get(savedGroupKind, id)?.state ?? null;

  const plainValues = remembered((id: string): readonly (string | number)[] => {
    const { attributeKey = '', values = [] } = find(id) ?? {};
    const isNumber = states.get(attributeKind, attributeKey)?.state.datatype === 'number';
    return isNumber ? values.flatMap((value) => numberOf(value) ?? []) : values;
  });
  const groupCondition = remembered((id: string): Condition | null => conditionIn(find(id)?.condition ?? ''));

  /** What a rule asks of users by naming a group among others; null: the group says nothing. */
  const targeted = (id: string, negated: boolean): Condition | null => {
    const group = find(id);
    if (group === null) return null;
    if (group.type === 'list') {
      if (group.useEmptyListGroup !== true && group.values.length === 0) return null;
      return { [group.attributeKey]: { [negated ? '$notInGroup' : '$inGroup']: id } };
    }
    if (group.condition.trim() === '') return null;
    const condition = groupCondition(id);
    if (condition === null) return nobody('__sgInvalid__');
    if (Object.keys(condition).length === 0) return null;
    return writtenOut(negated ? { $not: condition } : condition, false, [id]);
  };

  const entryConditions = ({ matchType, savedGroups }: RuleBase['savedGroupTargeting'][number]): Condition[] => {
    const conditions = savedGroups.map((id) => targeted(id, matchType === 'none')).filter((one) => one !== null);
    return matchType === 'any' && conditions.length > 1 ? [{ $or: conditions }] : conditions;
  };

  /** What a condition asks of users by nesting a group. */
  const nested = (id: string, negated: boolean, way: Way): Condition => {
    const group = find(id);
    if (way.length >= deepestNesting) return nobody('__sgMaxDepth__', negated);
    if (way.includes(id)) return nobody('__sgCycle__', negated);
    if (group === null) return nobody('__sgUnknown__', negated);
    if (group.type === 'list') return { [group.attributeKey]: { $inGroup: id } };
    const condition = groupCondition(id);
    if (condition === null || Object.keys(condition).length === 0) return nobody('__sgInvalid__', negated);
    return writtenOut(condition, negated, [...way, id]);
  };

  /** A condition with what the groups that it nests ask of users in their place. */
  const writtenOut = (condition: Condition, negated: boolean, way: Way): Condition => {
    const { [nestedGroups]: groups, ...rest } = condition;
    const written = Object.fromEntries(
      Object.entries(rest).map(([key, operand]) => [key, writtenOperand(key, operand, negated, way)]),
    );
    if (groups === undefined) return written;
    const ids = [groups].flat();
    const conditions = ids.map((id) =>
      typeof id === 'string' ? nested(id, negated, way) : nobody('__sgInvalid__', negated),
    );
    return joined(written, conditions);
  };
  const writtenOperand = (key: string, operand: JsonValue, negated: boolean, way: Way): JsonValue => {
    if (key === '$not') return isObject(operand) ? writtenOut(operand, !negated, way) : operand;
    if (key !== '$and' && key !== '$or' && key !== '$nor') return operand;
    const inside = key === '$nor' ? !negated : negated;
    return isList(operand) ? operand.map((part) => (isObject(part) ? writtenOut(part, inside, way) : part)) : operand;
  };

  /** Null: the id stays, for SDKs that get the values of groups beside the features. */
  const valuesInPlace = (id: string, path: string): readonly JsonValue[] | null => {
    const asHashed = secured.isHashed(find(id)?.attributeKey ?? path) === secured.isHashed(path);
    return options.savedGroupReferences && asHashed ? null : plainValues(id);
  };

  const conditionOf: RuleTargeting = ({ condition, savedGroupTargeting }) => {
    const own = condition.trim() === '' ? {} : writtenOut(storedCondition(condition), false, [null]);
    const conditions = [own, ...savedGroupTargeting.flatMap(entryConditions)].filter(
      (one) => Object.keys(one).length > 0,
    );
    const [first] = conditions;
    if (first === undefined) return null;
    const whole = conditions.length === 1 ? first : { $and: conditions };
    return secured.condition(withGroupValues(whole, valuesInPlace));
  };

  const lengthOf = writtenOutLengths(find, !options.savedGroupReferences);
  return {
    rules() {
      let room = longestWrittenOut;
      return (rule) => {
        for (const group of groupsOfRule(rule)) room -= lengthOf(group);
        return room < 0 ? nobody('__sgTooLong__') : conditionOf(rule);
      };
    },
    groupValues(id) {
      const group = find(id);
      return group?.type === 'list' ? secured.values(group.attributeKey, plainValues(id)) : null;
    },
  };
}

/** The groups whose values a definition asks for. */
export const listsUsedBy = ({ rules = [] }: FeatureDefinition): Set<string> =>
  new Set(rules.flatMap((rule) => ('condition' in rule ? listsAskedBy(rule.condition ?? {}) : [])));

/** A condition with others that must hold as well: one is merged into it, several are listed after `$and`. */
function joined({ $and: before, ...rest }: Condition, others: readonly Condition[]): Condition {
  const all = [...(before === undefined ? [] : isList(before) ? before : [{ $and: before }]), ...others.flatMap(parts)];
  const [only] = all;
  if (only === undefined) return rest;
  const fits = all.length === 1 && isObject(only) && Object.keys(only).every((key) => !Object.hasOwn(rest, key));
  return fits ? { ...rest, ...only } : { ...rest, $and: all };
}

/** The conditions of which another one consists, where it says nothing but that they must all hold. */
function parts(condition: Condition): readonly JsonValue[] {
  const { $and: all } = condition;
  return all !== undefined && isList(all) && Object.keys(condition).length === 1 ? all : [condition];
}

/** Each is worked out once. */
function remembered<Result>(work: (id: string) => Result): (id: string) => Result {
  const known = new Map<string, Result>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const fresh = work(id);
    known.set(id, fresh);
    return fresh;
  };
}
