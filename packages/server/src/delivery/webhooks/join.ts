import type { Route } from '../../http/index.ts';
import type { Clock, Db, Job, Log, NewId, Outgoing, SecretTexts, Settings, WorkQueue } from '../../platform/index.ts';
import type { LiveStates } from '../../record/index.ts';
import type { PlainKit } from '../../resources/index.ts';
import type { ConnectionService } from '../connections.ts';
import type { Delivery } from '../delivery.ts';
import { proxyChecks, proxyWork } from '../proxies/proxy-work.ts';
import { deliveryRoutes } from '../routes.ts';
import { currentPayloads } from './current-payloads.ts';
import type { PayloadListeners } from './listeners.ts';
import { webhookRoutes } from './routes.ts';
import { sdkWebhookWork } from './sdk-webhook-work.ts';
import { sdkWebhookService } from './sdk-webhooks.ts';
import { serverWebhookWork } from './server-webhook-work.ts';
import { type WebhookCalls, webhookCalls } from './webhook-calls.ts';
import { webhookSecrets } from './webhook-secrets.ts';

interface DeliveryWebhooks {
  readonly routes: readonly Route[];
  readonly jobs: readonly Job[];
  /** How webhooks are called, for those of others as well. */
  readonly calls: WebhookCalls;
}

/** Joins all that is told of changed payloads: webhooks of connections and of the installation, proxies. */
export function deliveryWebhooks(tools: {
  db: Db;
  clock: Clock;
  log: Log;
  newId: NewId;
  live: LiveStates;
  texts: SecretTexts;
  work: WorkQueue;
  outgoing: Outgoing;
  kit: PlainKit;
  delivery: Delivery;
  listeners: PayloadListeners;
  connections: ConnectionService;
  settings: Settings;
}): DeliveryWebhooks {
  const { kit, work, delivery, connections, settings } = tools;
  const payloads = currentPayloads(tools);
  const secrets = webhookSecrets(kit, tools);
  const calls = webhookCalls({ ...tools, secrets });
  const webhooks = sdkWebhookService(kit, {
    ...tools,
    calls,
    findConnection: (requester, id) => connections.find(requester, id),
    settle: async ({ state }) => delivery.find(state.key)?.refresh(),
  });
  const kinds = [
    tools.listeners.work(),
    ...sdkWebhookWork({ ...tools, calls, payloads }),
    ...proxyWork({ ...tools, payloads, hosted: settings.HOSTED }),
  ];
  for (const kind of kinds) work.serve(kind);
  work.serve(serverWebhookWork({ ...tools, payloads, webhooks: settings.WEBHOOKS }));
  const checks = proxyChecks(tools);
  return {
    routes: [...deliveryRoutes(connections, delivery, checks), ...webhookRoutes(webhooks, secrets)],
    jobs: [checks.job],
    calls,
  };
}
