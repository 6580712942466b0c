import { describe, expect, test } from 'vitest';
import {
  compilePayload,
  type EvaluablePayload,
  type FeatureResult,
  type FeatureRule,
  recordExperiments,
  type User,
} from './index.ts';

const evaluate = (features: EvaluablePayload['features'], key: string, user: Partial<User> = {}): FeatureResult =>
  compilePayload({ features }).evaluate(key, { attributes: { id: 'user-1' }, ...user });

const gate = (id: string): FeatureRule => ({ parentConditions: [{ id, condition: { value: true }, gate: true }] });
const experimentOn = (key: string): FeatureRule => ({ variations: [false, true], weights: [0, 1], key });

describe('tracking', () => {
  test('records experiments entered through prerequisites and passthrough variations, each once and in order', () => {
    const features = {
      parent: { defaultValue: false, rules: [experimentOn('of-parent')] },
      f: {
        defaultValue: 1,
        rules: [
          { variations: [1, 2], key: 'holdout', weights: [0, 1], meta: [{}, { passthrough: true }] },
          gate('parent'),
          gate('parent'),
          experimentOn('own'),
        ],
      },
    };
    const recorder = recordExperiments();
    const result = evaluate(features, 'f', { trackExperiment: recorder.track });
    expect(result).toMatchObject({ value: true, source: 'experiment', experiment: { key: 'own' } });
    expect(recorder.entered.map(({ experiment }) => experiment.key)).toEqual(['holdout', 'of-parent', 'own']);
    expect(recorder.entered.at(-1)?.result).toEqual(result.experimentResult);
  });

  test('records what a rule of a remote evaluation brings along', () => {
    const recorder = recordExperiments();
    const first = evaluate({ f: { defaultValue: false, rules: [experimentOn('far')] } }, 'f');
    const { experiment, experimentResult: result } = first;
    const tracks = experiment && result ? [{ experiment, result }] : [];
    const features = { f: { defaultValue: 'a', rules: [{ force: 'b', tracks }] } };
    expect(evaluate(features, 'f', { trackExperiment: recorder.track }).value).toBe('b');
    expect(recorder.entered).toEqual([{ experiment, result }]);
  });

  test('does not record forced variations or users who are out', () => {
    const recorder = recordExperiments();
    const features = { f: { defaultValue: 1, rules: [experimentOn('e')] } };
    evaluate(features, 'f', { trackExperiment: recorder.track, forcedVariations: { e: 1 } });
    evaluate(features, 'f', { trackExperiment: recorder.track, attributes: {} });
    expect(recorder.entered).toEqual([]);
  });

  test('records an assignment once, whatever feature it came from', () => {
    const rule = { variations: [0, 1], key: 'shared', weights: [0, 1] };
    const features = { f: { defaultValue: 0, rules: [rule] }, g: { defaultValue: 0, rules: [rule] } };
    const { evaluate, featureKeys } = compilePayload({ features });
    const recorder = recordExperiments();
    const user = { attributes: { id: 'u1' }, trackExperiment: recorder.track };
    for (const key of featureKeys) evaluate(key, user);
    expect(recorder.entered).toHaveLength(1);
    for (const key of featureKeys) evaluate(key, { ...user, attributes: { id: 'u2' } });
    expect(recorder.entered).toHaveLength(2);
  });
});
