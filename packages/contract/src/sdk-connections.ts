import { z } from 'zod';
import { deletedResponse, idParams, pageOf, pageQuery, timestamp } from './common.ts';
import { operation } from './operation.ts';

/** Payload options that are on or off. */
const options = {
  includeVisualExperiments: z.boolean().optional(),
  includeDraftExperiments: z.boolean().optional(),
  includeDraftExperimentRefs: z.boolean().optional(),
  includeExperimentNames: z.boolean().optional(),
  includeRedirectExperiments: z.boolean().optional(),
  includeRuleIds: z.boolean().optional(),
  includeProjectIdInMetadata: z.boolean().optional(),
  includeCustomFieldsInMetadata: z.boolean().optional(),
  allowedCustomFieldsInMetadata: z.array(z.string()).optional(),
  includeTagsInMetadata: z.boolean().optional(),
  includeExperimentScheduleInMetadata: z.boolean().optional(),
  hashSecureAttributes: z.boolean().optional(),
  remoteEvalEnabled: z.boolean().optional(),
  savedGroupReferencesEnabled: z.boolean().optional(),
};

export const sdkConnection = z
  .strictObject({
    id: z.string(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    name: z.string(),
    organization: z.string(),
    languages: z.array(z.string()),
    sdkVersion: z.string().optional(),
    environment: z.string(),
    /** The first project, or `""`. */
    project: z.string(),
    projects: z.array(z.string()).optional(),
    encryptPayload: z.boolean(),
    encryptionKey: z.string(),
    ...options,
    /** The client key that SDKs are given. */
    key: z.string(),
    proxyEnabled: z.boolean(),
    proxyHost: z.string(),
    proxySigningKey: z.string(),
    sseEnabled: z.boolean().optional(),
  })
  .meta({ id: 'SdkConnection' });
export type SdkConnection = z.output<typeof sdkConnection>;

const changeable = {
  name: z.string().trim().min(3, 'must have at least 3 characters').max(256),
  language: z.string(),
  sdkVersion: z.string().optional(),
  environment: z.string(),
  projects: z.array(z.string()).optional(),
  encryptPayload: z.boolean().optional(),
  ...options,
  proxyEnabled: z.boolean().optional(),
  proxyHost: z.string().max(2048).optional(),
};

const answer = z.strictObject({ sdkConnection });
const keyParams = z.strictObject({ key: z.string() });

export const listSdkConnections = operation({
  id: 'listSdkConnections',
  method: 'GET',
  path: '/v1/sdk-connections',
  tag: 'sdk-connections',
  summary: 'List the SDK connections, oldest first',
  description:
    '`projectId` also finds connections that serve every project. `withProxy` (any text): only those with a proxy. ' +
    '`multiOrg`: of every organization, for a super administrator’s token.',
  permission: 'readData',
  query: z.strictObject({
    ...pageQuery,
    projectId: z.string().optional(),
    withProxy: z.string().optional(),
    multiOrg: z.string().optional(),
  }),
  response: pageOf('connections', sdkConnection),
});

export const postSdkConnection = operation({
  id: 'postSdkConnection',
  method: 'POST',
  path: '/v1/sdk-connections',
  tag: 'sdk-connections',
  summary: 'Create an SDK connection, with its client key',
  permission: 'manageSDKConnections',
  body: z.strictObject(changeable),
  response: answer,
});

export const getSdkConnection = operation({
  id: 'getSdkConnection',
  method: 'GET',
  path: '/v1/sdk-connections/{id}',
  tag: 'sdk-connections',
  summary: 'Get one SDK connection',
  permission: 'readData',
  params: idParams,
  response: answer,
  errors: [404],
});

export const putSdkConnection = operation({
  id: 'putSdkConnection',
  method: 'PUT',
  path: '/v1/sdk-connections/{id}',
  tag: 'sdk-connections',
  summary: 'Change an SDK connection; what is left out stays',
  permission: 'manageSDKConnections',
  params: idParams,
  body: z.strictObject(changeable).partial(),
  response: answer,
  errors: [404, 409],
});

export const deleteSdkConnection = operation({
  id: 'deleteSdkConnection',
  method: 'DELETE',
  path: '/v1/sdk-connections/{id}',
  tag: 'sdk-connections',
  summary: 'Delete an SDK connection; its client key stops working at once',
  permission: 'manageSDKConnections',
  params: idParams,
  response: deletedResponse,
  errors: [404, 409],
});

export const lookupSdkConnectionByKey = operation({
  id: 'lookupSdkConnectionByKey',
  method: 'GET',
  path: '/v1/sdk-connections/lookup/{key}',
  tag: 'sdk-connections',
  summary: 'Find the SDK connection of a client key',
  permission: 'readData',
  params: keyParams,
  response: answer,
  errors: [404],
});

export const getSdkPayload = operation({
  id: 'getSdkPayload',
  method: 'GET',
  path: '/v1/sdk-payload/{key}',
  summary: 'Get the payload of an SDK connection, also where it is set to remote evaluation',
  description: 'For proxies and edge workers. The shape is that of `GET /api/features/{clientKey}`.',
  permission: 'readData',
  params: keyParams,
  response: z.looseObject({}),
  errors: [404, 503],
});

export const getSdkPayloadForEvaluation = operation({
  id: 'getSdkPayloadForEvaluation',
  method: 'GET',
  path: '/v1/sdk-payload/{key}/evaluation',
  summary: 'Get what values of an SDK connection are evaluated from: the plain payload with unhashed operands',
  description:
    'For edges, which evaluate on behalf of SDKs. Never encrypted, and the operands of secure attributes stand as they were written.',
  permission: 'readData',
  params: keyParams,
  response: z.looseObject({}),
  errors: [404, 503],
});
