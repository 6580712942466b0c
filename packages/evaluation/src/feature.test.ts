import { describe, expect, test } from 'vitest';
import {
  compilePayload,
  type EvaluablePayload,
  type FeatureResult,
  type FeatureRule,
  type JsonValue,
  type Payload,
  type User,
} from './index.ts';

const evaluate = (features: EvaluablePayload['features'], key: string, user: Partial<User> = {}): FeatureResult =>
  compilePayload({ features }).evaluate(key, { attributes: { id: 'user-1' }, ...user });

const zeroValues: JsonValue[] = [0, '', [], false, null, {}];

describe('evaluating a feature', () => {
  test('that the payload does not have gives null from unknownFeature, whatever its name', () => {
    const unknown = { value: null, on: false, off: true, source: 'unknownFeature', ruleId: '' };
    for (const key of ['missing', '', 'constructor', '__proto__', 'toString']) {
      expect(evaluate({ f: { defaultValue: 1 } }, key)).toEqual(unknown);
    }
  });

  test('gives the default value when no rule does', () => {
    const result = evaluate({ f: { defaultValue: 1, rules: [{ condition: { id: 'other' }, force: 2 }] } }, 'f');
    expect(result).toEqual({ value: 1, on: true, off: false, source: 'defaultValue', ruleId: '' });
  });

  test('gives the value of the first rule that fits', () => {
    const rules = [
      { id: 'a', condition: { id: 'other' }, force: 'A' },
      { id: 'b', condition: { id: 'user-1' }, force: 'B' },
      { id: 'c', force: 'C' },
    ];
    const result = evaluate({ f: { defaultValue: '', rules } }, 'f');
    expect(result).toEqual({ value: 'B', on: true, off: false, source: 'force', ruleId: 'b' });
  });

  test.each(zeroValues)(
    'serves the zero value %j as default, by force, as variation and as local override',
    (value) => {
      const other = 'not this';
      const results = [
        evaluate({ f: { defaultValue: value } }, 'f'),
        evaluate({ f: { defaultValue: other, rules: [{ force: value }] } }, 'f'),
        evaluate({ f: { defaultValue: other, rules: [{ variations: [value, other], weights: [1, 0] }] } }, 'f'),
        evaluate({ f: { defaultValue: other } }, 'f', { forcedFeatures: new Map([['f', value]]) }),
      ];
      expect(results.map((result) => result.value)).toEqual([value, value, value, value]);
      expect(results.map(({ source }) => source)).toEqual(['defaultValue', 'force', 'experiment', 'override']);
      expect(results.map(({ on, off }) => [on, off])).toEqual(results.map(() => [Boolean(value), !value]));
    },
  );

  test('gives local overrides first, also for a feature that the payload does not have', () => {
    const forcedFeatures = new Map<string, JsonValue>([
      ['f', 'local'],
      ['nowhere', 5],
    ]);
    expect(evaluate({ f: { defaultValue: 1, rules: [{ force: 2 }] } }, 'f', { forcedFeatures }).value).toBe('local');
    expect(evaluate({}, 'nowhere', { forcedFeatures })).toMatchObject({ value: 5, source: 'override' });
  });

  test('passes over rules without a value, and experiments without two variations', () => {
    const rules: FeatureRule[] = [{} as FeatureRule, { variations: [] }, { variations: ['one'] }, { force: 'forced' }];
    expect(evaluate({ f: { defaultValue: 'default', rules } }, 'f').value).toBe('forced');
  });

  test('serves the worked example of the payload', () => {
    const payload: Payload = {
      features: {
        'new-checkout': {
          defaultValue: false,
          rules: [
            { parentConditions: [{ id: 'shop-open', condition: { value: true }, gate: true }] },
            { id: 'fr_1', condition: { id: { $inGroup: 'g1' } }, force: true },
            {
              id: 'fr_3',
              condition: { country: 'DE' },
              coverage: 0.8,
              hashAttribute: 'id',
              seed: 's1',
              hashVersion: 2,
              variations: [false, true],
              weights: [0.5, 0.5],
              key: 'checkout',
              meta: [{ key: '0' }, { key: '1' }],
              phase: '0',
            },
          ],
        },
        'shop-open': { defaultValue: false, rules: [{ condition: { hour: { $gt: 8 } }, force: true }] },
      },
      dateUpdated: '2026-01-31T09:00:00.000Z',
      savedGroups: { g1: ['u1', 'u2'] },
    };
    const { evaluate: ask } = compilePayload(payload);
    const sourceFor = (attributes: User['attributes']) => ask('new-checkout', { attributes }).source;
    expect(sourceFor({ id: 'u1', hour: 7 })).toBe('prerequisite');
    expect(sourceFor({ id: 'u1', hour: 9 })).toBe('force');
    expect(sourceFor({ id: 'u3', hour: 9 })).toBe('defaultValue');
    expect(sourceFor({ id: 'u3', hour: 9, country: 'DE' })).toBe('experiment');
  });
});
