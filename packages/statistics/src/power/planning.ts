/** Power and sample size before an experiment starts, for a fixed horizon. Effects are relative. */
import type { Prior } from '../inference/bayesian.ts';
import { sequentialRho } from '../inference/sequential.ts';
import { normalCdf, normalDensity, normalQuantile } from '../numeric/normal.ts';
import { InvalidInput } from '../problem.ts';

/** What is known of a metric: from past data, or for a proportion p with variance p(1 − p). */
export interface PlanningMetric {
  /** In the metric's unit. */
  readonly mean: number;
  /** Of one unit, squared. */
  readonly variance: number;
}

export interface PlanningSettings {
  /** Units in the experiment, all variations together. */
  readonly units: number;
  /** With the control; units are split equally. */
  readonly variations: number;
  readonly alpha: number;
  /** The tuning parameter of a sequential test; null for a fixed horizon. */
  readonly sequentialTuning: number | null;
}

/** How many times as wide a sequential interval is as a normal one, squared, at `n` units of a pair of arms. */
function sequentialInflation(n: number, alpha: number, tuningParameter: number): number {
  const rho = sequentialRho(alpha, tuningParameter, 'twoSided');
  const g = n * rho * rho + 1;
  const z = normalQuantile(1 - alpha / 2);
  return (n * ((2 * g * Math.log(Math.sqrt(g) / alpha)) / (n * rho) ** 2)) / (z * z);
}

function unitsPerVariation({ units, variations }: PlanningSettings): number {
  return units / variations;
}

/** The variance of the relative effect of size `effect`, by the delta method. */
function plannedVariance({ mean, variance }: PlanningMetric, effect: number, perVariation: number): number {
  const treated = mean * (1 + effect);
  return variance / (mean * mean * perVariation) + (variance * treated * treated) / (mean ** 4 * perVariation);
}

function inflationOf(settings: PlanningSettings): number {
  const { alpha, sequentialTuning } = settings;
  return sequentialTuning === null ? 1 : sequentialInflation(2 * unitsPerVariation(settings), alpha, sequentialTuning);
}

/** The chance that an effect of this size is found, either way: 1 − Φ(z − e/se) + Φ(−z − e/se) with z = Φ⁻¹(1 − α/2). */
export function plannedPower(metric: PlanningMetric, effect: number, settings: PlanningSettings): number {
  const spread = plannedVariance(metric, effect, unitsPerVariation(settings)) * inflationOf(settings);
  const size = effect / Math.sqrt(spread);
  const z = normalQuantile(1 - settings.alpha / 2);
  return normalCdf(size - z) + normalCdf(-z - size);
}

/**
 * The smallest positive effect that is found with this power.
 * @throws InvalidInput where the power is not above alpha, or there are too few units for any effect
 */
export function minimumDetectableEffect(metric: PlanningMetric, power: number, settings: PlanningSettings): number {
  const { alpha } = settings;
  if (power <= alpha) throw new InvalidInput(`A power of ${power} needs no data: ask for more than alpha, ${alpha}.`);
  const z = normalQuantile(1 - alpha / 2) - normalQuantile(1 - power);
  const perVariation = unitsPerVariation(settings);
  const { mean } = metric;
  const spread = (metric.variance * inflationOf(settings)) / perVariation;
  const a = 1 - (z * z * spread) / (mean * mean);
  if (a <= 0) {
    throw new InvalidInput(
      `${settings.units} units find no effect of whatever size with a power of ${power}: plan for more units, or fewer variations.`,
    );
  }
  const b = -2 * mean;
  const c = mean * mean - z * z * spread;
  const treated = (-b + Math.sqrt(b * b - 4 * a * c)) / (2 * a);
  return (treated - mean) / mean;
}

/** The chance that the credible interval excludes 0 if the effect is this, with this prior of the relative effect. */
export function plannedBayesianPower(
  metric: PlanningMetric,
  effect: number,
  settings: Pick<PlanningSettings, 'units' | 'variations' | 'alpha'>,
  prior: Prior,
): number {
  const spread = plannedVariance(metric, effect, settings.units / settings.variations);
  const precision = 1 / spread + (prior.proper ? 1 / prior.variance : 0);
  const pull = prior.proper ? (spread * prior.mean) / prior.variance : 0;
  const bound = spread * Math.sqrt(precision) * normalQuantile(1 - settings.alpha / 2);
  const sd = Math.sqrt(spread);
  return normalCdf(-(bound - pull - effect) / sd) + normalCdf((-bound - pull - effect) / sd);
}

const largestEffect = 5;
const coarse = 0.001;
const fine = 1e-5;

/**
 * The smallest effect, to 1e-5, whose Bayesian power is enough; 0 where there is enough at no effect (a prior far from 0). Power
 * may fall before it rises, so the effects are gone through.
 * @throws InvalidInput where an effect of 500 % is not found either
 */
export function minimumDetectableBayesianEffect(
  metric: PlanningMetric,
  power: number,
  settings: Pick<PlanningSettings, 'units' | 'variations' | 'alpha'>,
  prior: Prior,
): number {
  const powerAt = (effect: number): number => plannedBayesianPower(metric, effect, settings, prior);
  if (powerAt(0) >= power) return 0;
  // Between two coarse steps the power rises by at most this.
  const slack = coarse * normalDensity(0);
  const steps = Math.round(largestEffect / coarse);
  const perStep = Math.round(coarse / fine);
  for (let step = 0; step < steps; step++) {
    if (powerAt(step * coarse) < power - slack) continue;
    for (let within = perStep; within > 0; within--) {
      const effect = step * coarse - within * fine;
      if (effect >= 0 && powerAt(effect) >= power) return effect;
    }
  }
  throw new InvalidInput(
    `${settings.units} units find no effect up to 500 %: plan for more units, or fewer variations.`,
  );
}

/** A metric with the effect that it should find. */
export interface PlannedMetric extends PlanningMetric {
  readonly effect: number;
}

export interface Timeline {
  /** Power of each metric after each week. */
  readonly power: readonly (readonly number[])[];
  /** For each metric the first week with enough power; null where that does not come. */
  readonly weeks: readonly (number | null)[];
  /** When all metrics have enough; null where one never has. */
  readonly weekThreshold: number | null;
}

/** The power that is planned for, compared after rounding to percents. */
const enoughPower = 0.8;

/** The power of each metric week by week, with so many units each week. */
export function powerTimeline(
  metrics: readonly PlannedMetric[],
  weeks: number,
  unitsPerWeek: number,
  settings: Omit<PlanningSettings, 'units'>,
): Timeline {
  const power = metrics.map((metric) =>
    Array.from({ length: weeks }, (_, week) =>
      plannedPower(metric, metric.effect, { ...settings, units: (week + 1) * unitsPerWeek }),
    ),
  );
  const firsts = power.map((values) => {
    const found = values.findIndex((value) => Math.round(value * 100) / 100 >= enoughPower);
    return found < 0 ? null : found + 1;
  });
  const known = firsts.flatMap((week) => (week === null ? [] : [week]));
  return { power, weeks: firsts, weekThreshold: known.length < firsts.length ? null : Math.max(0, ...known) };
}
