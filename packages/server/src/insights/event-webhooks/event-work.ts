import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { logAttempts, type WebhookCalls } from '../../delivery/index.ts';
import {
  type Clock,
  type Db,
  type Job,
  type NewId,
  oneAtATime,
  type SecretTexts,
  type WorkItem,
  type WorkKind,
  type WorkQueue,
} from '../../platform/index.ts';
import { type EventPayload, type Plain, plainObjects } from '../../record/index.ts';
import { type EventWebhookState, eventWebhookKind, signingKeyPlace } from './event-webhook.ts';
import { isTold, type RoutedEvent, testEvent } from './matching.ts';
import { renderEvent } from './rendering.ts';

/** Which webhook is to be told of which event. */
export interface EventWork {
  readonly event: string;
  readonly webhook: string;
}

const queue = 'event-webhook';
const eventsAtOnce = 100;
const retryAfter = [30_000, 300_000, 300_000];
const userAgent = 'Halyard';

/**
 * Arranges for each event in the outbox that the webhooks which want to hear of it are told. An event leaves the outbox in
 * the transaction that arranges it, so each is arranged for once, whoever does it and whatever ends meanwhile.
 */
export function eventDispatch({ db, work }: { db: Db; work: WorkQueue }): Job {
  const dispatchSome = (): Promise<number> =>
    db.transaction().execute(async (tx) => {
      const { rows: events } = await sql<RoutedEvent & { id: string; organization: string }>`
        with taken as (
          delete from outbox where position in (
            select position from outbox order by position limit ${eventsAtOnce} for update skip locked
          ) returning position, event
        )
        select e.id, e.organization, e.event, e.object_id as "objectId", e.data->'projects' as projects,
               e.data->'tags' as tags, e.data->'environments' as environments
        from taken join event e on e.id = taken.event order by taken.position`.execute(tx);
      const webhooks = new Map<string, Plain<EventWebhookState>[]>();
      const items: WorkItem<EventWork>[] = [];
      for (const event of events) {
        const { organization } = event;
        const known = webhooks.get(organization) ?? (await plainObjects(tx, eventWebhookKind, organization).all());
        webhooks.set(organization, known);
        for (const { id } of known.filter((webhook) => isTold({ id: webhook.id, ...webhook.state }, event))) {
          items.push({ organization, key: `${event.id} ${id}`, lane: id, data: { event: event.id, webhook: id } });
        }
      }
      await work.add(tx, queue, items);
      return events.length;
    });

  const dispatch = oneAtATime(async () => {
    while ((await dispatchSome()) === eventsAtOnce);
  });
  return {
    name: 'event-dispatch',
    async run() {
      await dispatch();
      return null;
    },
  };
}

/** Tells webhooks of events, with retries. */
export function eventWebhookWork(tools: {
  db: Db;
  clock: Clock;
  newId: NewId;
  texts: SecretTexts;
  calls: WebhookCalls;
}): WorkKind<EventWork> {
  const { db, clock, newId, texts, calls } = tools;
  return {
    queue,
    retryAfter,
    async attempt({ organization, data }) {
      const webhook = await plainObjects(db, eventWebhookKind, organization).find(data.webhook);
      const event = await db
        .selectFrom('event')
        .select(['event', 'object_id', 'data'])
        .where('organization', '=', organization)
        .where('id', '=', data.event)
        .executeTakeFirst();
      const wanted = webhook !== null && event !== undefined && (webhook.state.enabled || event.event === testEvent);
      if (!wanted) return { succeeded: true };
      const { url, method, headers, payloadType, signingKey } = webhook.state;
      const body = renderEvent(payloadType, { objectId: event.object_id, payload: event.data as EventPayload });
      if (body === null) return { succeeded: true };

      const at = clock.now();
      const key = texts.decrypt(signingKey, signingKeyPlace(organization, data.webhook));
      const own = {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'x-service-event-id': data.event,
        'x-service-signature': eventSignature(key, body),
      };
      const result = await calls.call({ organization, url, method, headers, own, body });
      const attempt = { id: newId('ewhl-'), subject: event.event, url, method, result, payload: body, at };
      return {
        succeeded: result.succeeded,
        async record(tx) {
          const webhooks = plainObjects(tx, eventWebhookKind, organization);
          await webhooks.lock();
          // One that was deleted while it was called leaves nothing behind.
          if ((await webhooks.find(data.webhook)) === null) return;
          await logAttempts(tx, organization, data.webhook, [attempt]);
        },
      };
    },
  };
}

/** What receivers compare with the header `X-Service-Signature`. */
export const eventSignature = (signingKey: string, body: string): string =>
  createHmac('sha256', signingKey).update(body).digest('hex');
