import { z } from 'zod';
import {
  booleanText,
  deletedResponse,
  description,
  idParams,
  overrideFlags,
  pageOf,
  pageQuery,
  reason,
  skipPaginationQuery,
  tags,
  timestamp,
  usableAsKey,
} from './common.ts';
import { bypassedGate } from './errors.ts';
import { featureRevision, featureRevisionSummary } from './feature-revisions.ts';
import { featureRule, featureRuleInput, featureRuleV1 } from './feature-rules.ts';
import { operation } from './operation.ts';

export const featureValueTypes = ['boolean', 'string', 'number', 'json'] as const;
const valueType = z.enum(featureValueTypes);
export type FeatureValueType = z.output<typeof valueType>;

const holdout = z.strictObject({ id: z.string(), value: z.string() });

const featureFields = {
  id: z.string(),
  dateCreated: timestamp,
  dateUpdated: timestamp,
  archived: z.boolean(),
  description,
  /** Member's user id; older rows may hold free text. */
  owner: z.string(),
  ownerEmail: z.string().optional(),
  project: z.string(),
  targetingAllProjects: z.boolean().optional(),
  targetingProjects: z.array(z.string()).optional(),
  valueType,
  defaultValue: z.string(),
  baseConfig: z.string().nullable().optional(),
  defaultValueConfig: z.string().nullable().optional(),
  tags: z.array(z.string()),
  prerequisites: z.array(z.string()).optional(),
  customFields: z.record(z.string(), z.unknown()).optional(),
  holdout: holdout.nullable().optional(),
};

const featureEnvironment = z
  .strictObject({
    enabled: z.boolean(),
    defaultValue: z.string(),
    /** What SDKs with every capability receive, as JSON text; absent while nothing is served here. */
    definition: z.string().optional(),
  })
  .meta({ id: 'FeatureEnvironment' });

const v2Fields = {
  ...featureFields,
  rules: z.array(featureRule),
  environments: z.record(z.string(), featureEnvironment),
  revision: featureRevisionSummary,
};

export const feature = z.strictObject(v2Fields).meta({ id: 'Feature' });
export type Feature = z.output<typeof feature>;

const featureWithRevisions = z
  .strictObject({ ...v2Fields, revisions: z.array(featureRevision).optional() })
  .meta({ id: 'FeatureWithRevisions' });

const featureEnvironmentV1 = z.strictObject({ ...featureEnvironment.shape, rules: z.array(featureRuleV1) });

/** The v1 shape of a feature, which events carry too: rules by environment, people as text. */
export const featureV1 = z
  .strictObject({
    ...featureFields,
    environments: z.record(
      z.string(),
      /** Answers show what is live; drafts are among the revisions. */
      featureEnvironmentV1.extend({ draft: featureEnvironmentV1.optional() }),
    ),
    revision: z.strictObject({
      id: z.string().optional(),
      version: z.int(),
      comment: z.string(),
      date: timestamp,
      createdBy: z.string(),
      publishedBy: z.string(),
    }),
  })
  .meta({ id: 'FeatureV1' });
export type FeatureV1 = z.output<typeof featureV1>;

/** What bodies of both versions say alike, of a new feature or of one that changes. */
export const featureBody = {
  archived: z.boolean().optional(),
  description: description.optional(),
  owner: z.string().optional(),
  project: z.string().optional(),
  targetingAllProjects: z.boolean().optional(),
  targetingProjects: z.array(z.string()).optional(),
  baseConfig: z.string().nullable().optional(),
  tags: tags.optional(),
  prerequisites: z.array(z.string()).optional(),
  /** A JSON Schema as JSON text; values must fit it. */
  jsonSchema: z.string().optional(),
  customFields: z.record(z.string(), z.string()).optional(),
  ...overrideFlags,
};

export const newFeatureBody = {
  id: z.string().refine(...usableAsKey),
  valueType: valueType.default('boolean'),
  defaultValue: z.string(),
};

export const changedFeatureBody = {
  defaultValue: z.string().optional(),
  holdout: holdout.nullable().optional(),
};

const changeable = {
  ...featureBody,
  defaultValueConfig: z.string().nullable().optional(),
  rules: z.array(featureRuleInput).optional(),
  environments: z.record(z.string(), z.strictObject({ enabled: z.boolean().optional() })).optional(),
};

const overrideQuery = z.strictObject({
  ignoreWarnings: booleanText.optional().meta({ deprecated: true }),
  skipSchemaValidation: booleanText.optional().meta({ deprecated: true }),
});

const landedFeature = z.strictObject({ feature, bypassedGates: z.array(bypassedGate).optional() });

export const featureListQuery = {
  ...pageQuery,
  projectId: z.string().optional(),
  clientKey: z.string().optional(),
  ...skipPaginationQuery,
};

export const listFeatures = operation({
  id: 'listFeaturesV2',
  method: 'GET',
  path: '/v2/features',
  tag: 'features-v2',
  summary: 'List the features, oldest first',
  description:
    '`projectId` finds features of the project and those targeted at it; `clientKey` those in that connection’s payload. ' +
    'Archived features are left out unless `archived=true`.',
  permission: 'readData',
  query: z.strictObject({ ...featureListQuery, archived: booleanText.default(false) }),
  response: pageOf('features', feature),
});

export const postFeature = operation({
  id: 'postFeatureV2',
  method: 'POST',
  path: '/v2/features',
  tag: 'features-v2',
  summary: 'Create a feature',
  description:
    'It is live at once. An environment that is not mentioned takes its default state, which may be on; to create a feature ' +
    'that is off everywhere, list every environment with `enabled: false`.',
  permission: ['createFeatures', 'publishFeatures'],
  query: overrideQuery,
  body: z.strictObject({ ...newFeatureBody, ...changeable }),
  response: z.strictObject({ feature }),
  errors: [409, 422],
});

export const withRevisionsQuery = z.strictObject({
  withRevisions: z.enum(['all', 'drafts', 'published', 'none']).optional(),
});

export const getFeature = operation({
  id: 'getFeatureV2',
  method: 'GET',
  path: '/v2/features/{id}',
  tag: 'features-v2',
  summary: 'Get one feature, on request with its revisions',
  permission: 'readData',
  params: idParams,
  query: withRevisionsQuery,
  response: z.strictObject({ feature: featureWithRevisions }),
  errors: [404],
});

export const updateFeature = operation({
  id: 'updateFeatureV2',
  method: 'POST',
  path: '/v2/features/{id}',
  tag: 'features-v2',
  summary: 'Change a feature and publish the change',
  description: '`rules` replaces the whole list; everything else that is left out stays.',
  permission: ['editFeatureDrafts', 'publishFeatures', 'deleteFeatures'],
  params: idParams,
  query: overrideQuery,
  body: z.strictObject({ ...changeable, ...changedFeatureBody }),
  response: landedFeature,
  errors: [404, 409, 422],
});

export const deleteFeature = operation({
  id: 'deleteFeatureV2',
  method: 'DELETE',
  path: '/v2/features/{id}',
  tag: 'features-v2',
  summary: 'Delete a feature, archived first',
  permission: ['deleteFeatures', 'publishFeatures'],
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});

export const toggleBody = z.strictObject({
  reason: reason.optional(),
  environments: z.record(
    z.string(),
    z.union([z.boolean(), z.enum(['true', 'false', '1', '0', '']), z.literal([1, 0])], {
      error: 'must be true, false, "true", "false", "1", "0", "", 1 or 0',
    }),
  ),
});

export const toggleFeature = operation({
  id: 'toggleFeatureV2',
  method: 'POST',
  path: '/v2/features/{id}/toggle',
  tag: 'features-v2',
  summary: 'Switch a feature on or off in environments',
  permission: 'publishFeatures',
  params: idParams,
  body: toggleBody,
  response: landedFeature,
  errors: [404, 409, 422],
});

export const featureKeysQuery = z.strictObject({ projectId: z.string().optional() });

export const getFeatureKeys = operation({
  id: 'getFeatureKeysV2',
  method: 'GET',
  path: '/v2/feature-keys',
  tag: 'features-v2',
  summary: 'List the ids of all features that are not archived',
  permission: 'readData',
  query: featureKeysQuery,
  response: z.array(z.string()),
});
