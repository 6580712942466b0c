import { z } from 'zod';
import { deletedResponse, idParams, timestamp } from './common.ts';
import { operation } from './operation.ts';
import { deliveryFields, webhookHeaders, webhookUrl } from './webhook-deliveries.ts';

export const sdkWebhookMethod = z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PURGE', 'PATCH']);

/** What is sent: `standard` and its sibling are messages about the change, the others hold the payload for a store. */
export const sdkWebhookFormat = z.enum([
  'standard',
  'standard-no-payload',
  'sdkPayload',
  'edgeConfig',
  'edgeConfigUnescaped',
  'vercelNativeIntegration',
  'none',
]);

const fields = {
  name: z.string().trim().min(2, 'must have at least 2 characters').max(256),
  endpoint: webhookUrl,
  /** Ids of the SDK connections whose changes are told. */
  sdks: z.array(z.string()).min(1).max(50),
  httpMethod: sdkWebhookMethod,
  payloadFormat: sdkWebhookFormat,
  /** The key under which stores keep the payload. */
  payloadKey: z.string().min(1).max(256),
  headers: webhookHeaders,
  disabled: z.boolean(),
};

export const sdkWebhook = z
  .strictObject({
    id: z.string(),
    ...fields,
    /** Like `signingKey`, only for callers who may manage the webhook. */
    headers: webhookHeaders.optional(),
    signingKey: z.string().optional(),
    lastSuccess: timestamp.nullable(),
    /** Why the last attempt failed; empty: it did not. */
    error: z.string(),
    consecutiveFailures: z.int(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
  })
  .meta({ id: 'SdkWebhook' });
export type SdkWebhook = z.output<typeof sdkWebhook>;

export const sdkWebhookDelivery = z
  .strictObject({
    ...deliveryFields,
    /** Id of the SDK connection that it was about. */
    sdk: z.string(),
  })
  .meta({ id: 'SdkWebhookDelivery' });
export type SdkWebhookDelivery = z.output<typeof sdkWebhookDelivery>;

const changeable = z.strictObject(fields).partial();
const answer = z.strictObject({ sdkWebhook });
const webhookParams = z.strictObject({ id: z.string(), webhookId: z.string() });
const path = '/v1/sdk-connections/{id}/webhooks';

export const listSdkWebhooks = operation({
  id: 'listSdkWebhooks',
  method: 'GET',
  path,
  tag: 'sdk-webhooks',
  summary: 'List the webhooks of an SDK connection, oldest first',
  permission: ['readData', 'manageSDKWebhooks'],
  params: idParams,
  response: z.strictObject({ sdkWebhooks: z.array(sdkWebhook) }),
  errors: [404],
});

export const postSdkWebhook = operation({
  id: 'postSdkWebhook',
  method: 'POST',
  path,
  tag: 'sdk-webhooks',
  summary: 'Create a webhook that is told when the payload of an SDK connection has changed',
  description:
    '`sdks` may name further connections; without it there is the one of the path. `{{ NAME }}` in `endpoint` and `headers` is ' +
    'replaced by the webhook secret of that name.',
  permission: 'manageSDKWebhooks',
  params: idParams,
  body: changeable.required({ name: true, endpoint: true }),
  response: answer,
  errors: [404],
});

export const getSdkWebhook = operation({
  id: 'getSdkWebhook',
  method: 'GET',
  path: `${path}/{webhookId}`,
  tag: 'sdk-webhooks',
  summary: 'Get one webhook of an SDK connection',
  permission: ['readData', 'manageSDKWebhooks'],
  params: webhookParams,
  response: answer,
  errors: [404],
});

export const putSdkWebhook = operation({
  id: 'putSdkWebhook',
  method: 'PUT',
  path: `${path}/{webhookId}`,
  tag: 'sdk-webhooks',
  summary: 'Change a webhook of SDK connections; what is left out stays',
  description: 'Switching a disabled webhook on again forgets its failures.',
  permission: 'manageSDKWebhooks',
  params: webhookParams,
  body: changeable,
  response: answer,
  errors: [404],
});

export const deleteSdkWebhook = operation({
  id: 'deleteSdkWebhook',
  method: 'DELETE',
  path: `${path}/{webhookId}`,
  tag: 'sdk-webhooks',
  summary: 'Delete a webhook of SDK connections; what waits for it is not sent any more',
  permission: 'manageSDKWebhooks',
  params: webhookParams,
  response: deletedResponse,
  errors: [404],
});

export const testSdkWebhook = operation({
  id: 'testSdkWebhook',
  method: 'POST',
  path: `${path}/{webhookId}/test`,
  tag: 'sdk-webhooks',
  summary: 'Send the payloads as they are now to a webhook, once, also when it is disabled',
  permission: 'manageSDKWebhooks',
  params: webhookParams,
  response: z.strictObject({ queued: z.literal(true) }),
  errors: [404],
});

export const listSdkWebhookDeliveries = operation({
  id: 'listSdkWebhookDeliveries',
  method: 'GET',
  path: `${path}/{webhookId}/deliveries`,
  tag: 'sdk-webhooks',
  summary: 'List the last 50 attempts to reach a webhook, newest first',
  permission: 'manageSDKWebhooks',
  params: webhookParams,
  response: z.strictObject({ deliveries: z.array(sdkWebhookDelivery) }),
  errors: [404],
});
