import { z } from 'zod';
import { deletedResponse, description, idParams, timestamp } from './common.ts';
import { operation } from './operation.ts';

const fields = {
  /** The name that placeholders use. */
  key: z
    .string()
    .max(256)
    .regex(/^[A-Z0-9_]+$/, 'may hold capital letters, digits and underscores only'),
  description,
  /** Where the value may be sent to, such as `https://example.com`; none: anywhere. */
  allowedOrigins: z.array(z.string().max(2048)).max(100),
};

/** The value is never shown. */
export const webhookSecret = z
  .strictObject({ id: z.string(), ...fields, dateCreated: timestamp, dateUpdated: timestamp })
  .meta({ id: 'WebhookSecret' });
export type WebhookSecret = z.output<typeof webhookSecret>;

const changeable = z
  .strictObject({
    ...fields,
    value: z
      .string()
      .min(1, 'must not be empty')
      .max(4096)
      .regex(/^[\t\x20-\x7e]*$/, 'may hold printable ASCII characters only'),
  })
  .partial();
const answer = z.strictObject({ webhookSecret });
const path = '/v1/webhook-secrets';

export const listWebhookSecrets = operation({
  id: 'listWebhookSecrets',
  method: 'GET',
  path,
  tag: 'webhook-secrets',
  summary: 'List the webhook secrets, oldest first, without their values',
  permission: 'manageEventWebhooks',
  response: z.strictObject({ webhookSecrets: z.array(webhookSecret) }),
});

export const postWebhookSecret = operation({
  id: 'postWebhookSecret',
  method: 'POST',
  path,
  tag: 'webhook-secrets',
  summary: 'Create a webhook secret, for use as {{ KEY }} in addresses and headers of webhooks',
  permission: 'manageEventWebhooks',
  body: changeable.required({ key: true, value: true }),
  response: answer,
});

export const getWebhookSecret = operation({
  id: 'getWebhookSecret',
  method: 'GET',
  path: `${path}/{id}`,
  tag: 'webhook-secrets',
  summary: 'Get one webhook secret, without its value',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: answer,
  errors: [404],
});

export const putWebhookSecret = operation({
  id: 'putWebhookSecret',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'webhook-secrets',
  summary: 'Change a webhook secret; what is left out stays',
  permission: 'manageEventWebhooks',
  params: idParams,
  body: changeable,
  response: answer,
  errors: [404],
});

export const deleteWebhookSecret = operation({
  id: 'deleteWebhookSecret',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'webhook-secrets',
  summary: 'Delete a webhook secret; placeholders of its name are sent as they are written from then on',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: deletedResponse,
  errors: [404],
});
