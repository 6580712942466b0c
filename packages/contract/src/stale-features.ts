import { z } from 'zod';
import { encodedList } from './common.ts';
import { operation } from './operation.ts';

const environmentReason = z.enum([
  'no-rules',
  'rules-one-sided',
  'abandoned-draft',
  'toggled-off',
  'active-experiment',
  'has-rules',
  'recently-updated',
  'active-draft',
  'has-dependents',
]);
export type EnvironmentStaleReason = z.output<typeof environmentReason>;

const staleReason = z.enum(['never-stale', ...environmentReason.options]);
export type StaleReason = z.output<typeof staleReason>;

const featureStaleness = z
  .strictObject({
    featureId: z.string(),
    isStale: z.boolean(),
    /** Null: it is not stale, for no particular reason. */
    staleReason: staleReason.nullable(),
    /** It was marked as one that is kept for good. */
    neverStale: z.boolean(),
    staleByEnv: z
      .record(
        z.string(),
        z.strictObject({
          isStale: z.boolean(),
          reason: environmentReason.nullable(),
          /** The value that everyone gets there, as text; absent where it depends on the user. */
          evaluatesTo: z.string().optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'FeatureStaleness' });
export type FeatureStaleness = z.output<typeof featureStaleness>;

const common = {
  method: 'GET',
  summary: 'Tell which features serve everyone the same and could go',
  permission: 'readData',
  query: z.strictObject({ ids: encodedList }),
  response: z.strictObject({ features: z.record(z.string(), featureStaleness) }),
} as const;

export const getStaleFeatures = operation({
  ...common,
  id: 'getFeatureStaleV2',
  path: '/v2/stale-features',
  tag: 'features-v2',
  description:
    '`ids` are separated by commas, each percent-encoded. Those of unknown and of archived features are left out of the answer. A feature is not ' +
    'stale while it was updated in the last two weeks, has a draft that was changed in the last 30 days, or is a prerequisite ' +
    'of another feature that is not stale.',
});

export const getStaleFeaturesV1 = operation({
  ...common,
  id: 'getFeatureStale',
  path: '/v1/stale-features',
  tag: 'features',
  description: 'Use `GET /v2/stale-features`.',
  deprecated: true,
});
