import { GrowthBook } from '@growthbook/growthbook';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EvaluationCase, evaluationCase } from '../testing/case-arbitraries.ts';
import {
  type AutoExperiment,
  assignmentKey,
  compilePayload,
  type EvaluablePayload,
  type FeatureDefinition,
  type Payload,
  type RemoteEvaluationRequest,
  recordExperiments,
  remoteEvaluation,
  type StickyBucketDocument,
  stickyBucketKey,
} from './index.ts';

const dateUpdated = '2026-01-31T09:00:00.000Z';

const ask = (payload: EvaluablePayload, request: RemoteEvaluationRequest): Payload =>
  JSON.parse(remoteEvaluation({ ...payload, dateUpdated }, compilePayload(payload))(request));

const askFeatures = (features: Payload['features'], request: RemoteEvaluationRequest) =>
  ask({ features }, request).features;

const split: FeatureDefinition = {
  defaultValue: 'none',
  rules: [
    {
      condition: { country: 'DE' },
      variations: ['secret control', 'secret red', 'secret blue'],
      weights: [0, 1, 0],
      key: 'colours',
      meta: [{ key: 'c', name: 'Control' }, { key: 'r', name: 'Red' }, { key: 'b' }],
      name: 'Colours',
    },
  ],
};
const german = { attributes: { id: 'u1', country: 'DE' } };

describe('remote evaluation', () => {
  test('answers with the value of each feature, in the order of the payload', () => {
    const payload = {
      features: {
        zero: { defaultValue: 0 },
        empty: { defaultValue: '' },
        off: { defaultValue: false, rules: [{ condition: { country: 'DE' }, force: [] }] },
        nothing: { defaultValue: null },
        list: { defaultValue: [1, { a: 'ä' }] },
      },
      savedGroups: { g: ['secret'] },
    };
    const answer = remoteEvaluation({ ...payload, dateUpdated }, compilePayload(payload))(german);
    expect(answer).toBe(
      '{"features":{"zero":{"defaultValue":0},"empty":{"defaultValue":""},"off":{"defaultValue":[]},' +
        `"nothing":{"defaultValue":null},"list":{"defaultValue":[1,{"a":"ä"}]}},"dateUpdated":"${dateUpdated}"}`,
    );
  });

  test('tells of an experiment only what concerns a user who is in it', () => {
    expect(askFeatures({ split }, german)).toEqual({
      split: {
        defaultValue: 'secret red',
        rules: [
          {
            force: 'secret red',
            tracks: [
              {
                experiment: {
                  key: 'colours',
                  name: 'Colours',
                  weights: [0, 1, 0],
                  variations: [null, 'secret red', null],
                  meta: [{}, { key: 'r', name: 'Red' }, {}],
                },
                result: {
                  key: 'r',
                  name: 'Red',
                  featureId: 'split',
                  inExperiment: true,
                  hashUsed: true,
                  variationId: 1,
                  value: 'secret red',
                  hashAttribute: 'id',
                  hashValue: 'u1',
                  stickyBucketUsed: false,
                  bucket: expect.any(Number),
                },
              },
            ],
          },
        ],
      },
    });
    expect(askFeatures({ split }, { attributes: { id: 'u1' } })).toEqual({ split: { defaultValue: 'none' } });
  });

  test('tells of the experiments that were entered on the way through prerequisites, each once', () => {
    const parentConditions = [
      { id: 'split', condition: { value: 'secret red' } },
      { id: 'split', condition: { value: { $exists: true } } },
    ];
    const child: FeatureDefinition = { defaultValue: 1, rules: [{ parentConditions, force: 2 }] };
    const [rule] = askFeatures({ child, split }, german)['child']?.rules ?? [];
    const tracks = [{ experiment: { key: 'colours' }, result: { featureId: 'split' } }];
    expect(rule).toMatchObject({ force: 2, tracks });
  });

  test('takes forced values and variations as they are, and tracks neither', () => {
    const features = { split, plain: { defaultValue: 1 } };
    const forcedFeatures = new Map([['plain', 0]]);
    expect(askFeatures(features, { ...german, forcedFeatures, forcedVariations: { colours: 2 } })).toEqual({
      split: { defaultValue: 'secret blue' },
      plain: { defaultValue: 0 },
    });
    expect(askFeatures(features, { ...german, url: 'https://example.com/?colours=0' })).toMatchObject({
      split: { defaultValue: 'secret control' },
    });
  });

  test('a sticky assignment counts for this one request', () => {
    const evaluate = remoteEvaluation({ features: { split }, dateUpdated }, compilePayload({ features: { split } }));
    const document = { attributeName: 'id', attributeValue: 'u1', assignments: { colours__0: 'b' } };
    const valueOf = (request: RemoteEvaluationRequest) =>
      (JSON.parse(evaluate(request)) as Payload).features['split']?.defaultValue;
    expect(valueOf({ ...german, stickyBucketAssignmentDocs: { 'id||u1': document } })).toBe('secret blue');
    expect(valueOf({ ...german, stickyBucketAssignmentDocs: {} })).toBe('secret red');
    expect(valueOf(german)).toBe('secret red');
  });

  test('holds of the auto-run experiments those that the user is in, without whom they are for', () => {
    const experiment = (key: string, country: string): AutoExperiment => ({
      key,
      status: 'running',
      variations: [{ css: 'secret' }, { css: 'mine', js: '' }, { css: 'secret' }],
      weights: [0, 1, 0],
      meta: [{ key: '0', name: 'secret' }, { key: '1' }, { key: '2' }],
      condition: { country },
      parentConditions: [{ id: 'secret', condition: { value: null } }],
      urlPatterns: [{ include: true, type: 'simple', pattern: '/home' }],
    });
    const experiments = [experiment('here', 'DE'), experiment('elsewhere', 'FR')];
    const request = { ...german, url: 'https://example.com/home' };
    const answer = ask({ features: {}, experiments }, request);
    const { condition: _, parentConditions: __, ...rest } = experiment('here', 'DE');
    expect(answer).toEqual({
      features: {},
      experiments: [{ ...rest, variations: [{}, { css: 'mine', js: '' }, {}], meta: [{}, { key: '1' }, {}] }],
      dateUpdated,
    });
    expect(ask({ features: {}, experiments }, german).experiments).toEqual([]);
    expect(ask({ features: {} }, request)).not.toHaveProperty('experiments');
  });
});

/** What the SDK gives a user, feature by feature, and what it tracks on the way. */
function askSdk(given: EvaluationCase | { features: Payload['features'] }, user: EvaluationCase['user']) {
  const recorder = recordExperiments();
  const sdk = new GrowthBook({
    attributes: { ...user.attributes },
    url: user.url,
    forcedVariations: { ...user.forcedVariations },
    trackingCallback: (experiment, result) =>
      recorder.track(structuredClone(experiment) as never, structuredClone(result) as never),
    ...(user.stickyBuckets !== null && {
      // Read only: what the SDK assigns on the way is not kept.
      stickyBucketService: { getAllAssignments: async () => ({}), saveAssignments: async () => {} } as never,
      stickyBucketAssignmentDocs: readOnly(documentsOf(user)) as never,
    }),
  });
  // The SDK's types are ours without `readonly`.
  sdk.initSync({ payload: structuredClone({ ...given, user: undefined }) as never });
  sdk.setForcedFeatures(new Map(user.forcedFeatures));
  const values = Object.fromEntries(Object.keys(given.features).map((key) => [key, sdk.evalFeature(key).value]));
  const entered = recorder.entered.map(({ experiment, result }) => assignmentKey(experiment, result));
  sdk.destroy();
  return { values, entered: entered.sort() };
}

const documentsOf = ({ stickyBuckets }: EvaluationCase['user']): Record<string, StickyBucketDocument> =>
  Object.fromEntries(
    (stickyBuckets ?? []).map((document) => [
      stickyBucketKey(document.attributeName, document.attributeValue),
      document,
    ]),
  );

const readOnly = <Value extends object>(value: Value): Value => new Proxy(value, { set: () => true });

describe('the published JavaScript SDK', () => {
  // It reports what the generator makes on purpose.
  beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
  afterAll(() => void vi.restoreAllMocks());

  const requestOf = ({ user }: EvaluationCase): RemoteEvaluationRequest => ({
    attributes: user.attributes,
    url: user.url,
    forcedVariations: user.forcedVariations,
    forcedFeatures: new Map(user.forcedFeatures),
    ...(user.stickyBuckets !== null && { stickyBucketAssignmentDocs: documentsOf(user) }),
  });
  /** Payloads and requests come as JSON, which knows neither -0 nor NaN nor undefined. */
  const overTheWire = (given: EvaluationCase): EvaluationCase =>
    JSON.parse(JSON.stringify({ ...given, user: { ...given.user, qaMode: false, enabled: true } }));

  test('gives the same values, and tracks the same, on the payload and on the answer', () => {
    fc.assert(
      fc.property(evaluationCase.map(overTheWire), (given) => {
        const answer = ask(given, requestOf(given));
        const expected = askSdk(given, given.user);
        const values = Object.entries(answer.features).map(([key, { defaultValue }]) => [key, defaultValue]);
        expect(Object.fromEntries(values)).toEqual(expected.values);
        // The SDK brings its forced values and sticky buckets along; the answer is right without them.
        const plain = { ...given.user, forcedVariations: {}, stickyBuckets: null };
        expect(askSdk({ features: answer.features }, plain)).toEqual(expected);
      }),
      { numRuns: Number(process.env['AGREEMENT_RUNS'] ?? 1000) },
    );
  });

  test('finds neither conditions nor other variations in an answer', () => {
    fc.assert(
      fc.property(evaluationCase.map(overTheWire), (given) => {
        for (const { rules = [] } of Object.values(ask(given, requestOf(given)).features)) {
          const [rule] = rules;
          if (rule === undefined) continue;
          expect(Object.keys(rule)).toEqual(['force', 'tracks']);
          if (!('tracks' in rule)) continue;
          for (const { experiment, result } of rule.tracks ?? []) {
            expect(experiment).not.toHaveProperty('condition');
            const others = experiment.variations.filter((_, index) => index !== result.variationId);
            expect(others.every((content) => content === null)).toBe(true);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
