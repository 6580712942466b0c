import { describe, expect, test } from 'vitest';
import { type Condition, compileCondition, evaluateCondition, type SavedGroups } from './index.ts';

const holds = (condition: Condition, attributes: Readonly<Record<string, unknown>>, groups?: SavedGroups) =>
  evaluateCondition(attributes, condition, groups);

/** Which of these values a test on the attribute `a` judges wrongly. */
function misjudged(
  test: Condition[string],
  expected: { for?: readonly unknown[]; not?: readonly unknown[] },
): unknown[] {
  const isMet = compileCondition({ a: test });
  const missed = (expected.for ?? []).filter((value) => !isMet({ a: value }));
  const wronglyMet = (expected.not ?? []).filter((value) => isMet({ a: value }));
  return [...missed, ...wronglyMet];
}

describe('a condition', () => {
  test('without entries holds for everybody', () => {
    expect(holds({}, {})).toBe(true);
  });

  test('holds when all its entries do', () => {
    expect(holds({ a: 1, b: 2 }, { a: 1, b: 2 })).toBe(true);
    expect(holds({ a: 1, b: 2 }, { a: 1, b: 3 })).toBe(false);
    expect(holds({ a: 1, b: 2, $or: [{ c: 3 }] }, { a: 1, b: 2, c: 4 })).toBe(false);
  });

  test('follows dot paths through objects and lists, and a missing step is null', () => {
    const attributes = { pets: { dog: { name: 'fido' } }, tags: ['x'], text: 'abc', none: null };
    expect(holds({ 'pets.dog.name': 'fido' }, attributes)).toBe(true);
    expect(holds({ 'tags.0': 'x', 'tags.length': 1 }, attributes)).toBe(true);
    expect(holds({ 'pets.cat.name': null, 'text.length': null, 'none.x': null, missing: null }, attributes)).toBe(true);
  });

  test('joins conditions with $and, $or, $nor and $not; an empty $or holds, an empty $nor does not', () => {
    const attributes = { a: 1, b: 2 };
    expect(holds({ $and: [{ a: 1 }, { b: 2 }] }, attributes)).toBe(true);
    expect(holds({ $and: [{ a: 1 }, { b: 3 }] }, attributes)).toBe(false);
    expect(holds({ $or: [{ a: 9 }, { b: 2 }] }, attributes)).toBe(true);
    expect(holds({ $or: [{ a: 9 }, { b: 3 }] }, attributes)).toBe(false);
    expect(holds({ $nor: [{ a: 9 }, { b: 3 }] }, attributes)).toBe(true);
    expect(holds({ $nor: [{ a: 9 }, { b: 2 }] }, attributes)).toBe(false);
    expect(holds({ $not: { a: 1, b: 2 } }, attributes)).toBe(false);
    expect(holds({ $not: { a: 1, b: 3 } }, attributes)).toBe(true);
    expect([{ $and: [] }, { $or: [] }, { $nor: [] }].map((empty) => holds(empty, attributes))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('takes other keys with a dollar at the root for attributes', () => {
    expect(holds({ $groups: { $elemMatch: { $eq: 'a' } } }, { $groups: ['a'] })).toBe(true);
  });
});

describe('a plain operand', () => {
  test('of text equals the text of the value', () => {
    expect(misjudged('5', { for: ['5', 5, [5]], not: ['05', null] })).toEqual([]);
    expect(misjudged('null', { for: [null, 'null'], not: [undefined, ''] })).toEqual([]);
    expect(holds({ a: 'null' }, {})).toBe(true);
  });

  test('that is a number equals the number of the value', () => {
    expect(misjudged(0, { for: [0, -0, '', '0', false, null, []], not: ['x', Number.NaN, undefined, {}] })).toEqual([]);
    expect(misjudged(5, { for: [5, '5', ' 5 '], not: ['5x', true] })).toEqual([]);
    expect(misjudged(1, { for: [true] })).toEqual([]);
  });

  test('of true or false equals the truthiness of the value, which a missing one does not have', () => {
    expect(misjudged(true, { for: [true, 1, 'x', [], {}], not: [null, 0, ''] })).toEqual([]);
    expect(misjudged(false, { for: [false, 0, ''], not: [null, true] })).toEqual([]);
    expect(holds({ a: false }, {})).toBe(false);
  });

  test('of null equals null and a missing attribute only', () => {
    expect(misjudged(null, { for: [null], not: [0, '', false, 'null'] })).toEqual([]);
    expect(holds({ a: null }, {})).toBe(true);
  });

  test('that is a list or an object equals by JSON text, in which the order of keys counts', () => {
    expect(misjudged([1, 'b'], { for: [[1, 'b']], not: [['b', 1], [1], '[1,"b"]'] })).toEqual([]);
    expect(misjudged({ x: 1, y: 2 }, { for: [{ x: 1, y: 2 }], not: [{ y: 2, x: 1 }, { x: 1 }] })).toEqual([]);
    expect(misjudged({}, { for: [{}], not: [{ x: 1 }, null, []] })).toEqual([]);
  });

  test('that mixes operators and plain keys is a plain object', () => {
    expect(misjudged({ $gt: 1, x: 1 }, { for: [{ $gt: 1, x: 1 }], not: [5] })).toEqual([]);
  });
});

const missing = (test: Condition) => holds({ missing: test }, { other: 1 }, { g: ['a'] });

describe('the operator', () => {
  test('$eq is strict, $ne its opposite', () => {
    expect(misjudged({ $eq: 5 }, { for: [5], not: ['5', null] })).toEqual([]);
    expect(misjudged({ $ne: 5 }, { for: ['5', null], not: [5] })).toEqual([]);
  });

  test('$lt, $lte, $gt, $gte compare texts by code unit and everything else as numbers, with null as 0', () => {
    expect(misjudged({ $gt: 5 }, { for: [6, '6'], not: [5, '5', null, 'x', Number.NaN, undefined] })).toEqual([]);
    expect(misjudged({ $gte: 5 }, { for: [5, '5'], not: [4.9] })).toEqual([]);
    expect(misjudged({ $lt: 5 }, { for: [4, '4', null, ''], not: [5, 'x', Number.NaN] })).toEqual([]);
    expect(misjudged({ $lte: 5 }, { for: [5, null], not: [5.1] })).toEqual([]);
    expect(misjudged({ $gt: 'b' }, { for: ['c', 'ba'], not: ['B', 'b', 5] })).toEqual([]);
    expect(holds({ age: { $gt: -10, $lt: 10, $ne: 10 } }, {})).toBe(true);
  });

  test('$exists is about null and missing only', () => {
    expect(misjudged({ $exists: true }, { for: [0, '', false, []], not: [null, undefined] })).toEqual([]);
    expect(misjudged({ $exists: false }, { for: [null, undefined], not: [0, ''] })).toEqual([]);
  });

  test('$in is strict, looks into lists, and is false without a list', () => {
    expect(misjudged({ $in: [1, 'a', null] }, { for: [1, 'a', null, ['x', 'a']], not: ['1', 'A', [], ['x']] })).toEqual(
      [],
    );
    expect(misjudged({ $nin: [1, 'a'] }, { for: ['1', null, []], not: [1, ['a']] })).toEqual([]);
    expect(misjudged({ $in: 1 }, { not: [1] })).toEqual([]);
    expect(misjudged({ $nin: 1 }, { not: [1, 2] })).toEqual([]);
  });

  test('$in is the same for long lists', () => {
    const numbers = Array.from({ length: 1000 }, (_, index) => index);
    expect(misjudged({ $in: numbers }, { for: [0, 999, [-1, 5]], not: ['5', 1000, null] })).toEqual([]);
    expect(misjudged({ $nin: numbers }, { for: ['5', 1000, null], not: [0, -0, [5]] })).toEqual([]);
  });

  test('$ini compares text in any case and the rest strictly', () => {
    expect(misjudged({ $ini: ['Us', 5] }, { for: ['US', 'us', 5, ['x', 'uS']], not: ['5', 'UK', null] })).toEqual([]);
    expect(misjudged({ $nini: ['Us', 5] }, { for: ['5', 'UK', null], not: ['US', ['us']] })).toEqual([]);
    expect(misjudged({ $ini: 'us' }, { not: ['us'] })).toEqual([]);
    expect(misjudged({ $nini: 'us' }, { not: ['us', 'x'] })).toEqual([]);
  });

  test('$inGroup is membership by strict type, and an unknown group is empty', () => {
    const groups = { g: [1, '2', 3] };
    const inGroup = (id: unknown, group: string) => holds({ id: { $inGroup: group } }, { id }, groups);
    expect([inGroup(1, 'g'), inGroup('2', 'g'), inGroup('1', 'g'), inGroup(1, 'x')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(holds({ id: { $notInGroup: 'x' } }, { id: 1 }, groups)).toBe(true);
    expect(holds({ id: { $inGroup: 'constructor' } }, { id: 1 }, groups)).toBe(false);
  });

  test('$nin and $notInGroup hold for a missing attribute, $in does not; $eq null and $exists false hold [flags M105]', () => {
    expect(missing({ $nin: ['a', 'b'] })).toBe(true);
    expect(missing({ $notInGroup: 'g' })).toBe(true);
    expect(missing({ $in: ['a', 'b'] })).toBe(false);
    expect(missing({ $eq: null })).toBe(true);
    expect(missing({ $exists: false })).toBe(true);
  });

  test('$all wants each entry met by some element, $alli in any case', () => {
    expect(misjudged({ $all: ['a', 'b'] }, { for: [['b', 'x', 'a']], not: [['a'], ['A', 'B'], 'ab', null] })).toEqual(
      [],
    );
    expect(misjudged({ $all: [{ $gt: 5 }, 1] }, { for: [[1, 9]], not: [[9]] })).toEqual([]);
    expect(misjudged({ $all: [] }, { for: [[]], not: ['x'] })).toEqual([]);
    expect(misjudged({ $all: 'a' }, { not: [['a']] })).toEqual([]);
    expect(misjudged({ $alli: ['a', 'B'] }, { for: [['A', 'b']], not: [['A']] })).toEqual([]);
  });

  test('$elemMatch tests elements, of which 0, empty text and null never match', () => {
    expect(misjudged({ $elemMatch: { $gt: 10 } }, { for: [[5, 15]], not: [[5], 15] })).toEqual([]);
    expect(misjudged({ $elemMatch: { name: 'x' } }, { for: [[{ name: 'x' }]], not: [[{ name: 'y' }], 'x'] })).toEqual(
      [],
    );
    expect(misjudged({ $elemMatch: { $lt: 10 } }, { not: [[0], [''], [null], [false]] })).toEqual([]);
  });

  test('$size tests the length of a list', () => {
    expect(misjudged({ $size: 2 }, { for: [[1, 2]], not: [[1], 'ab'] })).toEqual([]);
    expect(misjudged({ $size: { $gt: 1 } }, { for: [[1, 2]], not: [[1]] })).toEqual([]);
  });

  test('$regex searches the text of the value, and an invalid pattern finds nothing', () => {
    expect(misjudged({ $regex: '^a/b\\/c$' }, { for: ['a/b/c'], not: ['A/b/c'] })).toEqual([]);
    expect(misjudged({ $regexi: '^A' }, { for: ['abc', 'ABC'], not: ['b'] })).toEqual([]);
    expect(misjudged({ $regex: '^5$' }, { for: [5, '5'] })).toEqual([]);
    expect(misjudged({ $regex: '/???***[)' }, { not: ['hello', null] })).toEqual([]);
    expect(misjudged({ $not: { $regex: '(' } }, { for: ['hello'] })).toEqual([]);
  });

  test('$type names the type, and a missing attribute is null', () => {
    const values = { string: '', number: 0, boolean: false, array: [], object: {}, null: null, undefined };
    for (const [type, value] of Object.entries(values))
      expect(misjudged({ $type: type }, { for: [value] })).toEqual([]);
    expect(holds({ missing: { $type: 'null' } }, {})).toBe(true);
    expect(misjudged({ $type: 'object' }, { not: [null, []] })).toEqual([]);
  });

  test('$not negates a value test', () => {
    expect(misjudged({ $not: { $gt: 5 } }, { for: [5, 'x'], not: [6] })).toEqual([]);
    expect(misjudged({ $not: 'a' }, { for: ['b'], not: ['a'] })).toEqual([]);
  });

  test('of an unknown name never holds', () => {
    expect(misjudged({ $regx: 'hello' }, { not: ['hello', null] })).toEqual([]);
    expect(misjudged({ $eq: 1, $what: 1 }, { not: [1] })).toEqual([]);
  });
});

describe('a compiled condition', () => {
  test('can be asked again and again', () => {
    const isGerman = compileCondition({ country: { $regex: '^D' } });
    expect(['DE', 'DE', 'US', 'DE'].map((country) => isGerman({ country }))).toEqual([true, true, false, true]);
  });

  test('uses the regular expressions it is given, and finds nothing where these give up', () => {
    const patterns: [string, boolean][] = [];
    const regularExpression = (pattern: string, ignoreCase: boolean) => {
      patterns.push([pattern, ignoreCase]);
      return {
        test(text: string) {
          if (text === 'long') throw new Error('out of steps');
          return text === pattern;
        },
      };
    };
    const test = compileCondition({ a: { $regexi: 'x' }, b: { $regex: 'y' } }, {}, { regularExpression });
    expect(patterns).toEqual([
      ['x', true],
      ['y', false],
    ]);
    expect([test({ a: 'x', b: 'y' }), test({ a: 'x', b: 'z' }), test({ a: 'long', b: 'y' })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
