import { z } from 'zod';
import { deletedResponse, idParams, timestamp } from './common.ts';
import { eventNames, eventWildcard } from './events.ts';
import { operation } from './operation.ts';
import { deliveryFields, webhookHeaders, webhookUrl } from './webhook-deliveries.ts';

const known = new Set<string>(eventNames);

const subscription = z
  .string()
  .max(256)
  .refine(
    (name) => known.has(name) || eventWildcard.test(name),
    `must be the name of an event (${eventNames.join(', ')}) or a wildcard such as feature.*`,
  );

const fields = {
  name: z.string().trim().min(2, 'must have at least 2 characters').max(256),
  url: webhookUrl,
  enabled: z.boolean(),
  /** Names of events, and wildcards such as `feature.*`. */
  events: z.array(subscription).min(1, 'must name at least one event').max(200),
  /** Each filter lets all events through as long as it is empty. */
  projects: z.array(z.string()).max(1_000),
  tags: z.array(z.string()).max(1_000),
  environments: z.array(z.string()).max(1_000),
  payloadType: z.enum(['json', 'raw', 'slack', 'discord']),
  method: z.enum(['POST', 'PUT', 'PATCH']),
  headers: webhookHeaders,
};

export const eventWebhook = z
  .strictObject({
    id: z.string(),
    ...fields,
    signingKey: z.string(),
    lastRunAt: timestamp.nullable(),
    lastState: z.enum(['none', 'success', 'error']),
    lastResponseBody: z.string().nullable(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
  })
  .meta({ id: 'EventWebhook' });
export type EventWebhook = z.output<typeof eventWebhook>;

export const eventWebhookLog = z
  .strictObject({
    ...deliveryFields,
    /** Name of the event. */
    event: z.string(),
    /** What was sent. */
    payload: z.unknown(),
  })
  .meta({ id: 'EventWebhookLog' });
export type EventWebhookLog = z.output<typeof eventWebhookLog>;

const changeable = z.strictObject(fields).partial();
const answer = z.strictObject({ eventWebhook });
const path = '/v1/event-webhooks';

export const listEventWebhooks = operation({
  id: 'listEventWebhooks',
  method: 'GET',
  path,
  tag: 'event-webhooks',
  summary: 'List the event webhooks, oldest first',
  permission: 'manageEventWebhooks',
  response: z.strictObject({ eventWebhooks: z.array(eventWebhook) }),
});

export const postEventWebhook = operation({
  id: 'postEventWebhook',
  method: 'POST',
  path,
  tag: 'event-webhooks',
  summary: 'Create a webhook that is told of events',
  description:
    'An event is told when its name is among `events`, by name or wildcard, and when it lets itself be found in each of ' +
    '`projects`, `tags` and `environments` that is not empty. `{{ NAME }}` in `url` and `headers` is replaced by the webhook ' +
    'secret of that name.',
  permission: 'manageEventWebhooks',
  body: changeable.required({ name: true, url: true, enabled: true, events: true, payloadType: true }),
  response: answer,
});

export const getEventWebhook = operation({
  id: 'getEventWebhook',
  method: 'GET',
  path: `${path}/{id}`,
  tag: 'event-webhooks',
  summary: 'Get one event webhook',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: answer,
  errors: [404],
});

export const putEventWebhook = operation({
  id: 'putEventWebhook',
  method: 'PUT',
  path: `${path}/{id}`,
  tag: 'event-webhooks',
  summary: 'Change an event webhook; what is left out stays',
  permission: 'manageEventWebhooks',
  params: idParams,
  body: changeable,
  response: answer,
  errors: [404],
});

export const deleteEventWebhook = operation({
  id: 'deleteEventWebhook',
  method: 'DELETE',
  path: `${path}/{id}`,
  tag: 'event-webhooks',
  summary: 'Delete an event webhook; what waits for it is not sent any more',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: deletedResponse,
  errors: [404],
});

export const getEventWebhookLogs = operation({
  id: 'getEventWebhookLogs',
  method: 'GET',
  path: `${path}/{id}/logs`,
  tag: 'event-webhooks',
  summary: 'List the last 50 attempts to reach an event webhook, newest first',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: z.strictObject({ logs: z.array(eventWebhookLog) }),
  errors: [404],
});

export const testEventWebhook = operation({
  id: 'testEventWebhook',
  method: 'POST',
  path: `${path}/{id}/test`,
  tag: 'event-webhooks',
  summary: 'Send the event webhook.test to this webhook alone, whatever its filters say and also when it is disabled',
  permission: 'manageEventWebhooks',
  params: idParams,
  response: z.strictObject({ queued: z.literal(true) }),
  errors: [404],
});
