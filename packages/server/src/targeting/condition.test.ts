import { type Condition, compileCondition, conditionOperators, logicalOperators } from '@halyard/evaluation';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeRegularExpression, Refusal } from '../platform/index.ts';
import { readCondition } from './condition.ts';

const harmful = '(a+)+$';
const harmless = '^a+$';

/** The regular expressions and saved groups that the evaluator comes upon in a condition, wherever they stand. */
function reachedBy(condition: Condition): { expressions: string[]; groups: string[] } {
  const expressions: string[] = [];
  const groups: string[] = [];
  const savedGroups = new Proxy(
    {},
    {
      getOwnPropertyDescriptor(_, id) {
        groups.push(String(id));
        return undefined;
      },
    },
  );
  const regularExpression = (pattern: string) => {
    expressions.push(pattern);
    return { test: () => false };
  };
  compileCondition(condition, savedGroups, { regularExpression });
  return { expressions, groups };
}

/** Null: it is refused. */
function accepted(text: string): Condition | null {
  try {
    return readCondition(text, 'rule 1') ?? {};
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Anything that looks like a condition, sensible or not: every operator may stand anywhere. */
const key = fc.oneof(
  fc.constantFrom(...conditionOperators, ...logicalOperators, '$unknown', 'tags', 'a.b', ''),
  fc.constantFrom('$elemMatch', '$not', '$all', '$regex', '$inGroup'),
);
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 5 },
    { weight: 2, arbitrary: fc.constantFrom(harmful, harmful, harmless, 1, null) },
    { weight: 5, arbitrary: fc.tuple(key, tie('anything')).map(([name, operand]) => ({ [name]: operand })) },
    { weight: 1, arbitrary: fc.dictionary(key, tie('anything'), { maxKeys: 2, noNullPrototype: true }) },
    { weight: 1, arbitrary: fc.array(tie('anything'), { maxLength: 2 }) },
  ),
}));
const condition = fc.dictionary(fc.oneof(key, fc.constant('tags')), anything, {
  minKeys: 1,
  maxKeys: 2,
  noNullPrototype: true,
});

describe('a condition that is accepted', () => {
  test('lets the evaluator reach no expression that was not judged safe, and no group that does not exist', () => {
    fc.assert(
      fc.property(condition, (one) => {
        const { expressions, groups } = reachedBy(accepted(JSON.stringify(one)) ?? {});
        expect(expressions.filter((pattern) => judgeRegularExpression(pattern, '').kind !== 'safe')).toEqual([]);
        expect(groups).toEqual([]);
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([...conditionOperators])('may have operators below %s only as the evaluator reads them', (operator) => {
    for (const operand of [{ $regex: harmful }, [{ $regex: harmful }], { $not: { $regex: harmful } }]) {
      for (const one of [{ a: { [operator]: operand } }, { a: { $elemMatch: { [operator]: operand } } }]) {
        expect(reachedBy(accepted(JSON.stringify(one)) ?? {}).expressions).toEqual([]);
      }
    }
  });
});

describe('an element that is matched', () => {
  test.each([
    ['an exploding expression below $not', { $not: { $regex: harmful } }],
    ['an exploding expression below two', { $not: { $not: { $regexi: harmful } } }],
    ['a saved group below $not', { $not: { $inGroup: 'grp_1' } }],
    ['an unknown operator', { $greater: 1 }],
    ['conditions joined, which are no operators', { $or: [{ $eq: 1 }] }],
  ])('by %s is refused', (_, element) => {
    expect(accepted(JSON.stringify({ tags: { $elemMatch: element } }))).toBeNull();
  });

  test.each([
    ['operators', { $not: { $in: ['beta'] } }],
    ['a condition on its members', { id: { $gt: 1 }, $or: [{ name: 'a' }, { name: 'b' }] }],
  ])('by %s is accepted', (_, element) => {
    expect(accepted(JSON.stringify({ tags: { $elemMatch: element } }))).toEqual({ tags: { $elemMatch: element } });
  });
});

describe('a number that JSON cannot carry', () => {
  test.each([
    ['a value to equal', '{"id":1e400}'],
    ['one to compare with', '{"id":{"$lt":-1e400}}'],
    ['one of several', '{"$or":[{"id":{"$in":[1,1e400]}}]}'],
    ['part of a value', '{"id":{"a":[1e400]}}'],
  ])('is refused as %s', (_, text) => {
    expect(accepted(text)).toBeNull();
  });

  test('is the only one that is refused', () => {
    expect(accepted('{"id":[1e308,-1e308,1e-400,0]}')).toEqual({ id: [1e308, -1e308, 0, 0] });
  });
});
