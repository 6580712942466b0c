import {
  announce,
  type Clock,
  type Db,
  type NewId,
  type SecretTexts,
  type Tx,
  type WorkItem,
  type WorkKind,
} from '../../platform/index.ts';
import { type Actor, plainObjects, writeAudit } from '../../record/index.ts';
import type { CurrentPayloads } from './current-payloads.ts';
import { payloadMessage } from './message.ts';
import {
  type SdkWebhookState,
  type StoredSdkWebhook,
  sdkWebhookKind,
  sdkWebhookQueue,
  sdkWebhookTestQueue,
  signingKeyPlace,
} from './sdk-webhook.ts';
import type { WebhookCalls, WebhookResult } from './webhook-calls.ts';
import { countFailures, type LoggedAttempt, logAttempts } from './webhook-history.ts';

const retryAfter = [30_000, 300_000];
const mostFailures = 10;
const actor: Actor = { type: 'system', subtype: 'sdk-webhook' };

export interface SdkWebhookWorkTools {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly texts: SecretTexts;
  readonly calls: WebhookCalls;
  readonly payloads: CurrentPayloads;
}

/** Calls webhooks: after changes, with retries, and to try them out. */
export function sdkWebhookWork(tools: SdkWebhookWorkTools): WorkKind<null>[] {
  return [
    {
      queue: sdkWebhookQueue,
      retryAfter,
      async attempt(item) {
        const webhook = await plainObjects(tools.db, sdkWebhookKind, item.organization).find(item.key);
        if (webhook === null || webhook.state.disabled) return { succeeded: true };
        const attempts = await callAll(item, webhook, tools);
        const succeeded = attempts.every(({ result }) => result.succeeded);
        return {
          succeeded,
          async record(tx, final) {
            if (attempts.length === 0 || !(await stillThere(tx, item))) return;
            await logAttempts(tx, item.organization, item.key, attempts);
            if (!final) return;
            const failures = await countFailures(tx, item.organization, item.key, !succeeded);
            if (failures >= mostFailures) await disable(tx, item, tools);
          },
        };
      },
    },
    {
      queue: sdkWebhookTestQueue,
      retryAfter: [],
      async attempt(item) {
        const webhook = await plainObjects(tools.db, sdkWebhookKind, item.organization).find(item.key);
        if (webhook === null) return { succeeded: true };
        const attempts = await callAll(item, webhook, tools);
        return {
          succeeded: attempts.every(({ result }) => result.succeeded),
          async record(tx) {
            if (await stillThere(tx, item)) await logAttempts(tx, item.organization, item.key, attempts);
          },
        };
      },
    },
  ];
}

/** One request for each connection, one after the other; the first that fails ends it. */
async function callAll(
  { organization }: WorkItem<null>,
  { id, state }: StoredSdkWebhook,
  { clock, newId, texts, calls, payloads }: SdkWebhookWorkTools,
): Promise<LoggedAttempt[]> {
  const { endpoint: url, httpMethod: method, headers, payloadFormat, payloadKey } = state;
  const signingKey = texts.decrypt(state.signingKey, signingKeyPlace(organization, id));
  const attempts: LoggedAttempt[] = [];
  for (const sdk of state.sdks) {
    const about = await payloads.of(organization, sdk);
    if (about === null) continue;
    const at = clock.now();
    const { headers: own, ...body } = payloadMessage({ method, payloadFormat, payloadKey, signingKey }, about, at);
    const result = told(await calls.call({ organization, url, method, headers, own, ...body }));
    attempts.push({ id: newId('whl_'), subject: sdk, url, method, result, payload: null, at });
    if (!result.succeeded) break;
  }
  return attempts;
}

/** The text of an answer alone says too little of why it counts as a failure. */
const told = (result: WebhookResult): WebhookResult =>
  result.succeeded || result.status === null || result.text !== ''
    ? result
    : { ...result, text: `Status ${result.status}` };

/** A webhook that was deleted while it was called leaves nothing behind. From here on nobody changes it. */
async function stillThere(tx: Tx, { organization, key }: WorkItem<null>): Promise<boolean> {
  const webhooks = plainObjects(tx, sdkWebhookKind, organization);
  await webhooks.lock();
  return (await webhooks.find(key)) !== null;
}

async function disable(
  tx: Tx,
  { organization, key }: WorkItem<null>,
  { clock, newId }: SdkWebhookWorkTools,
): Promise<void> {
  const webhooks = plainObjects(tx, sdkWebhookKind, organization);
  const webhook = await webhooks.find(key);
  if (webhook === null || webhook.state.disabled) return;
  const state: SdkWebhookState = { ...webhook.state, disabled: true };
  const now = clock.now();
  await webhooks.put({ ...webhook, state, dateUpdated: now });
  await writeAudit(tx, newId, organization, actor, now, [
    {
      event: 'sdkWebhook.update',
      entity: { object: 'sdkWebhook', id: key, name: state.name },
      reason: `${mostFailures} deliveries in a row failed`,
      pre: { disabled: false },
      post: { disabled: true },
    },
  ]);
  await announce(tx, { topic: 'listeners', organization });
}
