import { describe, expect, test } from 'vitest';
import { compilePayload, type FeatureRule, type User } from './index.ts';

describe('a contextual bandit', () => {
  const rule: FeatureRule = {
    contextualVariations: ['a', 'b'],
    weights: [0.5, 0.5],
    contextualBanditRef: 'cb',
    hashVersion: 2,
    key: 'bandit',
  };
  const bandit = {
    banditVersion: 7,
    contexts: [
      { leafId: 1, condition: { plan: 'pro' }, weights: [1, 0] },
      { leafId: 2, condition: { plan: 'free' }, weights: [0, 1] },
    ],
  };
  const payload = { features: { f: { defaultValue: 'default', rules: [rule] } }, contextualBandits: { cb: bandit } };
  const ask = (plan: string, user: Partial<User> = {}) =>
    compilePayload(payload).evaluate('f', { attributes: { id: 'user-1', plan }, ...user });

  test('takes the weights of the first context that holds, and says which in the result', () => {
    expect(ask('pro')).toMatchObject({
      value: 'a',
      experiment: { weights: [1, 0], contextualBandit: { leafId: 1, variationWeights: [1, 0], banditVersion: 7 } },
      experimentResult: { leafId: 1, variationWeights: [1, 0], banditVersion: 7 },
    });
    expect(ask('free')).toMatchObject({ value: 'b', experimentResult: { leafId: 2 } });
  });

  test('takes the weights of the rule and leaf −1 where no context holds', () => {
    expect(ask('other').experimentResult).toMatchObject({ leafId: -1, variationWeights: [0.5, 0.5], banditVersion: 7 });
  });

  test('says nothing of a leaf when the variation was forced', () => {
    const result = ask('pro', { forcedVariations: { bandit: 1 } });
    expect(result.experiment).not.toHaveProperty('contextualBandit');
    expect(result.experimentResult).not.toHaveProperty('leafId');
  });

  test('that the payload does not have is a plain experiment', () => {
    const { experiment, experimentResult } = compilePayload({ features: payload.features }).evaluate('f', {
      attributes: { id: 'user-1', plan: 'pro' },
    });
    expect(experiment).toMatchObject({ key: 'bandit', weights: [0.5, 0.5] });
    expect(experimentResult).not.toHaveProperty('leafId');
  });
});
