import { describe, expect, test } from 'vitest';
import { compareCase } from './compare.ts';
import { excuse } from './excuses.ts';
import type { Json, VectorCase } from './format.ts';

const caseOf = (expected: Json, changes: Partial<VectorCase> = {}): VectorCase => ({
  id: 'a',
  kind: 'b',
  tags: [],
  input: {},
  expected,
  ...changes,
});
const differences = (testCase: VectorCase, actual: unknown): string[] =>
  [...compareCase(testCase, actual)].filter(({ isEqual }) => !isEqual).map(({ path }) => path);

describe('comparing', () => {
  test('numbers are equal within 1e-9 of themselves, probabilities within 1e-12 more', () => {
    expect(differences(caseOf({ mean: 2, pValue: 0 }), { mean: 2 + 1e-9, pValue: 1e-12 })).toEqual([]);
    expect(differences(caseOf({ mean: 2, pValue: 0 }), { mean: 2 + 3e-9, pValue: 2e-12 })).toEqual(['mean', 'pValue']);
    expect(differences(caseOf({ mean: 2 }, { tolerance: { mean: 0.1 } }), { mean: 2.09 })).toEqual([]);
  });

  test('bounds of an interval are compared on the scale of the interval', () => {
    const testCase = caseOf({ pointEstimate: 100, confidenceInterval: [1e-3, '-Infinity'] });
    expect(differences(testCase, { pointEstimate: 100, confidenceInterval: [1e-3 + 9e-8, -Infinity] })).toEqual([]);
    expect(differences(testCase, { pointEstimate: 100, confidenceInterval: [1e-3 + 2e-7, -Infinity] })).toHaveLength(1);
    expect(differences(testCase, { pointEstimate: 100, confidenceInterval: [1e-3, Infinity] })).toHaveLength(1);
  });

  test('an exception wants no usable result, NaN none or NaN', () => {
    const testCase = caseOf({ value: { exception: 'invalidInput' }, other: 'NaN' });
    for (const none of [undefined, null, Number.NaN, { error: 'x' }]) {
      expect(differences(testCase, { value: none, other: Number.NaN })).toEqual([]);
    }
    expect(differences(testCase, { value: 1, other: 1 })).toEqual(['value', 'other']);
  });

  test('text, null and lengths are equal; a fragile case has only to end', () => {
    const testCase = caseOf({ error: null, status: 'ok', list: [1] });
    expect(differences(testCase, { error: 'x', status: 'no', list: [1, 2] })).toEqual(['error', 'status', 'list']);
    expect(differences({ ...testCase, fragile: true }, {})).toEqual([]);
  });

  test('an exact value beside that of a search is right, too', () => {
    const testCase = caseOf({ pValue: 0.25, pValueExact: 0.2501 });
    expect(differences(testCase, { pValue: 0.2501, pValueExact: 0.2501 })).toEqual([]);
    expect(differences(testCase, { pValue: 0.2502, pValueExact: 0.2501 })).toEqual(['pValue']);
  });
});

describe('excuses', () => {
  const excused = (input: Json, expected: Json, actual: unknown): boolean[] =>
    [...compareCase(caseOf(expected, { input }), actual)]
      .filter(({ isEqual }) => !isEqual)
      .map((comparison) => excuse(caseOf(expected, { input }), comparison) !== undefined);

  test('cover weights of inverse top-two sampling, and no others', () => {
    const expected = { simulated: { weights: [0.5] }, exact: { weights: [0.7] } };
    const actual = { simulated: { weights: [0.6] }, exact: { weights: [0.6] } };
    expect(excused({ settings: { topTwo: true, inverse: true } }, expected, actual)).toEqual([true, false]);
    expect(excused({ settings: { topTwo: true, inverse: false } }, expected, actual)).toEqual([false, false]);
  });

  test('cover several exposures only where there are some', () => {
    const expected = { metrics: [{ analyses: [{ multipleExposures: 0 }] }] };
    const actual = { metrics: [{ analyses: [{ multipleExposures: 7 }] }] };
    const rows = (variation: string): Json => ({ results: [{ rows: [{ variation }] }] });
    expect(excused(rows('__multiple__'), expected, actual)).toEqual([true]);
    expect(excused(rows('other'), expected, actual)).toEqual([false]);
  });
});
