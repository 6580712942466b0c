import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Condition,
  evaluateCondition,
  type JsonValue,
  logicalOperators,
} from '@halyard/evaluation';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type StatesInput, statesOf } from '../../../testing/flags/states.ts';
import { readerOf } from '../../record/index.ts';
import { numberOf, type SavedGroupContent } from '../../targeting/index.ts';
import type { RuleBase } from '../feature.ts';
import { type CompiledTargeting, compiledTargeting } from './compiled-targeting.ts';

type Groups = Readonly<Record<string, Partial<SavedGroupContent>>>;
type Targeting = RuleBase['savedGroupTargeting'];
type Rule = Pick<RuleBase, 'condition' | 'savedGroupTargeting'>;

const salt = 'salt';
const attributes = {
  id: { datatype: 'string' },
  age: { datatype: 'number' },
  email: { datatype: 'secureString' },
} as const;

const compiled = (
  savedGroups: Groups,
  { references = true, hashed = false, ...input }: StatesInput & { references?: boolean; hashed?: boolean } = {},
): CompiledTargeting => {
  const states = statesOf({ attributes, settings: { secureAttributeSalt: salt }, savedGroups, ...input });
  return compiledTargeting(readerOf(states), { savedGroupReferences: references, hashSecureAttributes: hashed });
};
const targeted = (savedGroups: Groups, savedGroupTargeting: Targeting, condition: object | '' = '') =>
  compiled(savedGroups).rules()({ condition: condition && JSON.stringify(condition), savedGroupTargeting });
const all = (...savedGroups: string[]): Targeting => [{ matchType: 'all', savedGroups }];
const any = (...savedGroups: string[]): Targeting => [{ matchType: 'any', savedGroups }];
const none = (...savedGroups: string[]): Targeting => [{ matchType: 'none', savedGroups }];

const lists = { g1: { values: ['u1'] }, g2: { values: ['u2'] }, g3: { values: ['u3'] } };
const german = { condition: '{"country":"DE"}' };

describe('the saved groups of a rule', () => {
  test('are asked for beside its condition, in order', () => {
    expect(targeted(lists, [...any('g1', 'g2'), ...none('g3')], { country: 'DE' })).toEqual({
      $and: [
        { country: 'DE' },
        { $or: [{ id: { $inGroup: 'g1' } }, { id: { $inGroup: 'g2' } }] },
        { id: { $notInGroup: 'g3' } },
      ],
    });
  });

  test.each<[string, Targeting, object | null]>([
    ['all of them', all('g1', 'g2'), { $and: [{ id: { $inGroup: 'g1' } }, { id: { $inGroup: 'g2' } }] }],
    ['any of one', any('g1'), { id: { $inGroup: 'g1' } }],
    ['none of several', none('g1', 'g2'), { $and: [{ id: { $notInGroup: 'g1' } }, { id: { $notInGroup: 'g2' } }] }],
    ['a condition', all('german'), { country: 'DE' }],
    ['not a condition', none('german'), { $not: { country: 'DE' } }],
    ['a group that does not exist', all('unknown'), null],
    ['one that does and one that does not', any('unknown', 'g1'), { id: { $inGroup: 'g1' } }],
    ['a condition that says nothing', all('empty', 'blank'), null],
    ['no group at all', all(), null],
  ])('may be %s', (_, targeting, condition) => {
    const groups = { ...lists, german, empty: { condition: '{}' }, blank: { condition: ' ' } };
    expect(targeted(groups, targeting)).toEqual(condition);
  });

  test('are not asked for where they are lists of old without values; a new empty list lets nobody in [flags M70]', () => {
    const groups = {
      old: { type: 'list' as const, useEmptyListGroup: false, values: [] },
      filled: { useEmptyListGroup: false, values: ['u1'] },
      fresh: { values: [] },
    };
    expect(targeted(groups, all('old'))).toBeNull();
    expect(targeted(groups, none('old'))).toBeNull();
    expect(targeted(groups, all('filled'))).toEqual({ id: { $inGroup: 'filled' } });
    const condition = targeted(groups, all('fresh')) ?? {};
    expect(condition).toEqual({ id: { $inGroup: 'fresh' } });
    for (const id of ['u1', '', null]) expect(evaluateCondition({ id }, condition, { fresh: [] })).toBe(false);
  });

  test('that cannot be read let nobody in, also where users must not be in them', () => {
    const groups = { broken: { type: 'condition' as const, condition: '{"country"' } };
    for (const targeting of [all('broken'), any('broken'), none('broken')]) {
      expect(evaluateCondition({ country: 'DE' }, targeted(groups, targeting) ?? {})).toBe(false);
    }
  });
});

describe('groups in conditions', () => {
  test.each<[string, object, object]>([
    ['alone', { $savedGroups: ['g1'] }, { id: { $inGroup: 'g1' } }],
    ['several', { $savedGroups: ['g1', 'german'] }, { $and: [{ id: { $inGroup: 'g1' } }, { country: 'DE' }] }],
    ['beside an attribute', { age: 5, $savedGroups: ['german'] }, { age: 5, country: 'DE' }],
    [
      'beside the same attribute',
      { country: 'FR', $savedGroups: ['german'] },
      { country: 'FR', $and: [{ country: 'DE' }] },
    ],
    [
      'beside conditions that are joined already',
      { $and: [{ age: 5 }], $savedGroups: ['german'] },
      { $and: [{ age: 5 }, { country: 'DE' }] },
    ],
    [
      'that are joined conditions themselves',
      { age: 5, $savedGroups: ['both'] },
      { age: 5, $and: [{ a: 1 }, { b: 2 }] },
    ],
    ['in others', { $savedGroups: ['nesting'] }, { $or: [{ id: { $inGroup: 'g2' } }, { country: 'DE' }] }],
    [
      'below every logic',
      { $not: { $or: [{ $savedGroups: ['g1'] }] } },
      { $not: { $or: [{ id: { $inGroup: 'g1' } }] } },
    ],
  ])('are written out: %s', (_, condition, written) => {
    const groups = {
      ...lists,
      german,
      both: { condition: '{"$and":[{"a":1},{"b":2}]}' },
      nesting: { condition: '{"$or":[{"$savedGroups":["g2"]},{"$savedGroups":["german"]}]}' },
    };
    expect(targeted(groups, [], condition)).toEqual(written);
  });

  test.each<[string, Groups, string]>([
    ['go in a circle', { a: nesting('b'), b: nesting('a') }, '__sgCycle__'],
    ['do not exist', { a: nesting('b') }, '__sgUnknown__'],
    ['cannot be read', { a: nesting('b'), b: { condition: 'x' } }, '__sgInvalid__'],
    ['say nothing', { a: nesting('b'), b: { condition: '{}' } }, '__sgInvalid__'],
    ['are named by no id', { a: { condition: '{"$savedGroups":[7]}' } }, '__sgInvalid__'],
  ])('that %s let nobody in, wherever they stand [flags M69]', (_, groups, impossible) => {
    expect(targeted(groups, all('a'))).toEqual({ [impossible]: true });
    expect(targeted(groups, [], { $savedGroups: ['a'] })).toEqual({ [impossible]: true });
    // A condition that never holds must not let everybody in by being negated.
    for (const condition of [
      targeted(groups, none('a')),
      targeted(groups, [], { $not: { $savedGroups: ['a'] } }),
      targeted(groups, [], { $nor: [{ $savedGroups: ['a'] }] }),
      targeted(groups, [], { $not: { $not: { $savedGroups: ['a'] } } }),
    ]) {
      expect([condition, evaluateCondition({ id: 'u1' }, condition ?? {})]).toEqual([condition, false]);
    }
  });

  test('are written out nine deep, and let nobody in from there on', () => {
    const chain = (length: number): Groups => ({
      ...Object.fromEntries(Array.from({ length: length - 1 }, (_, index) => [`c${index}`, nesting(`c${index + 1}`)])),
      [`c${length - 1}`]: german,
    });
    expect(targeted(chain(9), [], { $savedGroups: ['c0'] })).toEqual({ country: 'DE' });
    expect(targeted(chain(10), all('c0'))).toEqual({ country: 'DE' });
    expect(targeted(chain(10), [], { $savedGroups: ['c0'] })).toEqual({ __sgMaxDepth__: true });
    expect(targeted(chain(11), all('c0'))).toEqual({ __sgMaxDepth__: true });
  });

  test('leave alone what the evaluator compares as a plain value', () => {
    const condition = { a: { $eq: { $inGroup: 'g1' } }, b: { $inGroup: 'g1', c: 1 }, d: [{ $inGroup: 'g1' }] };
    const rule = { condition: JSON.stringify(condition), savedGroupTargeting: [] };
    expect(compiled(lists, { references: false }).rules()(rule)).toEqual(condition);
  });
});

describe('groups that have grown very long', () => {
  const long = { values: ['x'.repeat(2 ** 20)] };
  const rule = { condition: '', savedGroupTargeting: [{ matchType: 'none' as const, savedGroups: ['long'] }] };

  test('are written out in a feature up to 64 MiB; the rules after that reach nobody', () => {
    const inPlace = compiled({ long }, { references: false }).rules();
    const conditions = Array.from({ length: 65 }, () => inPlace(rule));
    expect(conditions.slice(0, 63).every((condition) => condition !== null && 'id' in condition)).toBe(true);
    expect(conditions.at(-1)).toEqual({ __sgTooLong__: true });
    // Where they stay references, they take no room.
    const beside = compiled({ long }).rules();
    const referring = Array.from({ length: 65 }, () => beside(rule));
    expect(referring.at(-1)).toEqual({ id: { $notInGroup: 'long' } });
  });
});

describe('the values of lists', () => {
  const groups = {
    ages: { attributeKey: 'age', values: ['18', '1e3', 'old', ' '] },
    ids: { values: ['1', '2'] },
    emails: { attributeKey: 'email', values: ['alice@example.com'] },
  };
  const rule = (operator: string, attribute: string, group: string) => ({
    condition: JSON.stringify({ [attribute]: { [operator]: group } }),
    savedGroupTargeting: [],
  });

  test('are numbers where their attribute is one, in place of the group and beside the features [flags M71]', () => {
    expect(compiled(groups).groupValues('ages')).toEqual([18, 1000]);
    expect(compiled(groups).groupValues('ids')).toEqual(['1', '2']);
    const inPlace = compiled(groups, { references: false });
    expect(inPlace.rules()(rule('$inGroup', 'age', 'ages'))).toEqual({ age: { $in: [18, 1000] } });
    expect(inPlace.rules()(rule('$notInGroup', 'id', 'ids'))).toEqual({ id: { $nin: ['1', '2'] } });
    expect(inPlace.rules()(rule('$inGroup', 'id', 'unknown'))).toEqual({ id: { $in: [] } });
  });

  test('are hashed where their attribute is secure; ids of groups are not', () => {
    const hashed = '109f0b7ded1d94140eda40c1286befd64aec56290dba9e6642f3d096e9fc3b05';
    const beside = compiled(groups, { hashed: true });
    expect(beside.groupValues('emails')).toEqual([hashed]);
    expect(beside.groupValues('ids')).toEqual(['1', '2']);
    expect(beside.rules()(rule('$inGroup', 'email', 'emails'))).toEqual({ email: { $inGroup: 'emails' } });
    const inPlace = compiled(groups, { hashed: true, references: false });
    expect(inPlace.rules()(rule('$inGroup', 'email', 'emails'))).toEqual({ email: { $in: [hashed] } });
    // A plain attribute is compared with plain values, and a secure one with hashes, whatever the list is of.
    expect(beside.rules()(rule('$inGroup', 'id', 'emails'))).toEqual({ id: { $in: ['alice@example.com'] } });
    expect(inPlace.groupValues('emails')).toEqual([hashed]);
    expect(compiled({ german }).groupValues('german')).toBeNull();
  });

  test('are hashed where the attribute that names most steps of the path is secure', () => {
    const hash = (text: string) => createHash('sha256').update(`${salt}${text}`).digest('hex');
    const nested = {
      user: { datatype: 'string' },
      'user.mail': { datatype: 'secureString' },
      'user.mail.host': { datatype: 'string' },
    } as const;
    const condition = (references: boolean) =>
      compiled(
        { mails: { attributeKey: 'user.mail', values: ['a'] } },
        { attributes: nested, hashed: true, references },
      );
    const asked = { 'user.mail': { $inGroup: 'mails' } };
    expect(condition(true).rules()({ condition: '', savedGroupTargeting: all('mails') })).toEqual(asked);
    expect(condition(true).groupValues('mails')).toEqual([hash('a')]);
    expect(condition(false).rules()({ condition: '', savedGroupTargeting: all('mails') })).toEqual({
      'user.mail': { $in: [hash('a')] },
    });
    const own = { user: 'a', 'user.name': 'a', 'user.mail': 'a', 'user.mail.name': 'a', 'user.mail.host': 'a' };
    expect(condition(true).rules()({ condition: JSON.stringify(own), savedGroupTargeting: [] })).toEqual({
      ...own,
      'user.mail': hash('a'),
      'user.mail.name': hash('a'),
    });
  });
});

function nesting(id: string) {
  return { condition: JSON.stringify({ $savedGroups: [id] }) };
}

// ---- Against the plain meaning -----------------------------------------------------------------------------------------

const value = fc.constantFrom('a', 'b', '1', '2');
const attribute = fc.constantFrom('id', 'age', 'email');
const ids = ['g0', 'g1', 'g2', 'g3', 'g4'];

/** A condition on users that may nest those groups, and ask for membership in them. */
const conditionOver = (groups: readonly string[]): fc.Arbitrary<Condition> => {
  const leaf = fc.oneof(
    fc.tuple(attribute, value).map(([key, operand]) => ({ [key]: operand })),
    fc.tuple(attribute, fc.array(value, { maxLength: 2 })).map(([key, $in]) => ({ [key]: { $in } })),
    ...(groups.length === 0
      ? []
      : [
          fc
            .array(fc.constantFrom(...groups), { minLength: 1, maxLength: 2 })
            .map(($savedGroups) => ({ $savedGroups })),
          fc
            .tuple(attribute, fc.constantFrom('$inGroup', '$notInGroup'), fc.constantFrom(...groups))
            .map(([key, operator, group]) => ({ [key]: { [operator]: group } })),
          fc.tuple(attribute, fc.constantFrom(...groups)).map(([key, $inGroup]) => ({ [key]: { $not: { $inGroup } } })),
        ]),
  );
  const { tree } = fc.letrec<{ tree: Condition }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.tuple(leaf, leaf).map(([one, other]): Condition => ({ ...one, ...other })),
      tie('tree').map(($not) => ({ $not })),
      fc.tuple(tie('tree'), leaf).map(([one, other]): Condition => ({ ...other, $and: [one] })),
      fc.array(tie('tree'), { maxLength: 2 }).map(($or) => ({ $or })),
      fc.array(tie('tree'), { maxLength: 2 }).map(($nor) => ({ $nor })),
    ),
  }));
  return tree;
};

/** Group number `index`, which may nest those before it. */
const groupNumber = (index: number): fc.Arbitrary<Partial<SavedGroupContent>> =>
  fc.oneof(
    fc.record({
      type: fc.constant('list' as const),
      attributeKey: attribute,
      values: fc.array(value, { maxLength: 3 }),
      useEmptyListGroup: fc.boolean(),
    }),
    conditionOver(ids.slice(0, index)).map((condition) => ({ condition: JSON.stringify(condition) })),
  );
const groupsOfAll = fc
  .tuple(...ids.map((_, index) => groupNumber(index)))
  .map((groups) => Object.fromEntries(groups.map((group, index) => [ids[index] ?? '', group])));
const rule: fc.Arbitrary<Rule> = fc.record({
  condition: fc.option(
    conditionOver(ids).map((condition) => JSON.stringify(condition)),
    { nil: '' },
  ),
  savedGroupTargeting: fc.array(
    fc.record({
      matchType: fc.constantFrom('all' as const, 'any' as const, 'none' as const),
      savedGroups: fc.array(fc.constantFrom(...ids), { maxLength: 3 }),
    }),
    { maxLength: 2 },
  ),
});
const user = fc.record({ id: value, age: fc.oneof(fc.constantFrom(1, 2), value), email: value }, { requiredKeys: [] });

/** What groups and rules mean, said as plainly as can be. */
function meaning(groups: Groups, of: Attributes) {
  const valuesOf = (id: string): (string | number)[] => {
    const { attributeKey = '', values = [] } = groups[id] ?? {};
    return attributeKey === 'age' ? values.flatMap((one) => numberOf(one) ?? []) : [...values];
  };
  const lists = Object.fromEntries(ids.map((id) => [id, valuesOf(id)]));
  const isIn = (id: string): boolean => {
    const { condition, attributeKey = '' } = groups[id] ?? {};
    if (condition !== undefined) return meets(JSON.parse(condition));
    return valuesOf(id).some((one) => one === of[attributeKey]);
  };
  const meets = (condition: Condition): boolean =>
    Object.entries(condition).every(([key, operand]) => {
      const list = operand as readonly JsonValue[];
      if (key === '$savedGroups') return list.every((id) => isIn(String(id)));
      if (!logicalOperators.has(key)) return evaluateCondition(of, { [key]: operand }, lists);
      if (key === '$not') return !meets(operand as Condition);
      if (key === '$and') return list.every((part) => meets(part as Condition));
      const some = list.length === 0 || list.some((part) => meets(part as Condition));
      return key === '$or' ? some : !some;
    });
  const counts = (id: string) => {
    const group = groups[id];
    if (group?.condition !== undefined) return Object.keys(JSON.parse(group.condition)).length > 0;
    return group?.useEmptyListGroup === true || (group?.values?.length ?? 0) > 0;
  };
  return {
    applies: ({ condition, savedGroupTargeting }: Rule): boolean =>
      (condition === '' || meets(JSON.parse(condition))) &&
      savedGroupTargeting.every(({ matchType, savedGroups }) => {
        const asked = savedGroups.filter(counts);
        if (asked.length === 0) return true;
        if (matchType === 'all') return asked.every(isIn);
        return matchType === 'any' ? asked.some(isIn) : !asked.some(isIn);
      }),
    lists,
  };
}

describe('whatever the groups are', () => {
  const hashed = (of: Attributes): Attributes =>
    typeof of.email === 'string'
      ? {
          ...of,
          email: createHash('sha256')
            .update(salt + of.email)
            .digest('hex'),
        }
      : of;

  test('a rule applies to whom its condition and its groups mean: with references, with values in place, and hashed', () => {
    fc.assert(
      fc.property(groupsOfAll, rule, fc.array(user, { minLength: 1, maxLength: 5 }), (groups, one, users) => {
        for (const references of [true, false]) {
          for (const isHashed of [true, false]) {
            const targeting = compiled(groups, { references, hashed: isHashed });
            const condition = targeting.rules()(one) ?? {};
            const values = references
              ? Object.fromEntries(ids.map((id) => [id, targeting.groupValues(id) ?? []]))
              : undefined;
            for (const of of users) {
              const holds = evaluateCondition(isHashed ? hashed(of) : of, condition, values);
              expect([condition, of, holds]).toEqual([condition, of, meaning(groups, of).applies(one)]);
            }
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
