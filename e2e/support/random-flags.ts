import type {
  BodyInputOf,
  FeatureValueType,
  Prerequisite,
  postAttribute,
  postFeature,
  postFeatureV1,
  postNamespace,
  postSavedGroup,
} from '@halyard/contract';
import * as fc from 'fast-check';

/**
 * Flags of every kind that can be written, what they target by, and the users they are evaluated for. The same seed makes the
 * same ones.
 */

type V2Rule = NonNullable<BodyInputOf<typeof postFeature>['rules']>[number];
type V1Rule = BodyInputOf<typeof postFeatureV1>['environments'] extends infer Map | undefined
  ? Map extends Readonly<Record<string, { rules: readonly (infer Rule)[] }>>
    ? Rule
    : never
  : never;

/** The environments that rules are spread over; the first one is delivered. */
const environments = ['production', 'dev'] as const;

export const attributes: readonly BodyInputOf<typeof postAttribute>[] = [
  { property: 'company', datatype: 'string', hashAttribute: true },
  { property: 'country', datatype: 'string' },
  { property: 'age', datatype: 'number' },
  { property: 'tags', datatype: 'string[]' },
  { property: 'version', datatype: 'string', format: 'version' },
  { property: 'name', datatype: 'string' },
  { property: 'premium', datatype: 'boolean' },
  { property: 'email', datatype: 'secureString' },
];

export const namespaces: readonly BodyInputOf<typeof postNamespace>[] = [
  { displayName: 'Checkout', format: 'legacy' },
  { displayName: 'Pricing', format: 'multiRange', hashAttribute: 'id' },
  { displayName: 'Search', format: 'multiRange', hashAttribute: 'company' },
];

/** What exists already, for flags to name. */
export interface Known {
  readonly lists: readonly { readonly id: string; readonly attribute: string }[];
  readonly conditions: readonly string[];
  readonly namespaces: readonly string[];
}

const plainConditions = [
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
  '{"email":"anna@example.com"}',
  '{"$not":{"$or":[{"country":"US"},{"premium":true}]}}',
];

/** A condition, perhaps on saved groups. */
function condition({ lists, conditions }: Known): fc.Arbitrary<string> {
  const ofGroups = [...lists.map(({ id }) => id), ...conditions];
  const some = fc.uniqueArray(fc.constantFrom(...ofGroups), { minLength: 1, maxLength: 2 });
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...plainConditions) },
    some.map((ids) => JSON.stringify({ $savedGroups: ids })),
    some.map((ids) => JSON.stringify({ $not: { $savedGroups: ids } })),
    some.map((ids) => JSON.stringify({ $or: [{ country: 'FR', $savedGroups: ids }, { age: { $gt: 40 } }] })),
    fc
      .tuple(fc.constantFrom(...lists), fc.constantFrom('$inGroup', '$notInGroup'))
      .map(([{ id, attribute }, operator]) => JSON.stringify({ [attribute]: { [operator]: id } })),
  );
}

const listValues: Readonly<Record<string, readonly string[]>> = {
  id: ['u1', 'u2', '7', 'ä'],
  company: ['acme', '3', '12'],
  country: ['DE', 'FR', 'US'],
  age: ['0', '17', '30'],
  email: ['anna@example.com', 'bob@example.com'],
};

/** A saved group, which may be made of those before it. */
export function savedGroup(index: number, known: Known): fc.Arbitrary<BodyInputOf<typeof postSavedGroup>> {
  const name = `Group ${index}`;
  const list = fc.constantFrom(...Object.keys(listValues)).chain((attributeKey) =>
    fc.record({
      name: fc.constant(name),
      type: fc.constant('list' as const),
      attributeKey: fc.constant(attributeKey),
      values: fc.subarray([...(listValues[attributeKey] ?? [])]),
    }),
  );
  // Conditions may nest what is there.
  if (known.lists.length < 5) return list;
  return fc.oneof(
    list,
    condition(known).map((text) => ({ name, type: 'condition' as const, condition: text })),
  );
}

const valuesOf: Readonly<Record<FeatureValueType, readonly string[]>> = {
  boolean: ['true', 'false'],
  number: ['0', '1', '-1.5'],
  string: ['', 'a', 'ä 日本'],
  json: ['null', '[]', '[0,"a"]', '{}', '{"a":{"b":0}}', '{"c":1}', '0', '""'],
};

const share = fc.constantFrom(0, 0.1, 0.5, 0.99, 1);
const hashAttribute = fc.constantFrom('id', 'id', 'company');
const schedules = [
  [],
  [],
  [],
  [
    { timestamp: '2020-01-01T00:00:00.000Z', enabled: true },
    { timestamp: null, enabled: false },
  ],
  [
    { timestamp: null, enabled: true },
    { timestamp: '2020-01-01T00:00:00.000Z', enabled: false },
  ],
];

/** Flags name only those of the batches before theirs: so no circle can come about. */
const batch = 20;
export const flagId = (index: number): string => `flag-${index}`;
const earlier = (index: number): fc.Arbitrary<string> =>
  fc.nat(Math.max(0, Math.floor(index / batch) * batch - 1)).map(flagId);

/** A flag as one of the two versions of the interface takes it. */
export type RandomFlag =
  | { readonly version: 1; readonly body: Omit<BodyInputOf<typeof postFeatureV1>, 'owner'> }
  | { readonly version: 2; readonly body: Omit<BodyInputOf<typeof postFeature>, 'owner'> };

export function flag(index: number, known: Known): fc.Arbitrary<RandomFlag> {
  return fc
    .constantFrom<FeatureValueType>('boolean', 'number', 'string', 'json')
    .chain((valueType) => fc.oneof(flagV1(index, valueType, known), flagV2(index, valueType, known)));
}

function common(index: number, valueType: FeatureValueType) {
  return {
    id: fc.constant(flagId(index)),
    valueType: fc.constant(valueType),
    defaultValue: fc.constantFrom(...valuesOf[valueType]),
    prerequisites:
      index < batch
        ? nothing
        : sometimes(
            earlier(index).map((id) => [id]),
            [],
          ),
  };
}

const nothing = fc.constant<never[]>([]);

/** One in five. */
const sometimes = <Value>(arbitrary: fc.Arbitrary<Value>, otherwise: Value): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

/** What rules of every type have, in both versions. */
function targeting(index: number, known: Known) {
  const prerequisite: fc.Arbitrary<Prerequisite> = fc.record({
    id: earlier(index),
    condition: fc.constantFrom('{"value":true}', '{"value":{"$ne":0}}', '{"value":{"$exists":true}}'),
  });
  return {
    condition: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 3, arbitrary: condition(known) }),
    enabled: fc.constantFrom(true, true, true, false),
    scheduleRules: fc.constantFrom(...schedules),
    prerequisites:
      index < batch
        ? nothing
        : sometimes<Prerequisite[]>(
            prerequisite.map((one) => [one]),
            [],
          ),
  };
}

function savedGroups({ lists, conditions }: Known) {
  const ids = [...lists.map(({ id }) => id), ...conditions];
  const entry = fc.record({
    match: fc.constantFrom('all' as const, 'any' as const, 'none' as const),
    ids: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 3 }),
  });
  return sometimes(fc.array(entry, { minLength: 1, maxLength: 2 }), []);
}

function plainRule(index: number, valueType: FeatureValueType, known: Known) {
  const value = fc.constantFrom(...valuesOf[valueType]);
  const shared = { ...targeting(index, known), savedGroups: savedGroups(known), value };
  return fc.oneof(
    fc.record({ type: fc.constant('force' as const), ...shared, sparse: fc.boolean() }),
    fc.record(
      {
        type: fc.constant('rollout' as const),
        ...shared,
        coverage: share,
        hashAttribute,
        hashVersion: fc.constantFrom(1 as const, 2 as const),
        seed: fc.constantFrom('one', 'two'),
      },
      { requiredKeys: ['type', 'value', 'coverage', 'hashAttribute'] },
    ),
  );
}

function flagV2(index: number, valueType: FeatureValueType, known: Known): fc.Arbitrary<RandomFlag> {
  const scope = fc.constantFrom<Pick<V2Rule, 'allEnvironments' | 'environments'>>(
    {},
    { allEnvironments: true },
    ...environments.map((id) => ({ environments: [id] })),
    { environments: [] },
  );
  const rule = fc.tuple(plainRule(index, valueType, known), scope).map(([one, where]) => ({ ...one, ...where }));
  return fc
    .record({
      ...common(index, valueType),
      rules: fc.array(rule, { maxLength: 3 }),
      environments: fc.record({ production: fc.record({ enabled: fc.constantFrom(true, true, true, false) }) }),
    })
    .map((body) => ({ version: 2, body }));
}

function inlineExperiment(index: number, valueType: FeatureValueType, known: Known) {
  const slice = fc.tuple(fc.constantFrom(0, 0.2, 0.5), fc.constantFrom(0.6, 0.9, 1));
  const values = fc
    .array(fc.constantFrom(...valuesOf[valueType]), { minLength: 2, maxLength: 3 })
    .map((all) => all.map((value) => ({ value, weight: 1 / all.length })));
  const namespace = fc
    .tuple(fc.constantFrom(...known.namespaces), slice, fc.boolean())
    .map(([name, range, enabled]) => ({ enabled, name, range }));
  const { condition: targeted, ...others } = targeting(index, known);
  return fc.record(
    {
      type: fc.constant('experiment' as const),
      condition: targeted,
      ...others,
      namespace,
      trackingKey: fc.constantFrom('one', 'other', `exp-${index}`),
      hashAttribute,
      coverage: share,
      values,
    },
    { requiredKeys: ['type', 'condition', 'values'] },
  );
}

/** Rules of v1 stand under their environment; some stand, the same, under both. */
function flagV1(index: number, valueType: FeatureValueType, known: Known): fc.Arbitrary<RandomFlag> {
  const rule: fc.Arbitrary<V1Rule> = fc.oneof(
    plainRule(index, valueType, known),
    inlineExperiment(index, valueType, known),
  );
  const rules = fc
    .tuple(fc.array(rule, { maxLength: 2 }), fc.array(rule, { maxLength: 2 }), fc.array(rule, { maxLength: 1 }))
    .map(([shared, production, dev]) => {
      const named = shared.map((one, at) => ({ ...one, id: `fr_${index}_${at}` }));
      return {
        production: { enabled: true, rules: [...named, ...production] },
        dev: { enabled: true, rules: [...dev, ...named] },
      };
    });
  return fc.record({ ...common(index, valueType), environments: rules }).map((body) => ({ version: 1, body }));
}

/** The attributes of a user. */
export const user = fc.record(
  {
    id: fc.oneof(fc.constantFrom('', 'u1', 'u2', '7', 'ä'), fc.string(), fc.nat()),
    company: fc.oneof(fc.constantFrom('acme', ''), fc.nat(20), fc.nat(20).map(String)),
    country: fc.constantFrom('DE', 'FR', 'US', ''),
    age: fc.oneof(fc.constantFrom(0, 17, 18, 30, 41), fc.constant(null)),
    tags: fc.array(fc.constantFrom('beta', 'x', 0), { maxLength: 2 }),
    version: fc.constantFrom('1.9.0', '1.10.0', '2', ''),
    name: fc.constantFrom('anna', 'bob', ''),
    premium: fc.boolean(),
    email: fc.constantFrom('anna@example.com', 'bob@example.com', 'carla@example.com'),
  },
  { requiredKeys: [] },
);
