import { describe, expect, test } from 'vitest';
import { covariateImbalance } from './covariate-imbalance.ts';
import { clearSignals, decide, doNoHarm, type VariationStatuses, verdictAtScheduledEnd } from './criteria.ts';
import { flatPriorChanceToWin, guardrailStatus, metricStatus, type Status } from './metric-status.ts';
import { timeToDecision } from './time-to-decision.ts';

const settings = {
  engine: 'bayesian',
  differenceType: 'relative',
  alpha: 0.05,
  confidenceLevel: 0.95,
  inverse: false,
  minSampleSize: 150,
  minPercentageChange: 0.005,
  maxPercentageChange: 0.5,
} as const;
const comparison = {
  baseline: { value: 200, rate: 2 },
  variation: { value: 240, rate: 2.4 },
  effect: 0.2,
  chanceToWin: 0.97,
  pValue: 0.03,
};

describe('the status of a metric', () => {
  test('is won or lost beyond the limits, and neutral between them', () => {
    const status = (chanceToWin: number) => metricStatus({ ...comparison, chanceToWin }, settings).status;
    expect([0.97, 0.9, 0.03].map(status)).toEqual(['won', 'neutral', 'lost']);
    expect(metricStatus(comparison, settings).superStatus).toBe('neutral');
    expect(metricStatus({ ...comparison, chanceToWin: 0.9995 }, settings).superStatus).toBe('won');
  });

  test('is that of the p-value and the direction for a frequentist', () => {
    const frequentist = { ...settings, engine: 'frequentist' } as const;
    expect(metricStatus(comparison, frequentist).status).toBe('won');
    expect(metricStatus(comparison, { ...frequentist, inverse: true }).status).toBe('lost');
    expect(metricStatus({ ...comparison, pValue: 0.05 }, frequentist).status).toBe('neutral');
    expect(metricStatus({ ...comparison, pValue: null }, frequentist).status).toBe('neutral');
    expect(metricStatus({ ...comparison, pValue: 0.0009 }, frequentist).superStatus).toBe('won');
  });

  test('is a draw where the change is too small to matter, neutral with too little data, suspicious where it is large', () => {
    expect(metricStatus({ ...comparison, effect: 0.004 }, settings)).toMatchObject({
      status: 'draw',
      belowMinimum: true,
    });
    expect(metricStatus(comparison, { ...settings, minSampleSize: 241 })).toMatchObject({
      status: 'neutral',
      enoughData: false,
    });
    expect(metricStatus({ ...comparison, effect: 0.5 }, settings)).toMatchObject({ status: 'won', suspicious: true });
    expect(metricStatus({ ...comparison, baseline: { value: 0, rate: 0 } }, settings).status).toBe('neutral');
    const scaled = metricStatus({ ...comparison, effect: 900 }, { ...settings, differenceType: 'scaled' });
    expect(scaled.suspicious).toBe(false);
    const absolute = metricStatus({ ...comparison, effect: -0.4 }, { ...settings, differenceType: 'absolute' });
    expect(absolute).toMatchObject({ suspicious: false, belowMinimum: false });
  });

  test('of a guardrail is safe where harm is improbable', () => {
    expect(guardrailStatus('lost', 0.99)).toBe('lost');
    expect(guardrailStatus('won', 0.96)).toBe('safe');
    expect(guardrailStatus('neutral', 0.95)).toBe('neutral');
  });

  test('has the chance to win that an interval implies', () => {
    const estimate = Math.sqrt(Math.PI);
    const z = 1.690684;
    expect(flatPriorChanceToWin(estimate, [estimate - Math.PI * z, Infinity], Math.PI / 100, false)).toBeGreaterThan(
      0.5,
    );
    expect(flatPriorChanceToWin(1, [-Infinity, Infinity], 0.05, false)).toBe(0);
    expect(flatPriorChanceToWin(1, [1, 1], 0.05, false)).toBe(1);
    expect(flatPriorChanceToWin(1, [1, 1], 0.05, true)).toBe(0);
    expect(flatPriorChanceToWin(0, [0, 0], 0.05, false)).toBe(0);
    expect(flatPriorChanceToWin(1, [0, 2], 0.05, true)).toBeCloseTo(0.025, 12);
    expect(flatPriorChanceToWin(-1, [-Infinity, 0], 0.05, true)).toBeCloseTo(0.95, 12);
  });
});

const goal = (status: Status, superStatus: Status = 'neutral') => ({ status, superStatus });
const variation = (
  variationId: string,
  goals: VariationStatuses['goals'],
  guardrails: VariationStatuses['guardrails'] = [],
): VariationStatuses => ({ variationId, goals, guardrails });
const ready = { criteria: clearSignals, daysNeeded: 0, sequentialUsed: false, scheduledEndPassed: false };
const early = { ...ready, daysNeeded: 12 };

describe('a decision', () => {
  test('ships what wins on every goal where no guardrail loses', () => {
    const variations = [variation('v1', [goal('won')], ['safe']), variation('v2', [goal('neutral')], ['safe'])];
    expect(decide({ ...ready, variations })).toMatchObject({
      status: 'ship-now',
      variations: [{ variationId: 'v1', decidingRule: { action: 'ship' } }],
      powerReached: true,
    });
  });

  test('is to be reviewed where one goal wins and one is neutral [experiments M52]', () => {
    const decision = decide({ ...ready, variations: [variation('v1', [goal('won'), goal('neutral')])] });
    expect(decision).toMatchObject({ status: 'ready-for-review', variations: [{ decidingRule: null }] });
  });

  test('rolls back where a guardrail, or every goal, loses in all variations', () => {
    const variations = [variation('v1', [goal('won')], ['lost']), variation('v2', [goal('lost')])];
    expect(decide({ ...ready, variations }).status).toBe('rollback-now');
  });

  test('is made though underpowered once the scheduled end has passed [experiments M53]', () => {
    const variations = [variation('v1', [goal('won')])];
    expect(decide({ ...early, variations }).status).toBeUndefined();
    expect(decide({ ...early, scheduledEndPassed: true, variations }).status).toBe('ship-now');
    expect(decide({ ...early, sequentialUsed: true, variations }).status).toBe('ship-now');
  });

  test('waits early while one of two treatments is undecided [experiments M51]', () => {
    const winner = variation('v1', [goal('won', 'won')]);
    expect(decide({ ...early, variations: [winner, variation('v2', [goal('neutral')])] }).status).toBeUndefined();
    expect(decide({ ...early, variations: [winner] }).status).toBe('ship-now');
    const loser = variation('v2', [goal('lost', 'lost')]);
    expect(decide({ ...early, variations: [winner, loser] })).toMatchObject({
      status: 'ship-now',
      variations: [{ variationId: 'v1' }],
    });
    expect(decide({ ...early, variations: [loser] }).status).toBe('rollback-now');
  });

  test('by doing no harm ships what does not lose, but not early without a win', () => {
    const variations = [variation('v1', [goal('neutral')])];
    expect(decide({ ...ready, criteria: doNoHarm, variations }).status).toBe('ship-now');
    expect(decide({ ...early, criteria: doNoHarm, variations }).status).toBeUndefined();
    const harmful = [variation('v1', [goal('lost'), goal('won')])];
    expect(decide({ ...ready, criteria: doNoHarm, variations: harmful }).status).toBe('rollback-now');
  });

  const atEnd = { hasGoals: true, isUnhealthy: false, variationIds: ['v1', 'v2'], lifts: null, inverse: false };

  test('without goals ships by its rules, and is inconclusive at a scheduled end [experiments M50]', () => {
    const decision = decide({ ...ready, variations: [variation('v1', [])] });
    expect(decision.status).toBe('ship-now');
    expect(verdictAtScheduledEnd({ ...atEnd, decision, hasGoals: false })).toEqual({ kind: 'inconclusive' });
  });

  test('at a scheduled end takes the larger lift, or the smaller where less is better [experiments M24]', () => {
    const variations = [variation('v1', [goal('won')]), variation('v2', [goal('won')])];
    const decision = decide({ ...ready, scheduledEndPassed: true, variations });
    const verdict = (lifts: Record<string, number> | null, inverse: boolean) =>
      verdictAtScheduledEnd({ ...atEnd, decision, lifts, inverse });
    expect(verdict({ v1: -0.05, v2: -0.08 }, true)).toEqual({ kind: 'ship', variationId: 'v2' });
    expect(verdict({ v1: 0.05, v2: 0.08 }, false)).toEqual({ kind: 'ship', variationId: 'v2' });
    expect(verdict({ v1: 0.05, v2: 0.05 }, false)).toEqual({ kind: 'inconclusive' });
    expect(verdict({ v1: 0.05 }, false)).toEqual({ kind: 'ship', variationId: 'v1' });
    expect(verdict(null, false)).toEqual({ kind: 'inconclusive' });
    const gone = { ...atEnd, decision, lifts: { v1: 1, v2: 2 }, variationIds: ['v1'] };
    expect(verdictAtScheduledEnd(gone)).toEqual({ kind: 'inconclusive' });
    expect(verdictAtScheduledEnd({ ...atEnd, decision, isUnhealthy: true })).toEqual({ kind: 'inconclusive' });
    expect(verdictAtScheduledEnd({ ...atEnd, decision: null })).toEqual({ kind: 'inconclusive' });
    const lost = decide({ ...ready, variations: [variation('v1', [goal('lost')])] });
    expect(verdictAtScheduledEnd({ ...atEnd, decision: lost })).toEqual({ kind: 'rollback' });
  });
});

describe('health', () => {
  test('days to a decision follow the goal that needs most', () => {
    const input = { units: 10_000, dailyUnits: 500, daysRunning: 10, minimumDays: 7, maximumDays: 30 };
    expect(timeToDecision({ ...input, scalingFactors: [0, 0.5, 0.26] })).toEqual({
      additionalUnits: 5000,
      daysNeeded: 10,
      isLowPowered: false,
    });
    expect(timeToDecision({ ...input, scalingFactors: [1.5] }).isLowPowered).toBe(true);
    expect(timeToDecision({ ...input, scalingFactors: [1.5], daysRunning: 6 }).isLowPowered).toBe(false);
    expect(timeToDecision({ ...input, scalingFactors: [0, 0], dailyUnits: 0 }).daysNeeded).toBe(0);
    expect(timeToDecision({ ...input, scalingFactors: [null], maximumDays: null }).isLowPowered).toBe(true);
    expect(() => timeToDecision({ ...input, scalingFactors: [] })).toThrow('choose a goal metric');
  });

  test('covariates are judged over all tests of goals and guardrails', () => {
    const sizes = { numVariations: 3, numGoalMetrics: 1, numGuardrailMetrics: 1 };
    const tests = [
      { metricId: 'g', role: 'goal', pValue: 0.0003 },
      { metricId: 'r', role: 'guardrail', pValue: null },
      { metricId: 's', role: 'secondary', pValue: 1e-9 },
    ] as const;
    expect(covariateImbalance(tests, sizes)).toMatchObject({ isImbalanced: false, threshold: 0.00025 });
    const worse = [...tests, { metricId: 'g', role: 'goal', pValue: 0.0002 }] as const;
    expect(covariateImbalance(worse, sizes)).toMatchObject({
      isImbalanced: true,
      imbalanced: { goal: ['g'], secondary: ['s'] },
    });
  });
});
