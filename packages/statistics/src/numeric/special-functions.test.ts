import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixtureLines } from '../../testing/fixtures.ts';
import { chiSquareSurvival } from './chi-square.ts';
import { meanExcess, normalCdf, normalQuantile } from './normal.ts';
import { studentCdf, studentQuantile, studentUpperTail } from './student.ts';

interface Line {
  readonly function: keyof typeof functions;
  readonly arguments: readonly [number, number];
  readonly value: number;
}

const functions = {
  normalCdf: (x: number) => normalCdf(x),
  normalQuantile: (p: number) => normalQuantile(p),
  meanExcess: (a: number) => meanExcess(a),
  studentUpperTail,
  chiSquareSurvival,
};

const lines = fixtureLines<Line>('special-functions');
const relativeError = (value: number, expected: number): number =>
  expected === 0 ? Math.abs(value) : Math.abs(value / expected - 1);

describe('special functions', () => {
  test.each(Object.keys(functions))('%s is within 1e-12 of 60-digit arithmetic, in tails down to 1e-300', (name) => {
    const own = lines.filter((line) => line.function === name);
    expect(own.length).toBeGreaterThan(20);
    const wrong = own.filter(
      (line) => !(relativeError(functions[line.function](...line.arguments), line.value) < 1e-12),
    );
    expect(wrong).toEqual([]);
  });

  test('the t quantile inverts the t tail to 1e-12, from half a degree of freedom to 10¹²', () => {
    const tails = lines.filter((line) => line.function === 'studentUpperTail' && line.value < 0.49);
    const wrong = tails.filter(({ arguments: [, df], value }) => {
      const t = -studentQuantile(value, df);
      return !(relativeError(studentUpperTail(t, df), value) < 1e-12);
    });
    expect(wrong).toEqual([]);
  });

  test('the normal quantile inverts the distribution function down to 1e-300', () => {
    const exponent = fc.double({ min: -300, max: -0.31, noNaN: true });
    fc.assert(
      fc.property(exponent, (power) => {
        const p = 10 ** power;
        // A quantile is known to its last digit; so far out that is many digits of the probability.
        const z = normalQuantile(p);
        expect(relativeError(normalCdf(z), p)).toBeLessThan(1e-15 * (8 + z * z));
      }),
    );
  });

  test('distribution functions rise, and lie between 0 and 1', () => {
    const t = fc.double({ min: -50, max: 50, noNaN: true });
    const step = fc.double({ min: 1e-6, max: 3, noNaN: true });
    const df = fc.double({ min: 0.6, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(t, step, df, (t, step, df) => {
        expect(studentCdf(t + step, df)).toBeGreaterThanOrEqual(studentCdf(t, df));
        expect(normalCdf(t + step)).toBeGreaterThanOrEqual(normalCdf(t));
        expect(studentCdf(t, df)).toBeGreaterThanOrEqual(0);
        expect(studentCdf(t, df)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('ends and impossible arguments are answered, not computed', () => {
    expect(normalQuantile(0)).toBe(-Infinity);
    expect(normalQuantile(1)).toBe(Infinity);
    expect(normalQuantile(1.1)).toBeNaN();
    expect(normalCdf(Number.NaN)).toBeNaN();
    expect(normalCdf(40)).toBe(1);
    expect(normalCdf(-40)).toBe(0);
    expect(studentQuantile(0, 5)).toBe(-Infinity);
    expect(studentQuantile(0.5, 5)).toBe(0);
    expect(studentQuantile(0.9, 0)).toBeNaN();
    expect(studentCdf(Number.NaN, 3)).toBeNaN();
    expect(studentUpperTail(Infinity, 3)).toBe(0);
    expect(chiSquareSurvival(-1, 2)).toBe(1);
    expect(chiSquareSurvival(Infinity, 2)).toBe(0);
    expect(chiSquareSurvival(1, 0)).toBeNaN();
  });
});
