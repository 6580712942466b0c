/** What is simulated. Every study adds to counters, so that pieces of it can run anywhere and be added up. */
import {
  banditPrior,
  banditWeights,
  bayesianTest,
  benjaminiHochberg,
  effectMoments,
  fixedHorizonTest,
  holm,
  type MeanStatistic,
  sampleRatioMismatch,
  sequentialTest,
} from '../../packages/statistics/src/index.ts';
import { frequentistSettings } from '../../packages/statistics/testing/settings.ts';
import { type Random, seededRandom } from './random.ts';
import { kinds } from './samples.ts';

export type Counters = Map<string, number>;

export interface Study {
  readonly name: string;
  /** Independent experiments in a full run. */
  readonly replicates: number;
  /** How many of them are one piece of work. */
  readonly piece: number;
  readonly run: (random: Random, replicates: number, count: (name: string, amount?: number) => void) => void;
}

const flat = { mean: 0, variance: 1, proper: false };
export const unitsPerArm = 2000;
export const lift = 0.1;

const covers = ([lower, upper]: readonly [number, number], truth: number): boolean => lower <= truth && truth <= upper;

/** False positives without, and coverage with a true effect, for every kind of metric. */
const metricStudies = kinds.map(
  (kind): Study => ({
    name: `metric ${kind.name}`,
    replicates: 30_000,
    piece: 500,
    run(random, replicates, count) {
      const asked = { ...frequentistSettings, postStratify: kind.postStratify };
      for (let done = 0; done < replicates; done++) {
        count(`${kind.name}: experiments`);
        const same = kind.draw(random, unitsPerArm, 0);
        for (const differenceType of ['absolute', 'relative'] as const) {
          const { pValue } = fixedHorizonTest(same, { ...asked, differenceType });
          if ((pValue ?? 1) < 0.05) count(`${kind.name}: false positives, ${differenceType}`);
        }
        for (const alternative of ['greater', 'less'] as const) {
          const { pValue } = fixedHorizonTest(same, { ...asked, alternative });
          if ((pValue ?? 1) < 0.05) count(`${kind.name}: false positives, ${alternative}`);
        }
        const { pValue } = sequentialTest(same, { ...asked, tuningParameter: 2 * unitsPerArm, rho: null });
        if ((pValue ?? 1) < 0.05) count(`${kind.name}: false positives, sequential`);
        const lifted = kind.draw(random, unitsPerArm, lift);
        const absolute = fixedHorizonTest(lifted, asked);
        if (covers(absolute.confidenceInterval, lift * kind.baseline)) count(`${kind.name}: covered, absolute`);
        const relative = fixedHorizonTest(lifted, { ...asked, differenceType: 'relative' });
        if (covers(relative.confidenceInterval, lift)) count(`${kind.name}: covered, relative`);
        const bayesian = bayesianTest(lifted, {
          ...asked,
          differenceType: 'relative',
          prior: flat,
          priorType: 'relative',
          inverse: false,
        });
        if (covers(bayesian.credibleInterval, lift)) count(`${kind.name}: covered, Bayesian`);
      }
    },
  }),
);

/** Units of both arms between looks, and when it ends. */
export const lookEvery = 50;
export const lastLook = 10_000;

/** Looking after every 50 units, until a test rejects: how often that ever happens without any effect. */
const peeking: Study = {
  name: 'peeking',
  replicates: 20_000,
  piece: 100,
  run(random, replicates, count) {
    for (let done = 0; done < replicates; done++) {
      count('peeking: experiments');
      const sums = [0, 0];
      const squares = [0, 0];
      const open = new Set(['fixed', 'sequential', 'sequential, one-sided']);
      for (let units = 0; units < lastLook && open.size > 0; ) {
        for (; units % lookEvery !== 0 || units === 0; units++) add(random, units % 2, sums, squares);
        const pair = [{ control: arm(units, sums, squares, 0), treatment: arm(units, sums, squares, 1) }];
        for (const test of open) {
          if (!rejects(pair, test)) continue;
          open.delete(test);
          count(`peeking: ${test}, rejected at ${units}`);
        }
        add(random, units % 2, sums, squares);
        units++;
      }
    }
  },
};

/** Skewed outcomes with mean 10. */
function add(random: Random, place: number, sums: number[], squares: number[]): void {
  const value = 10 - 5 * Math.log(random.uniform()) - 5 + 2 * random.normal();
  sums[place] = (sums[place] ?? 0) + value;
  squares[place] = (squares[place] ?? 0) + value * value;
}

function arm(units: number, sums: readonly number[], squares: readonly number[], place: number): MeanStatistic {
  const n = Math.floor((units + 1 - place) / 2);
  return { type: 'mean', n, sum: sums[place] ?? 0, sumOfSquares: squares[place] ?? 0 };
}

function rejects(pair: readonly { control: MeanStatistic; treatment: MeanStatistic }[], test: string): boolean {
  if (test === 'fixed') return (fixedHorizonTest(pair, frequentistSettings).pValue ?? 1) < 0.05;
  const alternative = test === 'sequential' ? 'twoSided' : 'greater';
  const sequential = { ...frequentistSettings, alternative, tuningParameter: 2000, rho: null } as const;
  return (sequentialTest(pair, sequential).pValue ?? 1) < 0.05;
}

export const correlations = [0, 0.2, 0.4, 0.6, 0.8, 0.9];
export const cupedUnits = 500;

/** The variance of the adjusted effect, beside (1 − ρ²) of that without adjustment. */
const varianceReduction: Study = {
  name: 'variance reduction',
  replicates: 20_000,
  piece: 400,
  run(random, replicates, count) {
    for (let done = 0; done < replicates; done++) {
      count('cuped: experiments');
      for (const correlation of correlations) {
        const [a, b] = [0, 0].map(() => correlated(random, correlation));
        if (a === undefined || b === undefined) continue;
        const { pointEstimate, standardError } = effectMoments(a, b, 'absolute');
        count(`cuped ${correlation}: squares`, pointEstimate ** 2);
        count(`cuped ${correlation}: estimated variance`, standardError ** 2);
      }
    }
  },
};

function correlated(random: Random, correlation: number) {
  const rest = Math.sqrt(1 - correlation * correlation);
  let [sum, squares, before, squaresBefore, products] = [0, 0, 0, 0, 0];
  for (let unit = 0; unit < cupedUnits; unit++) {
    const x = random.normal();
    const y = 3 + correlation * x + rest * random.normal();
    sum += y;
    squares += y * y;
    before += x;
    squaresBefore += x * x;
    products += x * y;
  }
  const n = cupedUnits;
  return {
    type: 'regressionAdjusted',
    n,
    outcome: { type: 'mean', n, sum, sumOfSquares: squares },
    covariate: { type: 'mean', n, sum: before, sumOfSquares: squaresBefore },
    sumOfProducts: products,
    theta: null,
  } as const;
}

export const srmBins = 20;

/** P-values of the sample-ratio test where units are split as they should. */
const sampleRatio: Study = {
  name: 'sample ratio',
  replicates: 40_000,
  piece: 1000,
  run(random, replicates, count) {
    const weights = [0.4, 0.3, 0.2, 0.1];
    for (let done = 0; done < replicates; done++) {
      const observed = [0, 0, 0, 0];
      for (let unit = 0; unit < 4000; unit++) {
        const at = random.uniform();
        const place = at < 0.4 ? 0 : at < 0.7 ? 1 : at < 0.9 ? 2 : 3;
        observed[place] = (observed[place] ?? 0) + 1;
      }
      const pValue = sampleRatioMismatch(observed, weights);
      count('srm: experiments');
      count(`srm: bin ${Math.min(srmBins - 1, Math.floor(pValue * srmBins))}`);
      if (pValue < 0.001) count('srm: below 0.001');
    }
  },
};

export const chanceBins = 10;
const baseline = 10;
export const effectTypes = ['absolute', 'relative'] as const;
/** Of the relative effect; of the absolute one in units of the control's true mean. */
const priorMean = 0.02;
const priorDeviation = 0.06;

/** Effects drawn from the prior: intervals, chances and losses are right on average over them. */
const underThePrior: Study = {
  name: 'under the prior',
  replicates: 60_000,
  piece: 500,
  run(random, replicates, count) {
    for (let done = 0; done < replicates; done++) {
      const effect = priorMean + priorDeviation * random.normal();
      const [control, treatment] = [0, effect].map((own): MeanStatistic => {
        let [sum, sumOfSquares] = [0, 0];
        for (let unit = 0; unit < 2000; unit++) {
          const value = baseline * (1 + own) + 15 * random.normal();
          sum += value;
          sumOfSquares += value * value;
        }
        return { type: 'mean', n: 2000, sum, sumOfSquares };
      });
      if (control === undefined || treatment === undefined) continue;
      for (const differenceType of effectTypes) {
        const unit = differenceType === 'absolute' ? baseline : 1;
        const prior = { mean: priorMean * unit, variance: (priorDeviation * unit) ** 2, proper: true };
        const asked = { ...frequentistSettings, differenceType, prior, priorType: differenceType, inverse: false };
        const result = bayesianTest([{ control, treatment }], asked);
        const name = `prior, ${differenceType}`;
        count(`${name}: experiments`);
        if (covers(result.credibleInterval, effect * unit)) count(`${name}: covered`);
        const bin = Math.min(chanceBins - 1, Math.floor(result.chanceToWin * chanceBins));
        count(`${name}: bin ${bin}`);
        count(`${name}: chances in bin ${bin}`, result.chanceToWin);
        if (effect > 0) count(`${name}: wins in bin ${bin}`);
        const expectedLoss = result.risk[1] / unit;
        const loss = Math.max(-effect, 0);
        count(`${name}: expected loss`, expectedLoss);
        count(`${name}: loss`, loss);
        count(`${name}: squared difference of losses`, (expectedLoss - loss) ** 2);
      }
    }
  },
};

const familySize = 10;

/** Ten metrics, of which all or none of the first five have no effect. */
const corrections: Study = {
  name: 'corrections',
  replicates: 100_000,
  piece: 10_000,
  run(random, replicates, count) {
    for (let done = 0; done < replicates; done++) {
      count('corrections: experiments');
      const nulls = Array.from({ length: familySize }, () => random.uniform());
      if (holm(nulls).some((p) => (p ?? 1) < 0.05)) count('corrections: Holm, any false');
      // Half of them have effects: p-values that are small as a rule.
      const mixed = nulls.map((p, index) => (index < familySize / 2 ? p : p ** 8));
      const found = benjaminiHochberg(mixed).map((p) => (p ?? 1) < 0.05);
      const discoveries = found.filter(Boolean).length;
      const falseOnes = found.filter((isFound, index) => isFound && index < familySize / 2).length;
      count('corrections: share of false', discoveries === 0 ? 0 : falseOnes / discoveries);
    }
  },
};

export const banditRates = [0.1, 0.11, 0.12, 0.15];
export const banditRounds = 40;
export const unitsPerRound = 500;
export const policies = ['uniform', 'Thompson', 'top two'] as const;

/** What is lost beside giving everybody the best arm. */
const bandits: Study = {
  name: 'bandits',
  replicates: 400,
  piece: 10,
  run(random, replicates, count) {
    const best = Math.max(...banditRates);
    for (let done = 0; done < replicates; done++) {
      count('bandits: experiments');
      for (const policy of policies) {
        let weights: readonly number[] = banditRates.map(() => 1 / banditRates.length);
        const arms = banditRates.map((): MeanStatistic => ({ type: 'mean', n: 0, sum: 0, sumOfSquares: 0 }));
        let regret = 0;
        for (let round = 0; round < banditRounds; round++) {
          const units = banditRates.map(() => 0);
          for (let unit = 0; unit < unitsPerRound; unit++) {
            const place = choose(weights, random);
            units[place] = (units[place] ?? 0) + 1;
          }
          for (const [place, rate] of banditRates.entries()) {
            const before = arms[place];
            const shown = units[place] ?? 0;
            let successes = 0;
            for (let unit = 0; unit < shown; unit++) if (random.uniform() < rate) successes += 1;
            if (before === undefined) continue;
            const sum = before.sum + successes;
            arms[place] = { type: 'mean', n: before.n + shown, sum, sumOfSquares: sum };
            regret += shown * (best - rate);
          }
          count(`bandits: ${policy}, regret after ${round + 1}`, regret);
          if (policy !== 'uniform') weights = reweigh(arms, weights, policy === 'top two');
        }
        count(`bandits: ${policy}, squared regret`, regret ** 2);
        if (weights.indexOf(Math.max(...weights)) === banditRates.indexOf(best))
          count(`bandits: ${policy}, best arm leads`);
      }
    }
  },
};

function reweigh(arms: readonly MeanStatistic[], weights: readonly number[], topTwo: boolean): readonly number[] {
  const asked = { prior: banditPrior, inverse: false, topTwo, minimumWeight: 0.01, alpha: 0.05 };
  return banditWeights(arms, asked).weights ?? weights;
}

function choose(weights: readonly number[], random: Random): number {
  let left = random.uniform();
  for (const [place, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return place;
  }
  return weights.length - 1;
}

export const studies: readonly Study[] = [
  ...metricStudies,
  peeking,
  varianceReduction,
  sampleRatio,
  underThePrior,
  corrections,
  bandits,
];

/** One piece of a study: the same seed and piece give the same counters, wherever they run. */
export function runPiece(name: string, piece: number, replicates: number, seed: number): Counters {
  const index = studies.findIndex((study) => study.name === name);
  const counters: Counters = new Map();
  const count = (counter: string, amount = 1): void => {
    counters.set(counter, (counters.get(counter) ?? 0) + amount);
  };
  studies[index]?.run(seededRandom(seed, index * 1_000_000 + piece), replicates, count);
  return counters;
}
