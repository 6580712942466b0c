/** Random experiments of every kind of metric, as the sums that a warehouse would make of their units. */
import {
  type ClusteredQuantileStatistic,
  type MeanStatistic,
  normalQuantile,
  type RatioStatistic,
  type RegressionAdjustedRatioStatistic,
  type RegressionAdjustedStatistic,
  type Statistic,
  type Stratum,
} from '../../packages/statistics/src/index.ts';
import type { Random } from './random.ts';

/** A kind of metric: how its arms are drawn, and what the control's true value is. */
export interface Kind {
  readonly name: string;
  readonly baseline: number;
  /** Both arms; everything of the treatment is multiplied by 1 + lift. */
  readonly draw: (random: Random, unitsPerArm: number, lift: number) => readonly Stratum[];
  readonly postStratify: boolean;
}

const spread = 0.8;
const meanOfLogNormal = (variance: number): number => Math.exp(variance / 2);

/** Runs of additions, one for each quantity of a unit. */
class Sums {
  n = 0;
  sum = 0;
  sumOfSquares = 0;

  add(value: number): void {
    this.n += 1;
    this.sum += value;
    this.sumOfSquares += value * value;
  }

  get mean(): MeanStatistic {
    return { type: 'mean', n: this.n, sum: this.sum, sumOfSquares: this.sumOfSquares };
  }
}

function logNormal(random: Random, units: number, scale: number): Statistic {
  const sums = new Sums();
  for (let unit = 0; unit < units; unit++) sums.add(scale * Math.exp(spread * random.normal()));
  return sums.mean;
}

const conversion = 0.2;

function proportion(random: Random, units: number, scale: number): Statistic {
  let sum = 0;
  for (let unit = 0; unit < units; unit++) if (random.uniform() < conversion * scale) sum += 1;
  return { type: 'proportion', n: units, sum };
}

/** At least one session, two more on average. */
const sessionsOf = (random: Random): number => 1 + Math.floor(-2.5 * Math.log(random.uniform()));

function ratio(random: Random, units: number, scale: number): RatioStatistic {
  const numerator = new Sums();
  const denominator = new Sums();
  let sumOfProducts = 0;
  for (let unit = 0; unit < units; unit++) {
    const sessions = sessionsOf(random);
    const value = scale * sessions * Math.exp(0.5 * random.normal());
    numerator.add(value);
    denominator.add(sessions);
    sumOfProducts += value * sessions;
  }
  return { type: 'ratio', n: units, numerator: numerator.mean, denominator: denominator.mean, sumOfProducts };
}

/** Outcome and covariate have normal logarithms with this correlation. */
const correlation = 0.7;
const rest = Math.sqrt(1 - correlation * correlation);

function adjusted(random: Random, units: number, scale: number): RegressionAdjustedStatistic {
  const outcome = new Sums();
  const covariate = new Sums();
  let sumOfProducts = 0;
  for (let unit = 0; unit < units; unit++) {
    const shared = random.normal();
    const x = Math.exp(spread * shared);
    const y = scale * Math.exp(spread * (correlation * shared + rest * random.normal()));
    outcome.add(y);
    covariate.add(x);
    sumOfProducts += x * y;
  }
  return {
    type: 'regressionAdjusted',
    n: units,
    outcome: outcome.mean,
    covariate: covariate.mean,
    sumOfProducts,
    theta: null,
  };
}

function adjustedRatio(random: Random, units: number, scale: number): RegressionAdjustedRatioStatistic {
  const [numerator, denominator, numeratorCovariate, denominatorCovariate] = [
    new Sums(),
    new Sums(),
    new Sums(),
    new Sums(),
  ];
  let [nn, dd, cc, nd, nc, dn] = [0, 0, 0, 0, 0, 0];
  for (let unit = 0; unit < units; unit++) {
    const shared = random.normal();
    const rate = (): number => Math.exp(0.5 * (correlation * shared + rest * random.normal()));
    const sessions = sessionsOf(random);
    const before = 1 + Math.floor(0.5 * sessions + 2 * random.uniform());
    const value = scale * sessions * rate();
    const valueBefore = before * rate();
    numerator.add(value);
    denominator.add(sessions);
    numeratorCovariate.add(valueBefore);
    denominatorCovariate.add(before);
    nn += value * valueBefore;
    dd += sessions * before;
    cc += valueBefore * before;
    nd += value * sessions;
    nc += value * before;
    dn += sessions * valueBefore;
  }
  return {
    type: 'regressionAdjustedRatio',
    n: units,
    numerator: numerator.mean,
    denominator: denominator.mean,
    numeratorCovariate: numeratorCovariate.mean,
    denominatorCovariate: denominatorCovariate.mean,
    sumsOfProducts: {
      numeratorNumeratorCovariate: nn,
      denominatorDenominatorCovariate: dd,
      numeratorCovariateDenominatorCovariate: cc,
      numeratorDenominator: nd,
      numeratorDenominatorCovariate: nc,
      denominatorNumeratorCovariate: dn,
    },
    theta: null,
  };
}

/** Interpolated between order statistics, as a warehouse does. */
function sampleQuantile(sorted: Float64Array, level: number): number {
  const place = (sorted.length - 1) * Math.min(1 - 1e-8, Math.max(1e-8, level));
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

interface QuantileBounds {
  readonly n: number;
  readonly level: number;
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
  readonly nForInterval: number;
}

const z = normalQuantile(0.975);

/** Bounds for the largest size below n of the grid 100·2ᵏ: a warehouse cannot know n before it asks. */
function quantileBounds(sorted: Float64Array, level: number): QuantileBounds {
  const n = sorted.length;
  let nForInterval = 100;
  while (nForInterval * 2 < n) nForInterval *= 2;
  const half = z * Math.sqrt((level * (1 - level)) / nForInterval);
  return {
    n,
    level,
    estimate: sampleQuantile(sorted, level),
    lower: sampleQuantile(sorted, level - half),
    upper: sampleQuantile(sorted, level + half),
    nForInterval,
  };
}

const quantileLevel = 0.8;

function quantile(random: Random, units: number, scale: number): Statistic {
  const values = Float64Array.from({ length: units }, () => scale * Math.exp(spread * random.normal())).sort();
  return { type: 'quantile', ...quantileBounds(values, quantileLevel) };
}

/** Standard deviations of the logarithm, between units and between events of one unit. */
const between = 0.5;
const within = 0.6;

function clusteredQuantile(random: Random, units: number, scale: number): ClusteredQuantileStatistic {
  const events: number[] = [];
  const ends: number[] = [];
  for (let unit = 0; unit < units; unit++) {
    const own = between * random.normal();
    for (let left = sessionsOf(random); left > 0; left--) events.push(scale * Math.exp(own + within * random.normal()));
    ends.push(events.length);
  }
  const bounds = quantileBounds(Float64Array.from(events).sort(), quantileLevel);
  const below = new Sums();
  const all = new Sums();
  let sumOfProducts = 0;
  let start = 0;
  for (const end of ends) {
    let count = 0;
    for (let event = start; event < end; event++) if ((events[event] ?? 0) <= bounds.estimate) count += 1;
    below.add(count);
    all.add(end - start);
    sumOfProducts += count * (end - start);
    start = end;
  }
  return {
    type: 'clusteredQuantile',
    ...bounds,
    numClusters: units,
    sumBelow: below.sum,
    sumOfSquaresBelow: below.sumOfSquares,
    sumEvents: all.sum,
    sumOfSquaresEvents: all.sumOfSquares,
    sumOfProducts,
  };
}

/** Four kinds of units, by their shares and the scales of their outcomes. */
const strataShares = [0.4, 0.3, 0.2, 0.1];
const strataScales = [1, 1.5, 3, 6];

function strata(random: Random, unitsPerArm: number, lift: number): Stratum[] {
  const arms = [1, 1 + lift].map((scale) => {
    const sums = strataShares.map(() => new Sums());
    for (let unit = 0; unit < unitsPerArm; unit++) {
      let place = 0;
      for (let left = random.uniform() - 0.4; left > 0 && place < 3; left -= strataShares[place] ?? 1) place += 1;
      sums[place]?.add(scale * (strataScales[place] ?? 1) * Math.exp(0.5 * random.normal()));
    }
    return sums.map(({ mean }) => mean);
  });
  const [control = [], treatment = []] = arms;
  return control.flatMap((own, place): Stratum[] => {
    const other = treatment[place];
    return other === undefined ? [] : [{ control: own, treatment: other }];
  });
}

const plain =
  (arm: (random: Random, units: number, scale: number) => Statistic): Kind['draw'] =>
  (random, units, lift) => [{ control: arm(random, units, 1), treatment: arm(random, units, 1 + lift) }];

const atQuantile = (variance: number): number => Math.exp(Math.sqrt(variance) * normalQuantile(quantileLevel));

export const kinds: readonly Kind[] = [
  { name: 'mean', baseline: meanOfLogNormal(spread ** 2), draw: plain(logNormal), postStratify: false },
  { name: 'proportion', baseline: conversion, draw: plain(proportion), postStratify: false },
  { name: 'ratio', baseline: meanOfLogNormal(0.25), draw: plain(ratio), postStratify: false },
  { name: 'mean, CUPED', baseline: meanOfLogNormal(spread ** 2), draw: plain(adjusted), postStratify: false },
  { name: 'ratio, CUPED', baseline: meanOfLogNormal(0.25), draw: plain(adjustedRatio), postStratify: false },
  {
    name: 'mean, post-stratified',
    baseline:
      meanOfLogNormal(0.25) * strataShares.reduce((sum, share, place) => sum + share * (strataScales[place] ?? 0), 0),
    draw: strata,
    postStratify: true,
  },
  { name: 'quantile of units', baseline: atQuantile(spread ** 2), draw: plain(quantile), postStratify: false },
  {
    name: 'quantile of events',
    baseline: atQuantile(between ** 2 + within ** 2),
    draw: plain(clusteredQuantile),
    postStratify: false,
  },
];
