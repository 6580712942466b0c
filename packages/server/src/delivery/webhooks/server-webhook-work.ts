import type { Clock, Log, Outgoing, ServerWebhook, WorkItem, WorkKind } from '../../platform/index.ts';
import type { CurrentPayloads } from './current-payloads.ts';
import { payloadMessage } from './message.ts';
import { joined, resultOf } from './webhook-calls.ts';

/** Which webhook of the setting is to be told of which connection. */
export interface ServerWebhookData {
  readonly position: number;
  readonly connection: string;
}

export const serverWebhookQueue = 'server-webhook';

/** The work of telling every webhook of the setting that the payload of a connection has changed. */
export const serverWebhookItems = (
  webhooks: readonly ServerWebhook[],
  organization: string,
  connection: string,
): WorkItem<ServerWebhookData>[] =>
  webhooks.map((_, position) => {
    const key = `${position} ${connection}`;
    return { organization, key, lane: key, data: { position, connection } };
  });

/** Tells the webhooks of the installation, which the operator has set: their addresses may be private. There is no retry. */
export function serverWebhookWork(tools: {
  webhooks: readonly ServerWebhook[];
  outgoing: Outgoing;
  payloads: CurrentPayloads;
  clock: Clock;
  log: Log;
}): WorkKind<ServerWebhookData> {
  const { webhooks, outgoing, payloads, clock, log } = tools;
  return {
    queue: serverWebhookQueue,
    retryAfter: [],
    async attempt({ organization, data: { position, connection } }) {
      const webhook = webhooks[position];
      const about = webhook === undefined ? null : await payloads.of(organization, connection);
      if (webhook === undefined || about === null) return { succeeded: true };
      const { url, method } = webhook;
      const { headers, ...body } = payloadMessage(webhook, about, clock.now());
      const sent = { url, method, headers: joined(webhook.headers, headers), ...body, trusted: true };
      const { succeeded, status, text } = resultOf(await outgoing.send(sent));
      if (!succeeded) {
        log.warn({ webhook: position, connection, status, answer: text }, 'A webhook of the setting WEBHOOKS failed');
      }
      return { succeeded };
    },
  };
}
