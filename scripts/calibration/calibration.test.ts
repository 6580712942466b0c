import { describe, expect, test } from 'vitest';
import { seededRandom } from './random.ts';
import { report } from './report.ts';
import { type Counters, runPiece, studies } from './studies.ts';

describe('calibration', () => {
  test('the same seed gives the same numbers, another piece others', () => {
    const first = runPiece('corrections', 0, 50, 1);
    expect(runPiece('corrections', 0, 50, 1)).toEqual(first);
    expect(runPiece('corrections', 1, 50, 1)).not.toEqual(first);
  });

  test('random numbers have the moments of their distributions', () => {
    const random = seededRandom(3, 4);
    let [uniform, normal, square] = [0, 0, 0];
    for (let draw = 0; draw < 100_000; draw++) {
      uniform += random.uniform() / 100_000;
      const value = random.normal();
      normal += value / 100_000;
      square += value ** 2 / 100_000;
    }
    expect(uniform).toBeCloseTo(0.5, 2);
    expect(normal).toBeCloseTo(0, 1);
    expect(square).toBeCloseTo(1, 1);
  });

  test('a report has every study, with its plots', () => {
    const counters: Counters = new Map();
    for (const { name } of studies) {
      for (const [counter, amount] of runPiece(name, 0, 2, 1))
        counters.set(counter, (counters.get(counter) ?? 0) + amount);
    }
    const { text, plots } = report(counters, { seed: 1, scale: 0.001, minutes: 0 });
    expect(text.match(/^## /gm)).toHaveLength(8);
    expect([...plots.keys()]).toHaveLength(7);
    for (const plot of plots.values()) expect(plot).toMatch(/^<svg [^]*<\/svg>\n$/);
  });
});
