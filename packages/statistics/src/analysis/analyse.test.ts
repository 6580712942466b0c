import { describe, expect, test } from 'vitest';
import { meanMetric, plainAnalysis } from '../../testing/settings.ts';
import { analyseExperiment } from './analyse.ts';
import type { Analysis, ExperimentInput, Metric, MetricSums, Row } from './input.ts';

const row = (variation: string, units: number, breakdowns: Row['breakdowns'] = {}, sums?: MetricSums): Row => ({
  variation,
  breakdowns,
  units,
  metrics: [sums ?? { sum: units * 3, sumOfSquares: units * 12 }],
});
const experiment = (
  rows: readonly Row[],
  changes: { metric?: Partial<Metric>; analysis?: Partial<Analysis> } = {},
): ExperimentInput => ({
  metrics: [{ ...meanMetric, ...changes.metric }],
  analyses: [{ ...plainAnalysis, ...changes.analysis }],
  results: [{ metrics: ['revenue'], rows }],
  bandit: null,
});
const firstAnalysis = (input: ExperimentInput) => {
  const found = analyseExperiment(input).metrics[0]?.analyses[0];
  if (found === undefined) throw new Error('The experiment has no analysis.');
  return found;
};

describe('one analysis', () => {
  test('counts units that saw several variations, and none of them for a variation [experiments M35]', () => {
    const result = firstAnalysis(experiment([row('0', 100), row('1', 110), row('__multiple__', 7), row('old', 5)]));
    expect(result.multipleExposures).toBe(7);
    expect(result.unknownVariations).toEqual(['old']);
    expect(result.levels[0]?.variations.map(({ units }) => units)).toEqual([100, 110]);
  });

  test('takes 25 levels as 20, the last of all that are left; of quantiles it keeps 20 [experiments M36]', () => {
    const levels = Array.from({ length: 25 }, (_, index) => ({ date: `day ${index}`, units: 1000 - index }));
    const analysis = { breakdown: { kind: 'date' } } as const;
    const rows = levels.flatMap(({ date, units }) => [row('0', units, { date }), row('1', units, { date })]);
    const sums = firstAnalysis(experiment(rows, { analysis })).levels;
    expect(sums).toHaveLength(20);
    const smallest = levels.slice(19).reduce((sum, { units }) => sum + units, 0);
    expect(sums[19]).toMatchObject({ level: '(other)', variations: [{ units: smallest }, { units: smallest }] });

    const quantile: MetricSums = {
      quantileN: 500,
      quantileNForInterval: 400,
      quantileEstimate: 3,
      quantileLower: 2.8,
      quantileUpper: 3.3,
    };
    const single = levels.flatMap(({ date, units }) => [
      row('0', units, { date }, quantile),
      row('1', units, { date }, quantile),
    ]);
    const changes = {
      metric: { statistic: 'quantileOfUnits', numeratorType: 'quantile', quantileLevel: 0.5 },
      analysis,
    } as const;
    const quantiles = firstAnalysis(experiment(single, changes)).levels;
    expect(quantiles.map(({ level }) => level)).toEqual(levels.slice(0, 20).map(({ date }) => date));
  });

  test('adds strata of levels that are taken together once', () => {
    const rows = ['a', 'b', 'c'].flatMap((level) =>
      ['x', 'y'].flatMap((country) =>
        ['0', '1'].map((variation) => row(variation, 50, { level, 'attribute:country': country })),
      ),
    );
    const analysis = { breakdown: { kind: 'level' }, postStratify: true, maxLevels: 1 } as const;
    expect(firstAnalysis(experiment(rows, { analysis })).levels).toMatchObject([
      { level: '(other)', variations: [{ units: 300 }, { units: 300 }] },
    ]);
  });

  test('answers without data, without mean and without variance by a problem and neutral numbers', () => {
    const zero = { sum: 0, sumOfSquares: 0 };
    for (const rows of [
      [row('0', 0, {}, zero), row('1', 0, {}, zero)],
      [row('0', 100, {}, zero), row('1', 100, {}, zero)],
      [row('0', 100, {}, { sum: 300, sumOfSquares: 900 }), row('1', 100)],
      [row('1', 100)],
    ]) {
      expect(firstAnalysis(experiment(rows)).levels[0]?.variations[1]).toMatchObject({
        error: 'nonPositiveVariance',
        pointEstimate: 0,
        confidenceInterval: [0, 0],
        pValue: 1,
      });
    }
    expect(firstAnalysis(experiment([row('other', 5)])).levels).toEqual([]);
    expect(analyseExperiment(experiment([])).metrics).toEqual([]);
  });

  test('places the control where it is asked for', () => {
    const changes = { analysis: { variationIds: ['1', '0'], baselineIndex: 1 } };
    const kinds = firstAnalysis(experiment([row('0', 100), row('1', 110)], changes)).levels[0]?.variations;
    expect(kinds?.map(({ kind, units }) => [kind, units])).toEqual([
      ['frequentist', 100],
      ['baseline', 110],
    ]);
  });

  test('refuses rows that cannot be added up, with what to change', () => {
    const theta = { sum: 1, sumOfSquares: 2, theta: 0.4 };
    const rows = [row('0', 10, {}, theta), row('0', 10, {}, theta)];
    expect(() => analyseExperiment(experiment(rows))).toThrow('Give one row for each variation and level');
    expect(() => analyseExperiment(experiment([row('0', 10, { level: 3 })]))).toThrow('cast the column to text');
  });

  test('decides a bandit only by rows of all units, and not by a quantile', () => {
    const bandit = {
      variationIds: ['0', '1'],
      currentWeights: [0.5, 0.5],
      reweight: true,
      decisionMetric: 'revenue',
      minimumWeight: 0.01,
      topTwo: false,
    };
    const all = [
      row('0', 1000, { level: 'All' }),
      row('1', 1000, { level: 'All' }, { sum: 3500, sumOfSquares: 20_000 }),
    ];
    const result = analyseExperiment({ ...experiment(all), bandit }).bandit;
    expect(result).toMatchObject({ weightsWereUpdated: true, updateMessage: 'updated', error: '' });
    expect(result?.updatedWeights[1]).toBeGreaterThan(0.98);
    const held = analyseExperiment({ ...experiment(all), bandit: { ...bandit, reweight: false } }).bandit;
    expect(held).toMatchObject({ weightsWereUpdated: false, updatedWeights: [0.5, 0.5] });
    const other = [row('0', 1000, { level: 'US' })];
    expect(() => analyseExperiment({ ...experiment(other), bandit })).toThrow('no rows with level "All"');
    const missing = { ...bandit, decisionMetric: 'other' };
    expect(analyseExperiment({ ...experiment(all), bandit: missing }).bandit).toMatchObject({
      error: 'noRows',
      updateMessage: 'notUpdated',
    });
    const quantile = { statistic: 'quantileOfUnits', quantileLevel: 0.5 } as const;
    expect(() => analyseExperiment({ ...experiment(all, { metric: quantile }), bandit })).toThrow(
      'not by the quantile',
    );
  });
});
