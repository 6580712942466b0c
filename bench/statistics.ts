/**
 * The statistics engine on one core. An established Python engine takes 1.5 s for the metrics and 41 to 95 ms for the levels.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Analysis,
  analyseExperiment,
  type ExperimentInput,
  type Metric,
  type MetricSums,
} from '../packages/statistics/src/index.ts';
import { meanMetric, plainAnalysis } from '../packages/statistics/testing/settings.ts';
import { bounded, figure, median, type Row } from './support/rows.ts';

const rounds = 15;

const metric: Metric = {
  ...meanMetric,
  prior: { proper: true, mean: 0, standardDeviation: 0.3 },
  roles: ['goal'],
  targetEffect: 0.05,
};

const analysis: Analysis = {
  ...plainAnalysis,
  variationIds: ['0', '1', '2'],
  weights: [1 / 3, 1 / 3, 1 / 3],
  multiplicityCorrected: true,
  durationDays: 14,
};

/** Sums of some thousand units with a covariate; those of `seed` differ a little from others. */
function sums(units: number, seed: number): MetricSums {
  const mean = 10 + ((seed * 7919) % 97) / 50;
  const covariate = 9 + ((seed * 104_729) % 89) / 60;
  return {
    sum: units * mean,
    sumOfSquares: units * (mean * mean + 25),
    denominatorSum: units * 2,
    denominatorSumOfSquares: units * 5,
    sumOfProductsWithDenominator: units * (mean * 2 + 1),
    covariateSum: units * covariate,
    covariateSumOfSquares: units * (covariate * covariate + 20),
    sumOfProductsWithCovariate: units * (mean * covariate + 12),
    denominatorCovariateSum: units * 1.9,
    denominatorCovariateSumOfSquares: units * 4.6,
    sumOfProductsWithDenominatorCovariate: units * (mean * 1.9 + 0.5),
    sumOfProductsCovariateWithDenominator: units * (covariate * 2 + 0.6),
    sumOfProductsCovariateWithDenominatorCovariate: units * (covariate * 1.9 + 0.8),
    sumOfProductsDenominatorWithDenominatorCovariate: units * 4.3,
  };
}

const manyMetrics = (statistic: Metric['statistic'], types: Partial<Metric>): ExperimentInput => {
  const ids = Array.from({ length: 200 }, (_, index) => `metric ${index}`);
  return {
    metrics: ids.map((id) => ({ ...metric, ...types, id, statistic })),
    analyses: [analysis],
    results: [
      {
        metrics: ids,
        rows: analysis.variationIds.map((variation, arm) => ({
          variation,
          breakdowns: {},
          units: 20_000 + arm * 13,
          metrics: ids.map((_, index) => sums(20_000 + arm * 13, index * 3 + arm)),
        })),
      },
    ],
    bandit: null,
  };
};

function manyLevels(): ExperimentInput {
  const variationIds = ['0', '1', '2', '3', '4'];
  const levels = Array.from({ length: 10 }, (_, index) => `level ${index}`);
  return {
    metrics: [{ ...metric, id: 'revenue' }],
    analyses: [{ ...analysis, variationIds, weights: variationIds.map(() => 0.2), breakdown: { kind: 'level' } }],
    results: [
      {
        metrics: ['revenue'],
        rows: levels.flatMap((level, index) =>
          variationIds.map((variation, arm) => ({
            variation,
            breakdowns: { level },
            units: 2000 + index,
            metrics: [sums(2000 + index, index * 5 + arm)],
          })),
        ),
      },
    ],
    bandit: null,
  };
}

/** Milliseconds of one analysis, once the code is warm. */
function timeOf(input: ExperimentInput): number {
  const times = Array.from({ length: rounds + 10 }, () => {
    const start = performance.now();
    analyseExperiment(input);
    return performance.now() - start;
  });
  return median(times.slice(10));
}

/** Milliseconds that a new process needs to import the engine, with a compile cache as every `npm run` has it, or with none. */
function loadingTime(cache: string | undefined): number {
  const index = new URL('../packages/statistics/src/index.ts', import.meta.url).href;
  const program = `const start = performance.now(); await import(${JSON.stringify(index)}); process.stdout.write(String(performance.now() - start));`;
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  const run = (): number =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env }));
  run();
  return median(Array.from({ length: 7 }, run));
}

/** Measures whole analyses and the time to load. Takes some seconds. */
export async function benchStatistics(): Promise<Row[]> {
  const means = manyMetrics('regressionAdjustedMean', { covariateType: 'mean' });
  const ratios = manyMetrics('regressionAdjustedRatio', { denominatorType: 'mean' });
  const cache = await mkdtemp(join(tmpdir(), 'halyard-bench-'));
  try {
    return [
      bounded('200 metrics × 3 variations, CUPED', 'ms', timeOf(means), 50),
      figure('200 metrics × 3 variations, ratio CUPED', 'ms', timeOf(ratios)),
      bounded('1 metric × 5 variations × 10 levels', 'ms', timeOf(manyLevels()), 2),
      bounded('loading', 'ms', loadingTime(cache), 150),
      figure('loading for the first time', 'ms', loadingTime(undefined)),
    ];
  } finally {
    await rm(cache, { recursive: true });
  }
}
