import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketRanges, chooseVariation, equalWeights, inNamespace, inRange } from './index.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('bucket ranges', () => {
  test('apply coverage once, to each variation from its own start [flags M101]', () => {
    const ranges = bucketRanges(2, 0.5, [0.5, 0.5]);
    expect(ranges).toEqual([
      [0, 0.25],
      [0.5, 0.75],
    ]);
    const buckets = Array.from({ length: 10_000 }, (_, bucket) => bucket / 10_000);
    const chosen = buckets.map((bucket) => chooseVariation(bucket, ranges));
    expect([0, 1, -1].map((arm) => chosen.filter((variation) => variation === arm).length)).toEqual([2500, 2500, 5000]);
  });

  test('start where the raw weights before them end', () => {
    expect(bucketRanges(2, 0.5, [0.4, 0.6])).toEqual([
      [0, 0.2],
      [0.4, 0.7],
    ]);
  });

  test('clamp coverage to 0..1, and 0 covers nobody', () => {
    expect(bucketRanges(2, 0)).toEqual([
      [0, 0],
      [0.5, 0.5],
    ]);
    expect(bucketRanges(2, -3)).toEqual(bucketRanges(2, 0));
    expect(bucketRanges(2, 7)).toEqual(bucketRanges(2, 1));
    expect(chooseVariation(0, bucketRanges(2, 0))).toBe(-1);
  });

  test('take unusable weights for equal ones: a wrong number of them, or a sum off by more than a hundredth', () => {
    const equal = bucketRanges(3, 1);
    expect(bucketRanges(3, 1, [0.5, 0.5])).toEqual(equal);
    expect(bucketRanges(3, 1, [0.5, 0.2, 0.28])).toEqual(equal);
    expect(bucketRanges(3, 1, [0.5, 0.3, 0.22])).toEqual(equal);
    expect(bucketRanges(3, 1, [])).toEqual(equal);
    expect(bucketRanges(3, 1, [0.5, 0.25, 0.245])[1]).toEqual([0.5, 0.75]);
  });

  test('keep everyone where they are when coverage is raised', () => {
    const weights = fc.constantFrom(
      [0.5, 0.5],
      [0.1, 0.9],
      [0.2, 0.3, 0.5],
      [1, 0],
      [0, 0, 1],
      [0.25, 0.25, 0.25, 0.25],
    );
    fc.assert(
      fc.property(share, share, share, weights, (bucket, one, other, given) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        const before = chooseVariation(bucket, bucketRanges(given.length, less, given));
        const after = chooseVariation(bucket, bucketRanges(given.length, more, given));
        expect([before === -1, before === after]).toContain(true);
      }),
    );
  });

  test('give a variation of weight 0 to nobody', () => {
    const ranges = bucketRanges(3, 1, [0.5, 0, 0.5]);
    fc.assert(
      fc.property(share, (bucket) => {
        expect(chooseVariation(bucket, ranges)).not.toBe(1);
      }),
    );
  });
});

describe('equal weights', () => {
  test('are none for no variations, and add up to 1 otherwise', () => {
    expect([-1, 0, 1, 2].map(equalWeights)).toEqual([[], [], [1], [0.5, 0.5]]);
  });
});

describe('a range', () => {
  test('holds its start and not its end', () => {
    expect([0.2, 0.3, 0.4].map((bucket) => inRange(bucket, [0.2, 0.4]))).toEqual([true, true, false]);
  });
});

describe('a namespace', () => {
  test('hashes users by its name, alike for all experiments in it', () => {
    const buckets = { 'user-1': 0.486, 'user-2': 0.495, 'user-3': 0.092, 'user-4': 0.565 };
    for (const [user, bucket] of Object.entries(buckets)) {
      expect(inNamespace(user, ['ns-pricing', bucket, bucket + 0.001])).toBe(true);
      expect(inNamespace(user, ['ns-pricing', bucket + 0.001, 1])).toBe(false);
    }
  });
});
