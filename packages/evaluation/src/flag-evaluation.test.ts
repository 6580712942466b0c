import { GrowthBookClient as SdkClient } from '@growthbook/growthbook';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type EvaluationCase, evaluationCase } from '../testing/case-arbitraries.ts';
import {
  type Attributes,
  compilePayload,
  type EvaluablePayload,
  type FeatureDefinition,
  type FeatureRule,
  type FlagEvaluation,
  flagEvaluation,
  type JsonValue,
  type Payload,
  type User,
} from './index.ts';

const prepared = (payload: EvaluablePayload) => flagEvaluation(payload, compilePayload(payload), 7);

/** All flags of a payload, in their order. */
const allOf = ({ keys, one }: FlagEvaluation, user: User): { key: string; value?: JsonValue }[] =>
  keys.map((key) => JSON.parse(one(key, user)?.text ?? ''));

/** The one flag `f`. */
const flag = (definition: FeatureDefinition, attributes: Attributes = { id: 'u1' }, more: Payload['features'] = {}) => {
  const { text, failed } = prepared({ features: { f: definition, ...more } }).one('f', { attributes }) ?? {};
  return { ...JSON.parse(text ?? '{}'), failed };
};

const withRules = (...rules: FeatureRule[]): FeatureDefinition => ({ defaultValue: 'default', rules });

describe('a flag', () => {
  test.each<[JsonValue, string]>([
    [true, 'boolean'],
    [false, 'boolean'],
    [0, 'number'],
    [-1.5, 'number'],
    ['', 'string'],
    ['日本', 'string'],
    [[1, 'a'], 'json'],
    [[], 'json'],
    [{ a: null }, 'json'],
  ])('sends %j as it is', (value, valueType) => {
    const metadata = { configVersion: 7, source: 'defaultValue', valueType };
    expect(flag({ defaultValue: value })).toEqual({ key: 'f', value, reason: 'STATIC', metadata, failed: false });
  });

  test('has no value where its value is null: the default of the code is taken', () => {
    const metadata = { configVersion: 7, source: 'defaultValue', valueType: 'json' };
    expect(flag({ defaultValue: null })).toEqual({ key: 'f', reason: 'STATIC', metadata, failed: false });
  });

  test('is of the type that all its values have, and json where they differ or one is null', () => {
    const typeOf = (definition: FeatureDefinition) => flag(definition).metadata.valueType;
    expect(typeOf(withRules({ force: 'a' }, { variations: ['b', 'c'] }))).toBe('string');
    expect(typeOf(withRules({ force: 'a' }, { variations: ['b', null] }))).toBe('json');
    expect(typeOf(withRules({ force: {} }))).toBe('json');
    expect(typeOf(withRules({ force: 1 }))).toBe('json');
    expect(typeOf(withRules({ contextualVariations: [1, 2] }))).toBe('json');
    expect(typeOf(withRules({ parentConditions: [{ id: 'p', condition: {}, gate: false }] }))).toBe('string');
  });

  test.each<[string, FeatureRule, JsonValue, string, string?]>([
    ['a force rule', { force: 1 }, 1, 'TARGETING_MATCH'],
    ['a force rule with its id', { force: 1, id: 'fr_1' }, 1, 'TARGETING_MATCH', 'fr_1'],
    ['a condition', { force: 1, condition: { id: 'u1' } }, 1, 'TARGETING_MATCH'],
    ['full coverage', { force: 1, coverage: 1 }, 1, 'TARGETING_MATCH'],
    ['a full range', { force: 1, range: [0, 1] }, 1, 'TARGETING_MATCH'],
    ['a rollout', { force: 1, coverage: 0.9999, hashVersion: 2, id: 'fr_2' }, 1, 'SPLIT', 'fr_2'],
    ['a range', { force: 1, range: [0, 0.9999], hashVersion: 2 }, 1, 'SPLIT'],
    [
      'an experiment',
      { variations: [1, 2], weights: [0, 1], meta: [{}, { key: 'red' }], id: 'fr_3' },
      2,
      'SPLIT',
      'red',
    ],
    ['an experiment without keys', { variations: [1, 2], weights: [0, 1] }, 2, 'SPLIT', '1'],
    ['no rule that fits', { force: 1, condition: { id: 'u2' }, id: 'fr_4' }, 'default', 'STATIC'],
    ['a rollout of nobody', { force: 1, coverage: 0 }, 'default', 'STATIC'],
  ])('says why it has its value: %s', (_, rule, value, reason, variant) => {
    const answer = flag(withRules(rule));
    expect([answer.value, answer.reason, answer.variant]).toEqual([value, reason, variant]);
  });

  test('that a prerequisite blocks has no value and a static reason', () => {
    const gate: FeatureRule = { parentConditions: [{ id: 'p', condition: { value: true }, gate: true }] };
    const answer = flag(withRules(gate, { force: 1 }), {}, { p: { defaultValue: false } });
    const metadata = { configVersion: 7, source: 'prerequisite', valueType: 'json' };
    expect(answer).toEqual({ key: 'f', reason: 'STATIC', metadata, failed: false });
  });

  test('that is not in the payload is none; neither are holdouts', () => {
    const flags = prepared({ features: { '$holdout:h': { defaultValue: 'genpop' } } });
    for (const key of ['f', '$holdout:h', 'constructor', '__proto__']) expect(flags.one(key, german)).toBeUndefined();
    expect(flags.keys).toEqual([]);
  });

  const german = { attributes: { id: 'u1', country: 'DE' } };
  const cyclic = withRules({ parentConditions: [{ id: 'f', condition: {} }], force: 1 });

  test('that is its own prerequisite fails alone', () => {
    expect(flag(cyclic)).toEqual({
      key: 'f',
      errorCode: 'GENERAL',
      errorDetails: expect.stringContaining('circle'),
      failed: true,
    });
    const all = allOf(prepared({ features: { f: cyclic, a: { defaultValue: 0 } } }), german);
    expect(all).toMatchObject([
      { key: 'a', value: 0 },
      { key: 'f', errorCode: 'GENERAL' },
    ]);
  });

  test('whose evaluation breaks fails alone', () => {
    const hostile = {
      get country(): string {
        throw new Error('not to be read');
      },
    };
    const features = { f: withRules({ condition: { country: 'DE' }, force: 1 }), z: { defaultValue: '' } };
    const all = allOf(prepared({ features }), { attributes: hostile });
    expect(all).toMatchObject([
      { key: 'f', errorCode: 'GENERAL' },
      { key: 'z', value: '' },
    ]);
  });

  test('that is not evaluated says why', () => {
    const { text, failed } = prepared({ features: {} }).failed('a "flag"', 'too "slow"');
    expect([JSON.parse(text), failed]).toEqual([
      { key: 'a "flag"', errorCode: 'GENERAL', errorDetails: 'too "slow"' },
      true,
    ]);
  });

  test('stands in the order of its key', () => {
    const keys = ['b', 'B', 'a', '_', 'é', '10', '9'];
    const flags = prepared({ features: Object.fromEntries(keys.map((key) => [key, { defaultValue: 1 }])) });
    expect(flags.keys).toEqual(['10', '9', 'B', '_', 'a', 'b', 'é']);
  });
});

test('all flags have the values that the published JavaScript SDK gives', () => {
  // The SDK reports what the generator makes on purpose.
  const reports = vi.spyOn(console, 'error').mockImplementation(() => {});
  const overTheWire = ({ user: { attributes }, ...payload }: EvaluationCase) =>
    JSON.parse(JSON.stringify({ payload, attributes })) as { payload: EvaluablePayload; attributes: Attributes };
  fc.assert(
    fc.property(evaluationCase.map(overTheWire), ({ payload, attributes }) => {
      const flags = prepared(payload);
      const all = allOf(flags, { attributes });
      const sdk = new SdkClient().initSync({ payload: structuredClone(payload) as never });
      expect(all.map(({ key }) => key)).toEqual(Object.keys(payload.features).toSorted());
      for (const answer of all) {
        expect(answer.value ?? null).toEqual(sdk.evalFeature(answer.key, { attributes: { ...attributes } }).value);
      }
    }),
    { numRuns: Number(process.env['AGREEMENT_RUNS'] ?? 1000) },
  );
  reports.mockRestore();
});
