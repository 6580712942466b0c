import {
  deleteEventWebhook,
  getEventWebhook,
  getEventWebhookLogs,
  listEventWebhooks,
  postEventWebhook,
  putEventWebhook,
  testEventWebhook,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { EventWebhookService } from './event-webhooks/event-webhooks.ts';

export function insightRoutes(webhooks: EventWebhookService): Route[] {
  return [
    bind(listEventWebhooks, async (call) => ({ eventWebhooks: await webhooks.list(call.requester) })),
    bind(postEventWebhook, async (call) => ({ eventWebhook: await webhooks.create(call.requester, call.body) })),
    bind(getEventWebhook, async (call) => ({ eventWebhook: await webhooks.get(call.requester, call.params.id) })),
    bind(putEventWebhook, async (call) => ({
      eventWebhook: await webhooks.update(call.requester, call.params.id, call.body),
    })),
    bind(deleteEventWebhook, async (call) => {
      await webhooks.delete(call.requester, call.params.id);
      return { deletedId: call.params.id };
    }),
    bind(getEventWebhookLogs, async (call) => ({ logs: await webhooks.logs(call.requester, call.params.id) })),
    bind(testEventWebhook, async (call) => {
      await webhooks.test(call.requester, call.params.id);
      return { queued: true as const };
    }),
  ];
}
