import {
  deleteSdkWebhook,
  deleteWebhookSecret,
  getSdkWebhook,
  getWebhookSecret,
  listSdkWebhookDeliveries,
  listSdkWebhooks,
  listWebhookSecrets,
  postSdkWebhook,
  postWebhookSecret,
  putSdkWebhook,
  putWebhookSecret,
  testSdkWebhook,
} from '@halyard/contract';
import { bind, type Route } from '../../http/index.ts';
import type { SdkWebhookService } from './sdk-webhooks.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

export function webhookRoutes(webhooks: SdkWebhookService, secrets: WebhookSecrets): Route[] {
  return [
    bind(listSdkWebhooks, async (call) => ({ sdkWebhooks: await webhooks.list(call.requester, call.params.id) })),
    bind(postSdkWebhook, async (call) => ({
      sdkWebhook: await webhooks.create(call.requester, call.params.id, call.body),
    })),
    bind(getSdkWebhook, async (call) => ({ sdkWebhook: await webhooks.get(call.requester, call.params) })),
    bind(putSdkWebhook, async (call) => ({
      sdkWebhook: await webhooks.update(call.requester, call.params, call.body),
    })),
    bind(deleteSdkWebhook, async (call) => {
      await webhooks.delete(call.requester, call.params);
      return { deletedId: call.params.webhookId };
    }),
    bind(testSdkWebhook, async (call) => {
      await webhooks.test(call.requester, call.params);
      return { queued: true as const };
    }),
    bind(listSdkWebhookDeliveries, async (call) => ({
      deliveries: await webhooks.deliveries(call.requester, call.params),
    })),

    bind(listWebhookSecrets, async (call) => ({ webhookSecrets: await secrets.list(call.requester) })),
    bind(postWebhookSecret, async (call) => ({ webhookSecret: await secrets.create(call.requester, call.body) })),
    bind(getWebhookSecret, async (call) => ({ webhookSecret: await secrets.get(call.requester, call.params.id) })),
    bind(putWebhookSecret, async (call) => ({
      webhookSecret: await secrets.update(call.requester, call.params.id, call.body),
    })),
    bind(deleteWebhookSecret, async (call) => {
      await secrets.delete(call.requester, call.params.id);
      return { deletedId: call.params.id };
    }),
  ];
}
