import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arm, summable } from '../../testing/arbitraries.ts';
import { frequentistSettings } from '../../testing/settings.ts';
import { effectMoments } from '../effects/moments.ts';
import { postStratifiedMoments } from '../effects/post-stratification.ts';
import { adviceFor } from '../problem.ts';
import { capOf, capped } from '../samples/capping.ts';
import { variance } from '../samples/moments.ts';
import { pool } from '../samples/pooling.ts';
import type { MeanStatistic, ProportionStatistic } from '../samples/statistic.ts';
import { gaussianRisk } from './bayesian.ts';
import { fixedHorizonTest } from './fixed-horizon.ts';
import { adjustedInterval, benjaminiHochberg, correctPValues, holm } from './multiple-comparisons.ts';
import {
  multipleExposuresHealth,
  sampleRatioHealth,
  sampleRatioMismatch,
  sampleRatioMismatchOverPeriods,
} from './sample-ratio.ts';

const control: MeanStatistic = { type: 'mean', n: 3407, sum: 1396.87, sumOfSquares: 52377.9767 };
const treatment: MeanStatistic = { type: 'mean', n: 3461, sum: 2422.7, sumOfSquares: 134698.29 };
const settings = { ...frequentistSettings, differenceType: 'relative' } as const;

describe('effects', () => {
  test('a relative test is neither the absolute one nor the inversion of its interval [experiments M40]', () => {
    const relative = fixedHorizonTest([{ control, treatment }], settings);
    const absolute = fixedHorizonTest([{ control, treatment }], { ...settings, differenceType: 'absolute' });
    expect(relative.pValue).toBeCloseTo(0.06191182745618362, 12);
    expect(relative.confidenceInterval[0]).toBeCloseTo(-0.03526008906611777, 12);
    expect(relative.confidenceInterval[1]).toBeCloseTo(1.449894235407581, 12);
    expect(absolute.pValue).toBeCloseTo(0.020158402643587037, 12);
    expect(absolute.confidenceInterval[0]).toBeCloseTo(0.04537789255929012, 12);
  });

  test('the variance of a proportion has n, and n − 1 once several strata are added up [experiments M39]', () => {
    const stratum: ProportionStatistic = { type: 'proportion', n: 10, sum: 4 };
    expect(variance(pool([stratum]))).toBeCloseTo(0.24, 15);
    expect(variance(pool([stratum, stratum]))).toBeCloseTo((0.24 * 20) / 19, 15);
  });

  test('a constant covariate gives exactly the result without it [experiments M41]', () => {
    fc.assert(
      fc.property(arm, arm, (a, b) => {
        const flat = (units: typeof a): typeof a => units.map((unit) => ({ ...unit, covariate: 3 }));
        for (const comparison of ['relative', 'absolute'] as const) {
          const adjusted = effectMoments(
            summable.regressionAdjusted(flat(a)),
            summable.regressionAdjusted(flat(b)),
            comparison,
          );
          expect(adjusted).toEqual(effectMoments(summable.mean(a), summable.mean(b), comparison));
        }
      }),
    );
  });

  test('a negative control mean changes the sign of no effect, and the variance of no adjusted ratio [experiments M42]', () => {
    fc.assert(
      fc.property(arm, arm, (a, b) => {
        const negative = (units: typeof a): typeof a =>
          units.map((unit) => ({ ...unit, outcome: -unit.outcome, covariate: -unit.covariate }));
        for (const of of [summable.mean, summable.regressionAdjustedRatio]) {
          const positive = effectMoments(of(a), of(b), 'relative');
          const flipped = effectMoments(of(negative(a)), of(negative(b)), 'relative');
          // Everything is mirrored: a rise of what is negative counts as one.
          expect(Math.abs(flipped.pointEstimate + positive.pointEstimate)).toBeLessThanOrEqual(
            1e-9 * Math.max(1, Math.abs(positive.pointEstimate)),
          );
          expect(Math.abs(flipped.standardError - positive.standardError)).toBeLessThanOrEqual(
            1e-6 * Math.max(1, positive.standardError),
          );
        }
      }),
    );
  });

  test('one viable stratum gives the plain result, not post-stratified [experiments M43]', () => {
    const empty: MeanStatistic = { type: 'mean', n: 0, sum: 0, sumOfSquares: 0 };
    const strata = [
      { control, treatment },
      { control: empty, treatment: empty },
    ];
    expect(postStratifiedMoments(strata, 'relative')).toEqual(effectMoments(control, treatment, 'relative'));
  });

  test('an effect 50 standard deviations from 0 has a risk without NaN [experiments M46]', () => {
    expect(gaussianRisk(5, 0.1)).toEqual([5, 0]);
    expect(gaussianRisk(-5, 0.1)).toEqual([0, 5]);
  });

  test('the advice for a problem says what to do', () => {
    expect(adviceFor('noUnits')).toContain('totalUnits');
  });
});

describe('corrections', () => {
  test('Holm and Benjamini–Hochberg give what their papers define, in the order given', () => {
    expect(holm([0.01, 0.04, 0.03, 0.005, 0.55, 0.6])).toEqual([0.05, 0.12, 0.12, 0.03, 1, 1].map(closeTo));
    expect(benjaminiHochberg([0.898, 0.138, 0.007, 0.964, 0.538, 0.006, 0.138])).toEqual(
      [0.964, 0.2415, 0.0245, 0.964, 0.7532, 0.0245, 0.2415].map(closeTo),
    );
    expect(correctPValues([0.01, null, 0.04], 'holm')).toEqual([closeTo(0.02), null, closeTo(0.04)]);
  });

  test('no adjusted interval is narrower than the original at either end [experiments M45]', () => {
    const finite = fc.double({ min: -5, max: 5, noNaN: true });
    const width = fc.double({ min: 1e-3, max: 4, noNaN: true });
    const chance = fc.double({ min: 1e-12, max: 1, noNaN: true });
    fc.assert(
      fc.property(finite, width, chance, fc.boolean(), (estimate, width, pValue, isOpen) => {
        const original = [isOpen ? -Infinity : estimate - width, estimate + width] as const;
        const [lower, upper] = adjustedInterval(estimate, pValue, 0.05, original);
        expect(lower).toBeLessThanOrEqual(original[0]);
        expect(upper).toBeGreaterThanOrEqual(original[1]);
      }),
    );
  });
});

const closeTo = (value: number): unknown => expect.closeTo(value, 4);

describe('sample ratio', () => {
  test('p-values are those of Pearson’s test', () => {
    expect(sampleRatioMismatch([1000, 1200], [0.5, 0.5])).toBeCloseTo(2.007865612426481e-5, 15);
    expect(sampleRatioMismatch([310, 98], [0.75, 0.25])).toBeCloseTo(0.647434186, 9);
    expect(sampleRatioMismatch([500, 500, 600], [0.34, 0.33, 0.33])).toBeCloseTo(0.0005926379315273186, 13);
  });

  test('an arm without weight is left out of the whole, and keeps its degree of freedom in a level [experiments M47]', () => {
    const arms = [
      { units: 500, weight: 0.5 },
      { units: 560, weight: 0.5 },
      { units: 40, weight: 0 },
    ];
    expect(sampleRatioHealth(arms, 0.001).pValue).toBe(sampleRatioMismatch([500, 560], [1, 1]));
    // χ² with one and with two degrees of freedom.
    const level = sampleRatioMismatch([500, 560, 0], [0.5, 0.5, 0]);
    expect(level).toBeCloseTo(Math.exp(-(2 * 30 ** 2) / 530 / 2), 12);
  });

  test('too few units are not judged, a skewed split is unhealthy', () => {
    const arms = (a: number, b: number) => [
      { units: a, weight: 0.5 },
      { units: b, weight: 0.5 },
    ];
    expect(sampleRatioHealth(arms(15, 0), 0.001).health).toBe('notEnoughTraffic');
    expect(sampleRatioHealth(arms(15, 0), 0.001, 'bandit').health).toBe('unhealthy');
    expect(sampleRatioHealth(arms(1000, 1300), 0.001).health).toBe('unhealthy');
    expect(sampleRatioHealth(arms(1000, 1010), 0.001).health).toBe('healthy');
    expect(sampleRatioHealth([{ units: 9, weight: 1 }], 0.001)).toEqual({ pValue: 1, health: 'healthy' });
  });

  test('over periods, each period is expected by its own weights', () => {
    const periods = [
      { observed: [500, 500], weights: [0.5, 0.5] },
      { observed: [900, 100], weights: [0.9, 0.1] },
    ];
    expect(sampleRatioMismatchOverPeriods(periods)).toBe(1);
  });

  test('several exposures are judged from ten units on', () => {
    expect(multipleExposuresHealth(9, 9, 0.01).health).toBe('notEnoughTraffic');
    expect(multipleExposuresHealth(1000, 10, 0.01)).toEqual({ share: 0.01, health: 'unhealthy' });
    expect(multipleExposuresHealth(1000, 9, 0.01).health).toBe('healthy');
    expect(multipleExposuresHealth(0, 0, 0.01).share).toBe(0);
  });
});

describe('capping', () => {
  test('a percentile is that of all units together, with or without zeros', () => {
    const values = [0, 0, 1, 2, 3, 4];
    expect(capOf(values, { kind: 'percentile', level: 0.5, ignoreZeros: false })).toBe(1.5);
    expect(capOf(values, { kind: 'percentile', level: 0.5, ignoreZeros: true })).toBe(2.5);
    expect(capOf([], { kind: 'percentile', level: 0.5, ignoreZeros: false })).toBe(Infinity);
    expect(capped(values, capOf(values, { kind: 'absolute', cap: 2 }))).toEqual([0, 0, 1, 2, 2, 2]);
    expect(() => capOf(values, { kind: 'percentile', level: 95, ignoreZeros: false })).toThrow('between 0 and 1');
  });
});
