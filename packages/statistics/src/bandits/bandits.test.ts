import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestArmProbabilities, bestTwoProbabilities } from './best-arm.ts';
import { type ContextualTreeInput, contextualTree, type Observation, targetingCondition } from './contextual-tree.ts';
import { banditPrior, banditWeights, leafWeights, weightsWithFloor } from './weights.ts';

const settings = { prior: banditPrior, inverse: false, topTwo: false, minimumWeight: 0.01, alpha: 0.05 };
const arm = (n: number, sum: number) => ({ type: 'mean', n, sum, sumOfSquares: sum }) as const;

describe('weights', () => {
  test('are those of the posterior probabilities of being best', () => {
    const result = banditWeights([arm(1000, 200), arm(900, 225), arm(1100, 231)], settings);
    const expected = [0.0037743818159411175, 0.9793246250458799, 0.016900993138178628];
    expect(result.bestArmProbabilities).toEqual(expected.map((value) => expect.closeTo(value, 6)));
    expect(result.weights?.[1]).toBeCloseTo(0.9599448862945038, 6);
    expect(result.posteriorMeans[0]).toBeCloseTo(0.19999999679679684, 14);
    expect(result.credibleIntervals[0]?.[0]).toBeCloseTo(0.17519579370112404, 12);
  });

  test('sum to 1, are at least the minimum, and keep the order of the probabilities [experiments M61]', () => {
    const units = fc.integer({ min: 100, max: 5000 });
    const share = fc.double({ min: 0.02, max: 0.98, noNaN: true });
    const arms = fc.array(fc.tuple(units, share), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(arms, fc.boolean(), (arms, inverse) => {
        const given = arms.map(([n, share]) => arm(n, Math.round(n * share)));
        const { weights, bestArmProbabilities: probabilities } = banditWeights(given, { ...settings, inverse });
        const known = weights ?? [];
        expect(known.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
        expect(Math.min(...known)).toBeGreaterThanOrEqual(0.01 - 1e-15);
        const inOrder = probabilities.map((chance, k) => ({ chance, weight: known[k] ?? 0 }));
        const weightsInOrder = inOrder.sort((a, b) => a.chance - b.chance).map(({ weight }) => weight);
        expect(weightsInOrder).toEqual(weightsInOrder.toSorted((a, b) => a - b));
      }),
      { numRuns: 30 },
    );
  });

  test('stay while an arm has 99 units, with the reason and the intervals [experiments M62]', () => {
    const result = banditWeights([arm(99, 20), arm(500, 120)], settings);
    expect(result).toMatchObject({ enoughUnits: false, message: 'tooFewUnits', weights: null });
    expect(result.credibleIntervals[0]?.every(Number.isFinite)).toBe(true);
  });

  test('are equal where the minimum leaves nothing to share', () => {
    expect(weightsWithFloor([0.9, 0.1], 0.5)).toEqual([0.5, 0.5]);
    expect(weightsWithFloor([0.9, 0.1], -1)).toEqual([0.9, 0.1]);
  });

  test('of a leaf are raised to 0.01 and divided by their sum', () => {
    const arms = [arm(1000, 200), arm(900, 225), arm(1100, 231)].map(({ n, sum }) => ({
      n,
      mean: sum / n,
      variance: (sum - (sum * sum) / n) / (n - 1),
    }));
    const { weights } = leafWeights(arms, [1, 1, 1], false);
    expect(weights).toEqual(
      [0.009938129003361156, 0.9732654459874248, 0.016796425009214088].map((w) => expect.closeTo(w, 6)),
    );
    expect(leafWeights([{ n: 99, mean: 1, variance: 1 }], [0.4], false)).toMatchObject({
      weights: [0.4],
      message: 'tooFewUnits',
    });
  });

  test('probabilities of being best sum to 1 however the precisions differ, and those of the best two, too', () => {
    const mean = fc.double({ min: -3, max: 3, noNaN: true });
    const power = fc.double({ min: -10, max: 4, noNaN: true });
    const normals = fc.array(
      fc.tuple(mean, power).map(([mean, power]) => ({ mean, variance: 10 ** power })),
      { minLength: 2, maxLength: 6 },
    );
    fc.assert(
      fc.property(normals, fc.boolean(), (normals, inverse) => {
        const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
        expect(sum(bestArmProbabilities(normals, inverse))).toBeCloseTo(1, 11);
        expect(sum(bestTwoProbabilities(normals, inverse))).toBeCloseTo(1, 11);
      }),
      { numRuns: 50 },
    );
  });
});

const cell = (country: string | undefined, index: number, mean: number, n = 200): Observation => ({
  arm: index,
  context: { country },
  n,
  sum: n * mean,
  sumOfSquares: (n - 1) * 1 + n * mean * mean,
});
const input: ContextualTreeInput = {
  arms: ['a', 'b'],
  attributes: ['country'],
  metric: 'mean',
  inverse: false,
  maxLeaves: 12,
  minUnitsPerLeaf: 0,
  defaultWeights: [0.5, 0.5],
  seed: 7,
  observations: [cell('US', 0, 1), cell('US', 1, 2), cell('CA', 0, 2), cell('CA', 1, 1)],
};

describe('a contextual tree', () => {
  test('gives contexts that respond otherwise a leaf of their own', () => {
    const tree = contextualTree(input);
    expect(tree.sumOfSquaredErrorsBySplits).toEqual([expect.closeTo(996, 9), expect.closeTo(796, 9)]);
    expect(tree.leaves.map(({ condition }) => targetingCondition(condition))).toEqual([
      { country: 'CA' },
      { country: 'US' },
    ]);
    expect(tree.leaves[1]?.weights[1]).toBeCloseTo(0.9900990099009901, 12);
    expect(tree.overallWeights[0]).toBeCloseTo(0.5, 12);
  });

  test('has one leaf, for everybody, where contexts respond alike', () => {
    const tree = contextualTree({
      ...input,
      observations: [cell('US', 0, 1), cell('US', 1, 2), cell('CA', 0, 1), cell('CA', 1, 2)],
    });
    expect(tree.sumOfSquaredErrorsBySplits).toHaveLength(1);
    expect(targetingCondition(tree.leaves[0]?.condition ?? [])).toEqual({});
  });

  test('makes no leaf with fewer units than the minimum', () => {
    expect(contextualTree({ ...input, minUnitsPerLeaf: 400 }).leaves).toHaveLength(2);
    expect(contextualTree({ ...input, minUnitsPerLeaf: 401 }).leaves).toHaveLength(1);
  });

  test('says of what is not known only what it is not', () => {
    const tree = contextualTree({
      ...input,
      observations: [...input.observations, cell(undefined, 0, 1), cell(undefined, 1, 2)],
    });
    expect(tree.leaves.map(({ condition }) => targetingCondition(condition))).toEqual([
      { country: 'CA' },
      { country: { $ne: 'CA' } },
    ]);
    expect(targetingCondition([{ attribute: 'attr_cb_plan', operator: 'notIn', levels: ['a', 'b'] }])).toEqual({
      plan: { $nin: ['a', 'b'] },
    });
    expect(targetingCondition([{ attribute: 'plan', operator: 'in', levels: ['a', 'b'] }])).toEqual({
      plan: { $in: ['a', 'b'] },
    });
  });

  test('is the same for the same input, also where the search begins at random', () => {
    const many = Array.from({ length: 24 }, (_, level) => [
      cell(`c${level}`, 0, (level * 7) % 5, 50),
      cell(`c${level}`, 1, (level * 3) % 4, 50),
    ]).flat();
    const given = { ...input, observations: many, maxLeaves: 5 };
    const tree = contextualTree(given);
    expect(tree.leaves).toHaveLength(5);
    expect(contextualTree(given)).toEqual(tree);
    const costs = tree.sumOfSquaredErrorsBySplits;
    expect(costs.every((cost, step) => step === 0 || cost < (costs[step - 1] ?? 0))).toBe(true);
  });

  test('is not made of ratios', () => {
    expect(() => contextualTree({ ...input, metric: 'ratio' as 'mean' })).toThrow('a mean or a proportion');
  });
});
