import { GrowthBookClient } from '@growthbook/growthbook';
import type { JsonValue, Payload } from '@halyard/evaluation';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FeatureContent, featureKind } from '../packages/server/src/flags/index.ts';
import { attributeKind, savedGroupKind } from '../packages/server/src/targeting/index.ts';
import { payloadOf } from '../packages/server/testing/delivery.ts';
import {
  featureState,
  force,
  inlineExperiment,
  rollout,
  savedGroupState,
} from '../packages/server/testing/flags/states.ts';
import { newConnection } from '../packages/server/testing/objects.ts';
import { startService, type TestService } from '../packages/server/testing/service.ts';

/** The same user gets the same values, whichever way the values come. */

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const featureId = (index: number) => `f${index}`;
const condition = fc.constantFrom(
  '',
  '{"country":"DE"}',
  '{"country":{"$in":["DE","FR"]},"age":{"$gte":18}}',
  '{"age":{"$lt":30}}',
  '{"age":0}',
  '{"tags":{"$elemMatch":{"$eq":"beta"}}}',
  '{"tags":{"$size":0}}',
  '{"version":{"$vgte":"1.10.0"}}',
  '{"name":{"$regex":"^a"}}',
  '{"name":""}',
  '{"company":{"$exists":false}}',
  '{"$not":{"$or":[{"country":"US"},{"premium":true}]}}',
);
const groups = {
  people: { attributeKey: 'id', values: ['u1', '5', ''] },
  ages: { attributeKey: 'age', values: ['0', '18'] },
  nobody: { attributeKey: 'id', values: [] },
  german: { condition: '{"country":"DE"}' },
  nesting: { condition: '{"$not":{"$savedGroups":["people","german"]},"age":{"$notInGroup":"ages"}}' },
};
const savedGroupTargeting = fc.array(
  fc.record({
    matchType: fc.constantFrom('all' as const, 'any' as const, 'none' as const),
    savedGroups: fc.subarray(Object.keys(groups)),
  }),
  { maxLength: 1 },
);
const share = fc.constantFrom(0, 0.1, 0.5, 0.99, 1);
const hashAttribute = fc.constantFrom('id', 'id', 'company');

const valuesOf = {
  boolean: fc.constantFrom('true', 'false'),
  number: fc.constantFrom('0', '1', '-1.5'),
  string: fc.constantFrom('', 'a', 'ä 日本'),
  json: fc.constantFrom('null', '[]', '[0,"a"]', '{}', '{"a":{"b":0}}', '0', '""'),
};

/** Feature number `index`, which may require those before it. */
const feature = (index: number): fc.Arbitrary<Partial<FeatureContent>> =>
  fc.constantFrom('boolean' as const, 'number' as const, 'string' as const, 'json' as const).chain((valueType) => {
    const value = valuesOf[valueType];
    const required = fc.array(
      fc.record({
        id: fc.nat(Math.max(0, index - 1)).map(featureId),
        condition: fc.constantFrom('{"value":true}', '{"value":{"$ne":0}}', '{"value":{"$exists":true}}'),
      }),
      { maxLength: index === 0 ? 0 : 1 },
    );
    const rule: fc.Arbitrary<FeatureContent['rules'][number]> = fc.oneof(
      fc.record({ value, condition, savedGroupTargeting, prerequisites: required }).map(force),
      fc.record({ value, condition: fc.constant('{"$savedGroups":["nesting"]}') }).map(force),
      fc.record({ value, condition, savedGroupTargeting, coverage: share, hashAttribute }).map(rollout),
      fc
        .record({
          condition,
          coverage: share,
          hashAttribute,
          trackingKey: fc.constantFrom('one', 'other', `exp-${index}`),
          values: fc
            .array(value, { minLength: 2, maxLength: 3 })
            .map((all) => all.map((one) => ({ value: one, weight: 1 / all.length }))),
        })
        .map(inlineExperiment),
    );
    return fc.record({
      valueType: fc.constant(valueType),
      defaultValue: value,
      rules: fc
        .array(rule, { maxLength: 3 })
        .map((rules) => rules.map((one, at) => ({ ...one, id: `fr_${index}_${at}` }))),
      prerequisites: index % 5 === 4 ? required : fc.constant([]),
    });
  });

const context = fc.record(
  {
    id: fc.oneof(fc.constantFrom('', 'u1', 'u2'), fc.string(), fc.nat()),
    company: fc.oneof(fc.constantFrom('acme', ''), fc.nat(20)),
    country: fc.constantFrom('DE', 'FR', 'US', ''),
    age: fc.oneof(fc.constantFrom(0, 17, 18, 30), fc.constant(null)),
    tags: fc.array(fc.constantFrom('beta', 'x', 0), { maxLength: 2 }),
    version: fc.constantFrom('1.9.0', '1.10.0', '2', ''),
    name: fc.constantFrom('anna', 'bob', ''),
    premium: fc.boolean(),
  },
  { requiredKeys: [] },
);

test('the SDK on the payload, remote evaluation and OpenFeature agree on every value', async () => {
  const count = 60;
  const features = fc.sample(fc.tuple(...Array.from({ length: count }, (_, index) => feature(index))), {
    numRuns: 1,
    seed: 7,
  })[0];
  await service.recorder.publish(service.id, { type: 'system' }, () => ({
    publication: {
      changes: [
        { kind: attributeKind, id: 'age', state: { datatype: 'number' as const } },
        ...Object.entries(groups).map(([id, content]) => ({
          kind: savedGroupKind,
          id,
          state: savedGroupState(content),
        })),
        ...(features ?? []).map((content, index) => ({
          kind: featureKind,
          id: featureId(index),
          state: featureState(content, ['production'], service.clock.now()),
        })),
      ],
      audit: [],
    },
    result: null,
  }));
  // One gets the values of groups beside the features, the other in place of the groups.
  const definitions = await newConnection(service.admin, { savedGroupReferencesEnabled: true });
  const values = await newConnection(service.admin, { remoteEvalEnabled: true, encryptPayload: true });
  const version = await service.version();
  const payload = await payloadOf(service.url, definitions.key, version);
  expect(payload.savedGroups).toEqual({ people: ['u1', '5', ''], ages: [0, 18], nobody: [] });
  const ids = Object.keys(payload.features);
  expect(ids.length).toBeGreaterThan(count / 2);
  const sdk = new GrowthBookClient().initSync({ payload: payload as never });

  const post = async (path: string, body: object, key = ''): Promise<unknown> => {
    const headers = { 'X-Service-Min-Config-Version': String(version), 'X-API-Key': key };
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return response.json();
  };

  await fc.assert(
    fc.asyncProperty(context, async ({ id, ...rest }) => {
      const attributes = { ...rest, ...(id !== undefined && { id }) };
      const expected = ids.map((key) => [key, sdk.evalFeature(key, { attributes: { ...attributes } }).value]);
      const remote = (await post(`/api/eval/${values.key}`, { attributes })) as Payload;
      expect(Object.entries(remote.features).map(([key, one]) => [key, one.defaultValue])).toEqual(expected);
      const targeted = { ...rest, ...(id !== undefined && { targetingKey: id }) };
      const answer = (await post('/ofrep/v1/evaluate/flags', { context: targeted }, definitions.key)) as {
        flags: { key: string; value?: JsonValue }[];
      };
      const flags = new Map(answer.flags.map((flag) => [flag.key, flag.value ?? null]));
      expect([...flags]).toEqual(expected.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
    }),
    { numRuns: 150 },
  );
});
