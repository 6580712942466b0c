import { expect, test } from 'vitest';
import {
  minimumDetectableBayesianEffect,
  minimumDetectableEffect,
  plannedBayesianPower,
  plannedPower,
  powerTimeline,
} from './planning.ts';

const metric = { mean: 10, variance: 3909.99977 };
const settings = { units: 400_000, variations: 3, alpha: 0.05, sequentialTuning: null };
const sequential = { ...settings, sequentialTuning: 5000 };

test('power and the smallest effect that is found, at a fixed horizon and sequentially', () => {
  expect(plannedPower(metric, 0.05, settings)).toBeCloseTo(0.5214409196729458, 12);
  expect(minimumDetectableEffect(metric, 0.8, settings)).toBeCloseTo(0.07027249870516208, 12);
  expect(plannedPower(metric, 0.05, sequential)).toBeCloseTo(0.20595674340899592, 12);
  expect(minimumDetectableEffect(metric, 0.8, sequential)).toBeCloseTo(0.12820917257474845, 12);
});

test('power of a Bayesian analysis', () => {
  const prior = { mean: 0, variance: 0.09, proper: true };
  expect(plannedBayesianPower(metric, 0.05, settings, prior)).toBeCloseTo(0.5187695944351775, 12);
  expect(minimumDetectableBayesianEffect(metric, 0.8, settings, prior)).toBeCloseTo(0.07046, 10);
  const shifted = { ...prior, mean: 0.1 };
  expect(plannedBayesianPower(metric, 0.05, settings, shifted)).toBeCloseTo(0.5297517922001298, 12);
  const flat = { ...prior, proper: false };
  expect(plannedBayesianPower(metric, 0.05, settings, flat)).toBeCloseTo(0.5214409196729458, 12);
});

test('what cannot be planned is refused with what to change', () => {
  expect(() => minimumDetectableEffect(metric, 0.05, settings)).toThrow('more than alpha');
  expect(() => minimumDetectableEffect(metric, 0.8, { ...settings, units: 60 })).toThrow('plan for more units');
  const prior = { mean: 0, variance: 1e-6, proper: true };
  expect(() => minimumDetectableBayesianEffect(metric, 0.8, { ...settings, units: 60 }, prior)).toThrow('up to 500 %');
});

test('a timeline says the first week with enough power, and when all metrics have it', () => {
  const metrics = [
    { ...metric, effect: 0.2 },
    { ...metric, effect: 0.1 },
    { ...metric, effect: 0.001 },
  ];
  const all = powerTimeline(metrics, 8, 50_000, { variations: 2, alpha: 0.05, sequentialTuning: null });
  expect(all.weeks).toEqual([1, 3, null]);
  expect(all.weekThreshold).toBeNull();
  const reached = powerTimeline(metrics.slice(0, 2), 8, 50_000, { variations: 2, alpha: 0.05, sequentialTuning: null });
  expect(reached.weekThreshold).toBe(3);
});
