/** Random users and cases: a payload with somebody to evaluate it for. */
import * as fc from 'fast-check';
import type {
  Bucketing,
  ContextualBandit,
  Experiment,
  FeatureDefinition,
  FeatureRule,
  JsonValue,
  SavedGroups,
  StickyBucketDocument,
} from '../src/index.ts';
import { attributes, json, often, rarely, record, savedGroups, text } from './condition-arbitraries.ts';
import {
  contextualBandits,
  EXPERIMENT_KEYS,
  FEATURE_KEYS,
  features,
  HASH_ATTRIBUTES,
  inlineExperiment,
} from './payload-arbitraries.ts';

/** One case: everything an evaluation depends on. */
export interface EvaluationCase {
  readonly features: Readonly<Record<string, FeatureDefinition>>;
  readonly savedGroups: SavedGroups;
  readonly contextualBandits: Readonly<Record<string, ContextualBandit>>;
  readonly user: UserCase;
}

/** A user, in the words that both evaluations can be given. */
export interface UserCase {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly forcedVariations: Readonly<Record<string, number>>;
  readonly forcedFeatures: readonly (readonly [string, JsonValue])[];
  readonly qaMode: boolean;
  readonly enabled: boolean;
  /** `null` switches sticky bucketing off. */
  readonly stickyBuckets: readonly StickyBucketDocument[] | null;
}

/** Whole numbers or no numbers at all in the query string: the SDK also reads `1.5` and `1x` as 1. */
const url = fc
  .constantFrom('', '', '', '/', '/?checkout=1', '/?f0=0&f1=1#x', '/?checkout=', '/?checkout=7', '/cart?pricing=a')
  .map((page) => page && `https://example.com${page}`);

const assignments = fc.dictionary(
  fc
    .tuple(fc.constantFrom(...EXPERIMENT_KEYS), fc.constantFrom(0, 0, 0, 1, 2, 3))
    .map(([key, version]) => `${key}__${version}`),
  fc.constantFrom('0', '1', 'a', 'a', 'b', 'b', 'c'),
  { maxKeys: 6, noNullPrototype: true },
);

/** Documents of the user's own attribute values, and of strangers. */
const stickyBuckets = fc.record({
  own: record<Record<string, StickyBucketDocument['assignments'] | undefined>>({
    id: often(assignments),
    deviceId: often(assignments),
    company: rarely(assignments),
  }),
  strangers: fc.array(
    fc.record({
      attributeName: fc.constantFrom(...HASH_ATTRIBUTES),
      // A document of the empty value belongs to nobody; the SDK reads it where the attribute is missing.
      attributeValue: text.filter((value) => value !== ''),
      assignments,
    }),
    { maxLength: 2 },
  ),
});

const user: fc.Arbitrary<UserCase> = fc
  .record({
    attributes,
    url,
    forcedVariations: rarely(
      fc.dictionary(fc.constantFrom(...EXPERIMENT_KEYS), fc.integer({ min: -1, max: 4 }), { noNullPrototype: true }),
    ).map((forced) => forced ?? {}),
    forcedFeatures: rarely(fc.tuple(fc.constantFrom(...FEATURE_KEYS, 'unknownFeature'), json)).map((forced) =>
      forced === undefined ? [] : [forced],
    ),
    qaMode: rarely(fc.boolean()).map(Boolean),
    enabled: rarely(fc.boolean()).map((enabled) => enabled ?? true),
    sticky: fc.option(stickyBuckets, { nil: null }),
  })
  .map(({ sticky, ...rest }) => ({ ...rest, stickyBuckets: sticky && documentsFor(rest.attributes, sticky) }));

function documentsFor(
  attributesOfUser: UserCase['attributes'],
  { own, strangers }: typeof stickyBuckets extends fc.Arbitrary<infer Sticky> ? Sticky : never,
): StickyBucketDocument[] {
  const documents = Object.entries(own).flatMap(([attributeName, kept]) => {
    const value = attributesOfUser[attributeName];
    if (kept === undefined || !value) return [];
    const attributeValue = typeof value === 'string' ? value : JSON.stringify(value);
    return [{ attributeName, attributeValue, assignments: kept }];
  });
  return [...strangers, ...documents];
}

/**
 * With sticky buckets, an experiment on another attribute than `id` has a fallback attribute: without one the SDK falls
 * back to the documents of `id`, and a document of another attribute is never used.
 */
function withFallback<Rule extends FeatureRule | Experiment>(experiment: Rule): Rule {
  const { hashAttribute, fallbackAttribute } = experiment as Bucketing;
  if (!hashAttribute || hashAttribute === 'id' || fallbackAttribute) return experiment;
  return { ...experiment, fallbackAttribute: 'deviceId' };
}

function withFallbacks(given: EvaluationCase): EvaluationCase {
  if (given.user.stickyBuckets === null) return given;
  const features = Object.entries(given.features).map(([key, definition]) => [
    key,
    { ...definition, ...(definition.rules && { rules: definition.rules.map((each) => withFallback(each)) }) },
  ]);
  return { ...given, features: Object.fromEntries(features) };
}

export const evaluationCase: fc.Arbitrary<EvaluationCase> = fc
  .record({
    features,
    savedGroups,
    contextualBandits,
    user,
  })
  .map(withFallbacks);

/** A case with an experiment that is not part of its payload. */
export const experimentCase: fc.Arbitrary<{ given: EvaluationCase; experiment: Experiment }> = fc
  .record({ given: evaluationCase, experiment: inlineExperiment })
  .map(({ given, experiment }) => ({
    given,
    experiment: given.user.stickyBuckets === null ? experiment : withFallback(experiment),
  }));
