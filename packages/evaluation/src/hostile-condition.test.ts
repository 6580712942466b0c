import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Condition, evaluateCondition, MAX_CONDITION_DEPTH } from './index.ts';

const holds = (condition: Condition, attributes: Readonly<Record<string, unknown>>) =>
  evaluateCondition(attributes, condition);

const nested = (depth: number, wrap: (inner: Condition) => Condition): Condition => {
  let condition: Condition = { a: 1 };
  for (let level = 0; level < depth; level++) condition = wrap(condition);
  return condition;
};
const inLogic = (inner: Condition): Condition => ({ $and: [{ $or: [inner] }] });
const inNegations = (inner: Condition): Condition => ({ $not: { $not: inner } });
const inElements = (inner: Condition): Condition => ({ a: { $elemMatch: inner } });

const negated = (depth: number) => nested(depth, (inner) => ({ $not: inner }));

describe('a hostile condition', () => {
  test('that is malformed holds for nobody, also inside of a negation', () => {
    const malformed = [
      null,
      [],
      'x',
      5,
      true,
      { $and: {} },
      { $or: 'x' },
      { $nor: null },
      { $not: 5 },
      { $or: [null] },
    ];
    for (const condition of malformed as Condition[]) {
      expect([condition, holds(condition, { a: 1 })]).toEqual([condition, false]);
      expect([condition, holds({ $not: condition }, { a: 1 })]).toEqual([condition, false]);
    }
    expect(holds({ a: { $not: { $elemMatch: null } } }, { a: [1] })).toBe(false);
  });

  test.each([inLogic, inNegations])('nested as deep as the service allows still holds: %o', (wrap) => {
    expect(holds(nested(32, wrap), { a: 1 })).toBe(true);
    expect(holds(nested(32, wrap), { a: 2 })).toBe(false);
  });

  test.each([inLogic, inNegations, inElements])('nested without end holds for nobody: %o', (wrap) => {
    expect(holds(nested(50_000, wrap), { a: 1 })).toBe(false);
    expect(holds({ $not: nested(50_000, wrap) }, { a: 1 })).toBe(false);
  });

  test('is judged up to the documented depth', () => {
    expect(holds(negated(MAX_CONDITION_DEPTH - 1), { a: 2 })).toBe(true);
    expect(holds(negated(MAX_CONDITION_DEPTH), { a: 2 })).toBe(false);
    expect(holds(negated(MAX_CONDITION_DEPTH), { a: 1 })).toBe(false);
  });

  test('of operators nested without end holds for nobody', () => {
    let test: Condition = { $eq: 1 };
    for (let level = 0; level < 50_000; level++) test = { $not: test };
    expect(holds({ a: test }, { a: 1 })).toBe(false);
    expect(holds({ $not: { a: test } }, { a: 1 })).toBe(false);
  });

  test('that contains itself holds for nobody', () => {
    const cyclic: Record<string, Condition> = {};
    cyclic['$not'] = cyclic;
    expect(holds(cyclic, {})).toBe(false);
  });

  test('on members that every object inherits neither throws nor changes them', () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    for (const path of [
      '__proto__',
      'constructor',
      '__proto__.polluted',
      'constructor.prototype.x',
      'toString.call.length',
    ]) {
      for (const test of ['x', 5, null, { $exists: true }, { $in: ['x'] }, { $regex: '.' }, { $gt: 1 }, { x: 1 }]) {
        expect(() => holds({ [path]: test }, { a: 1 })).not.toThrow();
      }
    }
    expect(holds(JSON.parse('{"__proto__": 5}'), JSON.parse('{"__proto__": 5}'))).toBe(true);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });

  test('meets hostile attributes without throwing', () => {
    const attribute = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
      fc.constantFrom<unknown>({ toString: 1, valueOf: 1 }, { toJSON: 1 }, Symbol('x'), Object.create(null)),
    );
    const operators = [
      '$eq',
      '$gt',
      '$lte',
      '$in',
      '$ini',
      '$regex',
      '$vgt',
      '$all',
      '$alli',
      '$elemMatch',
      '$size',
      '$type',
    ];
    const operand = fc.oneof(fc.constantFrom('x', 5, null, true), fc.jsonValue() as fc.Arbitrary<Condition[string]>);
    fc.assert(
      fc.property(attribute, fc.constantFrom(...operators), operand, (value, operator, argument) => {
        expect(typeof holds({ a: { [operator]: argument } }, { a: value })).toBe('boolean');
        expect(typeof holds({ a: argument, 'a.b': argument }, { a: value })).toBe('boolean');
      }),
      { numRuns: 2000 },
    );
  });

  test('meets attributes that contain themselves or are nested without end', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic, { cyclic });
    let deep: unknown[] = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    for (const value of [cyclic, deep]) {
      for (const test of [[1], 'x', 5, { $regex: 'x' }, { $in: ['x'] }, { $gt: 1 }, { $elemMatch: { $regex: 'x' } }]) {
        expect(typeof holds({ a: test }, { a: value })).toBe('boolean');
      }
    }
  });
});
