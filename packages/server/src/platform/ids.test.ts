import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idMaker } from './ids.ts';

describe('ids', () => {
  test('begin with their prefix and go on in letters and digits', () => {
    expect(idMaker({ now: () => new Date('2026-01-31T09:00:00Z') })('prj_')).toMatch(/^prj_[0-9a-z]{22}$/);
  });

  test('rise as plain text with time, within a millisecond, and when the clock runs back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 2, maxLength: 200 }), (steps) => {
        let time = Date.parse('2026-01-31T09:00:00Z');
        const newId = idMaker({ now: () => new Date(time) });
        const ids = steps.map((step) => {
          time += step;
          return newId('x_');
        });
        expect(ids).toEqual([...ids].sort());
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('of two processes do not meet', () => {
    const clock = { now: () => new Date('2026-01-31T09:00:00Z') };
    const [one, other] = [idMaker(clock), idMaker(clock)];
    const ids = Array.from({ length: 1_000 }, () => [one(''), other('')]).flat();
    expect(new Set(ids).size).toBe(2_000);
  });
});
