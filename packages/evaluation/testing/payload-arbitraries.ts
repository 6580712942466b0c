/**
 * Random payloads for property tests, as the service compiles them: well formed, with few features, so that parents
 * often exist and experiments often share a key.
 */
import * as fc from 'fast-check';
import type { Condition, ContextualBandit, Experiment, FeatureDefinition, FeatureRule } from '../src/index.ts';
import { condition, json, often, operators, rarely, record } from './condition-arbitraries.ts';

export const FEATURE_KEYS = ['f0', 'f1', 'f2', 'f3'] as const;
export const EXPERIMENT_KEYS = ['f0', 'f1', 'checkout', 'pricing', 'x y', 'Ж'] as const;
export const HASH_ATTRIBUTES = ['id', 'deviceId', 'company', 'missing'] as const;

const share = fc.oneof(fc.constantFrom(0, 1, 0.5, 0.01, 0.999, -0.5, 2), fc.double({ min: 0, max: 1, noNaN: true }));
const range = fc.oneof(fc.constantFrom([0, 1], [0, 0.5], [0.5, 1]), fc.tuple(share, share)) as fc.Arbitrary<
  readonly [number, number]
>;
const ranges = (maxLength: number) => fc.array(range, { maxLength });
const seed = fc.constantFrom('', 's1', 'checkout', 'é', '日本');
const hashVersion = fc.constantFrom(1, 1, 2, 2, 2, 2, 0, 3);
const hashAttribute = fc.constantFrom('id', 'id', 'id', ...HASH_ATTRIBUTES, '');
const namespace = fc
  .tuple(fc.constantFrom('ns', 'pricing'), range)
  .map(([name, [from, to]]): readonly [string, number, number] => [name, from, to]);
const filters = fc.array(
  record({
    attribute: often(hashAttribute),
    seed,
    hashVersion: often(hashVersion),
    ranges: fc.array(range, { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 2 },
);

const bucketing = {
  coverage: rarely(share),
  hashAttribute: often(hashAttribute),
  fallbackAttribute: often(fc.constantFrom(...HASH_ATTRIBUTES, '')),
  disableStickyBucketing: rarely(fc.boolean()),
  bucketVersion: rarely(fc.integer({ min: 0, max: 3 })),
  minBucketVersion: rarely(rarely(fc.integer({ min: 0, max: 3 }))),
  namespace: rarely(rarely(namespace)),
  filters: rarely(rarely(filters)),
  seed: often(seed),
  hashVersion: often(hashVersion),
};

const weights = (count: number) =>
  fc.oneof(
    fc.constant(Array.from({ length: count }, () => 1 / count)),
    fc.array(share, { minLength: count, maxLength: count }),
    fc.array(share, { maxLength: 4 }),
    fc.constantFrom([0.1, 0.9], [0.5, 0.505], [0.5, 0.52], [0.5, 0.495], [0.5, 0.48]),
  );

/**
 * One entry for each variation, or the SDK throws. Keys differ: with equal ones the SDK takes a sticky user to another
 * variation than the one that was assigned.
 */
const meta = (count: number) =>
  fc
    .array(
      record({
        key: often(fc.constantFrom('a', 'b', 'c', 'd')),
        name: rarely(fc.constantFrom('Control', 'Red', '')),
        passthrough: rarely(fc.boolean()),
      }),
      { minLength: count, maxLength: count },
    )
    .filter((entries) => {
      const keys = entries.map((entry, index) => entry.key ?? String(index));
      return new Set(keys).size === keys.length;
    });

/** At most one range for each variation: with more, the SDK reports a variation that does not exist. */
const layout = (count: number) => ({
  weights: often(weights(count)),
  ranges: rarely(ranges(count)),
  key: often(fc.constantFrom(...EXPERIMENT_KEYS, '')),
  meta: often(meta(count)),
  name: rarely(fc.constantFrom('Checkout', '')),
  phase: rarely(fc.constantFrom('0', '1', '')),
});

const parentConditions = fc.array(
  record({
    id: fc.constantFrom(...FEATURE_KEYS, 'unknownFeature'),
    condition: fc.oneof(
      fc.constantFrom<Condition>({ value: true }, { value: { $ne: false } }, { value: { $exists: true } }, {}),
      fc.tuple(fc.constantFrom('value', 'value.a'), fc.oneof(json, operators)).map(([key, test]) => ({ [key]: test })),
    ),
    gate: often(fc.boolean()),
  }),
  { maxLength: 2 },
);

const mostlyMet = fc.constantFrom<Condition>({}, { missing: null }, { 'account.x': { $exists: false } }, { $or: [] });
const targeting = {
  id: often(fc.constantFrom('fr_1', 'fr_2', '')),
  condition: rarely(fc.oneof(mostlyMet, condition)),
  parentConditions: rarely(parentConditions),
};

const variationCount = fc.constantFrom(1, 2, 2, 2, 3, 4);
const values = (count: number) => fc.array(json, { minLength: count, maxLength: count });

const experimentRule = variationCount.chain((count) =>
  record({ ...targeting, ...bucketing, ...layout(count), variations: values(count) }),
);
const banditRule = variationCount.chain((count) =>
  record({
    ...targeting,
    ...bucketing,
    ...layout(count),
    contextualVariations: values(count),
    contextualBanditRef: often(fc.constantFrom('cb0', 'cb1', 'cbUnknown')),
  }),
);
const enteredBefore = fc.constant({
  experiment: { key: 'elsewhere', variations: [0, 1] },
  result: {
    key: '1',
    featureId: 'f9',
    inExperiment: true,
    hashUsed: true,
    variationId: 1,
    value: 1,
    hashAttribute: 'id',
    hashValue: 'user-1',
    stickyBucketUsed: false,
  },
});
const forceRule = record({
  ...targeting,
  ...bucketing,
  force: json,
  range: rarely(range),
  tracks: rarely(fc.array(enteredBefore, { maxLength: 1 })),
});
const gateRule = record({
  parentConditions: parentConditions.map((parents) => parents.map((parent) => ({ ...parent, gate: true }))),
});

const rule = fc.oneof(
  { weight: 4, arbitrary: forceRule },
  { weight: 4, arbitrary: experimentRule },
  { weight: 1, arbitrary: banditRule },
  { weight: 1, arbitrary: gateRule },
) as fc.Arbitrary<FeatureRule>;

const featureDefinition = record({
  defaultValue: json,
  rules: often(fc.array(rule, { minLength: 1, maxLength: 4 })),
}) as fc.Arbitrary<FeatureDefinition>;

const contextualBandit = record({
  banditVersion: often(fc.integer({ min: 0, max: 9 })),
  contexts: fc.array(
    record({ leafId: fc.integer({ min: 0, max: 5 }), condition, weights: fc.constantFrom(2, 3).chain(weights) }),
    { maxLength: 3 },
  ),
}) as fc.Arbitrary<ContextualBandit>;

export const features = record({
  f0: featureDefinition,
  f1: often(featureDefinition),
  f2: often(featureDefinition),
  f3: rarely(featureDefinition),
}) as fc.Arbitrary<Readonly<Record<string, FeatureDefinition>>>;

export const contextualBandits = record({ cb0: often(contextualBandit), cb1: often(contextualBandit) }) as fc.Arbitrary<
  Readonly<Record<string, ContextualBandit>>
>;

/** An experiment that is not part of a payload. */
export const inlineExperiment = variationCount.chain((count) =>
  record({
    ...bucketing,
    ...layout(count),
    key: fc.constantFrom(...EXPERIMENT_KEYS),
    variations: values(count),
    condition: rarely(fc.oneof(mostlyMet, condition)),
    parentConditions: rarely(parentConditions),
    status: rarely(fc.constantFrom('draft', 'running', 'running', 'running', 'stopped')),
    active: rarely(fc.constantFrom(true, true, false)),
    force: rarely(rarely(fc.integer({ min: -1, max: 4 }))),
  }),
) as fc.Arbitrary<Experiment>;
