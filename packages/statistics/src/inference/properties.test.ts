import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arm, summable, type Unit } from '../../testing/arbitraries.ts';
import { frequentistSettings } from '../../testing/settings.ts';
import { effectMoments } from '../effects/moments.ts';
import { addStatistics } from '../samples/pooling.ts';
import type { Statistic } from '../samples/statistic.ts';
import { bayesianTest } from './bayesian.ts';
import { fixedHorizonTest } from './fixed-horizon.ts';
import type { Alternative } from './frequentist.ts';
import {
  oneSidedSequentialPValue,
  sequentialHalfWidth,
  sequentialPValue,
  sequentialRho,
  sequentialTest,
} from './sequential.ts';

const kinds = Object.keys(summable) as (keyof typeof summable)[];
const sequential = { ...frequentistSettings, tuningParameter: 500, rho: null };
const alternatives: Alternative[] = ['twoSided', 'greater', 'less'];

/** Equal up to rounding, on the scale of what was computed with. */
const expectClose = (value: number | null, expected: number | null, scale = 1): void => {
  if (value === null || expected === null) expect(value).toBe(expected);
  else expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-8 * Math.max(scale, Math.abs(expected)));
};

const pair = (control: Statistic, treatment: Statistic): [{ control: Statistic; treatment: Statistic }] => [
  { control, treatment },
];
const changed = (units: readonly Unit[], change: (outcome: number) => number): Unit[] =>
  units.map((unit) => ({ ...unit, outcome: change(unit.outcome) }));

describe('effects', () => {
  test.each(kinds)('%s: an outcome in another unit scales the absolute effect and leaves the relative one', (kind) => {
    const of = summable[kind];
    fc.assert(
      fc.property(arm, arm, fc.integer({ min: -6, max: 9 }), (a, b, power) => {
        const factor = 2 ** power;
        const scaled = [changed(a, (y) => y * factor), changed(b, (y) => y * factor)] as const;
        for (const comparison of ['absolute', 'relative'] as const) {
          const before = effectMoments(of(a), of(b), comparison);
          const after = effectMoments(of(scaled[0]), of(scaled[1]), comparison);
          const expected = comparison === 'absolute' ? factor : 1;
          expect(after.error).toBe(before.error);
          expectClose(after.pointEstimate, before.pointEstimate * expected, expected);
          expectClose(after.standardError, before.standardError * expected, expected);
        }
      }),
    );
  });

  test.each(['mean', 'regressionAdjusted'] as const)(
    '%s: what is added to every outcome changes no difference',
    (kind) => {
      const of = summable[kind];
      fc.assert(
        fc.property(arm, arm, fc.integer({ min: 0, max: 500 }), (a, b, shift) => {
          const before = effectMoments(of(a), of(b), 'absolute');
          const after = effectMoments(of(changed(a, (y) => y + shift)), of(changed(b, (y) => y + shift)), 'absolute');
          expectClose(after.pointEstimate, before.pointEstimate, 100);
          expectClose(after.standardError, before.standardError, 100);
        }),
      );
    },
  );

  test.each(kinds)('%s: swapping the arms turns the sign of the difference, and nothing else', (kind) => {
    const of = summable[kind];
    fc.assert(
      fc.property(arm, arm, (a, b) => {
        const there = fixedHorizonTest(pair(of(a), of(b)), frequentistSettings);
        const back = fixedHorizonTest(pair(of(b), of(a)), frequentistSettings);
        expectClose(back.pointEstimate, -there.pointEstimate);
        expectClose(back.pValue, there.pValue);
        expectClose(back.degreesOfFreedom, there.degreesOfFreedom);
        expectClose(back.confidenceInterval[0], -there.confidenceInterval[1]);
      }),
    );
  });

  test.each(kinds)('%s: a sample that is split in two and added up is the sample', (kind) => {
    const of = summable[kind];
    fc.assert(
      fc.property(arm, arm, fc.integer({ min: 1, max: 7 }), (a, b, at) => {
        const together = addStatistics(of(b.slice(0, at)), of(b.slice(at)));
        const whole = effectMoments(of(a), of(b), 'relative');
        const added = effectMoments(of(a), together, 'relative');
        expect(added).toEqual(whole);
      }),
    );
  });
});

describe('tests', () => {
  test('the further the treatment is shifted, the smaller is the p-value for greater, and the larger for less', () => {
    fc.assert(
      fc.property(arm, arm, fc.integer({ min: 1, max: 300 }), (a, b, shift) => {
        const { mean } = summable;
        const near = pair(mean(a), mean(b));
        const far = pair(mean(a), mean(changed(b, (y) => y + shift)));
        const p = (strata: typeof near, alternative: Alternative): number[] => [
          fixedHorizonTest(strata, { ...frequentistSettings, alternative }).pValue ?? Number.NaN,
          sequentialTest(strata, { ...sequential, alternative }).pValue ?? Number.NaN,
        ];
        for (const [index, value] of p(far, 'greater').entries()) {
          expect(value).toBeLessThanOrEqual((p(near, 'greater')[index] ?? 0) + 1e-12);
        }
        for (const [index, value] of p(far, 'less').entries()) {
          expect(value).toBeGreaterThanOrEqual((p(near, 'less')[index] ?? 1) - 1e-12);
        }
        const chance = (strata: typeof near): number =>
          bayesianTest(strata, {
            ...frequentistSettings,
            prior: { mean: 0, variance: 1, proper: false },
            priorType: 'relative',
            inverse: false,
          }).chanceToWin;
        expect(chance(far)).toBeGreaterThanOrEqual(chance(near) - 1e-12);
      }),
    );
  });

  test.each(alternatives)('%s: an interval excludes 0 exactly where the p-value is below alpha', (alternative) => {
    const alpha = fc.double({ min: 0.001, max: 0.4, noNaN: true });
    fc.assert(
      fc.property(arm, arm, alpha, fc.constantFrom('absolute', 'relative'), (a, b, alpha, differenceType) => {
        const strata = pair(summable.mean(a), summable.mean(b));
        const asked = { ...frequentistSettings, alternative, alpha, differenceType } as const;
        for (const { pValue, confidenceInterval } of [
          fixedHorizonTest(strata, asked),
          sequentialTest(strata, { ...asked, tuningParameter: 500, rho: null }),
        ]) {
          // One-sided sequential p-values end at 1e-5 and 0.4999; no alpha of this test does.
          if (pValue === null || Math.abs(pValue - alpha) < 1e-9) continue;
          const excludes = confidenceInterval[0] > 0 || confidenceInterval[1] < 0;
          expect(excludes).toBe(pValue < alpha);
        }
      }),
    );
  });

  test('sequential p-values are the levels at which the bounds are 0', () => {
    const z = fc.double({ min: 0.5, max: 6, noNaN: true });
    const n = fc.integer({ min: 10, max: 1_000_000 });
    const rho = fc.double({ min: 0.003, max: 0.2, noNaN: true });
    fc.assert(
      fc.property(z, n, rho, (z, n, rho) => {
        const twoSided = sequentialPValue(z, n, rho);
        if (twoSided < 1 && twoSided > 1e-12) {
          // With a standard error of 1 the bound is 0 where the half-width is z.
          expectClose(sequentialHalfWidth(n, n, rho, twoSided, 'twoSided'), z);
        }
        const oneSided = oneSidedSequentialPValue(z, n, rho);
        if (oneSided < 0.4999 && oneSided > 1e-5) {
          expectClose(sequentialHalfWidth(n, n, rho, oneSided, 'greater'), z);
        }
      }),
    );
  });

  test('the sequential interval is tightest, beside the fixed one, at about the tuning parameter', () => {
    const tuning = 5000;
    const rho = sequentialRho(0.05, tuning, 'twoSided');
    // For data of unit variance the fixed interval shrinks with √n.
    const beside = (n: number): number => sequentialHalfWidth(1, n, rho, 0.05, 'twoSided') * Math.sqrt(n);
    const sizes = [500, 1000, 2500, 5000, 10_000, 50_000];
    const best = sizes.reduce((least, n) => (beside(n) < beside(least) ? n : least));
    expect(best).toBe(tuning);
  });
});
