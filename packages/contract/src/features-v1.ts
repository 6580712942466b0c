import { z } from 'zod';
import { deletedResponse, idParams, pageOf } from './common.ts';
import { bypassedGate } from './errors.ts';
import { featureRevisionV1 } from './feature-revisions.ts';
import { featureRuleInputV1 } from './feature-rules.ts';
import {
  changedFeatureBody,
  featureBody,
  featureKeysQuery,
  featureListQuery,
  featureV1,
  newFeatureBody,
  toggleBody,
  withRevisionsQuery,
} from './features.ts';
import { operation } from './operation.ts';

const deprecated = { tag: 'features', deprecated: true } as const;

const featureWithRevisionsV1 = z
  .strictObject({ ...featureV1.shape, revisions: z.array(featureRevisionV1).optional() })
  .meta({ id: 'FeatureWithRevisionsV1' });

const rules = z.array(featureRuleInputV1);

/** What of an environment goes into a draft beside the live feature. */
const draft = z.strictObject({
  enabled: z.boolean().optional(),
  rules,
  definition: z.string().optional(),
});

/** What may be said of an environment beside its switch and its rules. */
const environmentExtras = {
  /** Derived from the feature, and without effect in a body. */
  definition: z.string().optional(),
  /** That of the feature, as answers show it: it may be sent back, and nothing else. */
  defaultValue: z.string().optional(),
  draft: draft.optional(),
};

const landedFeature = z.strictObject({ feature: featureV1, bypassedGates: z.array(bypassedGate).optional() });

export const listFeaturesV1 = operation({
  ...deprecated,
  id: 'listFeatures',
  method: 'GET',
  path: '/v1/features',
  summary: 'List the features, oldest first, archived ones too',
  description:
    'Use `GET /v2/features`. `projectId` finds features of the project and those targeted at it; `clientKey` those in that ' +
    'connection’s payload.',
  permission: 'readData',
  query: z.strictObject(featureListQuery),
  response: pageOf('features', featureV1),
});

export const postFeatureV1 = operation({
  ...deprecated,
  id: 'postFeature',
  method: 'POST',
  path: '/v1/features',
  summary: 'Create a feature, with a list of rules for each environment',
  description:
    'Use `POST /v2/features`. The feature is live at once. An environment that is not mentioned takes its default state, which ' +
    'may be on; to create a feature that is off everywhere, list every environment with `enabled: false` and `rules: []`. What ' +
    'is in `draft` becomes a draft revision and is not published.',
  permission: ['createFeatures', 'publishFeatures', 'editFeatureDrafts'],
  body: z.strictObject({
    ...newFeatureBody,
    ...featureBody,
    environments: z
      .record(z.string(), z.strictObject({ enabled: z.boolean(), rules, ...environmentExtras }))
      .optional(),
  }),
  response: z.strictObject({ feature: featureV1 }),
  errors: [409, 422],
});

export const getFeatureV1 = operation({
  ...deprecated,
  id: 'getFeature',
  method: 'GET',
  path: '/v1/features/{id}',
  summary: 'Get one feature, on request with its revisions',
  description: 'Use `GET /v2/features/{id}`.',
  permission: 'readData',
  params: idParams,
  query: withRevisionsQuery,
  response: z.strictObject({ feature: featureWithRevisionsV1 }),
  errors: [404],
});

export const updateFeatureV1 = operation({
  ...deprecated,
  id: 'updateFeature',
  method: 'POST',
  path: '/v1/features/{id}',
  summary: 'Change a feature and publish the change',
  description:
    'Use `POST /v2/features/{id}`. What is left out stays: other environments, and of an environment its switch or its rules. ' +
    '`rules` replaces the list of its environment. What is in `draft` becomes a draft revision and is not published.',
  permission: ['editFeatureDrafts', 'publishFeatures', 'deleteFeatures'],
  params: idParams,
  body: z.strictObject({
    ...featureBody,
    ...changedFeatureBody,
    environments: z
      .record(
        z.string(),
        z.strictObject({ enabled: z.boolean().optional(), rules: rules.optional(), ...environmentExtras }),
      )
      .optional(),
  }),
  response: landedFeature,
  errors: [404, 409, 422],
});

export const deleteFeatureV1 = operation({
  ...deprecated,
  id: 'deleteFeature',
  method: 'DELETE',
  path: '/v1/features/{id}',
  summary: 'Delete a feature, archived first',
  description: 'Use `DELETE /v2/features/{id}`.',
  permission: ['deleteFeatures', 'publishFeatures'],
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});

export const toggleFeatureV1 = operation({
  ...deprecated,
  id: 'toggleFeature',
  method: 'POST',
  path: '/v1/features/{id}/toggle',
  summary: 'Switch a feature on or off in environments',
  description: 'Use `POST /v2/features/{id}/toggle`.',
  permission: 'publishFeatures',
  params: idParams,
  body: toggleBody,
  response: landedFeature,
  errors: [404, 409, 422],
});

export const getFeatureKeysV1 = operation({
  ...deprecated,
  id: 'getFeatureKeys',
  method: 'GET',
  path: '/v1/feature-keys',
  summary: 'List the ids of all features that are not archived',
  description: 'Use `GET /v2/feature-keys`.',
  permission: 'readData',
  query: featureKeysQuery,
  response: z.array(z.string()),
});
