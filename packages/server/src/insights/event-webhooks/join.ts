import type { WebhookCalls } from '../../delivery/index.ts';
import type { Route } from '../../http/index.ts';
import type { Clock, Db, Job, NewId, SecretTexts, WorkQueue } from '../../platform/index.ts';
import type { Recorder } from '../../record/index.ts';
import type { PlainKit } from '../../resources/index.ts';
import { insightRoutes } from '../routes.ts';
import { eventWebhookService } from './event-webhooks.ts';
import { eventDispatch, eventWebhookWork } from './event-work.ts';

interface EventWebhooks {
  readonly routes: readonly Route[];
  /** Arranges that events are told; to be run whenever there may be new ones. */
  readonly dispatch: Job;
}

/** Joins the parts of event webhooks: how they are managed, what they are told, and telling them. */
export function eventWebhooks(tools: {
  db: Db;
  clock: Clock;
  newId: NewId;
  recorder: Recorder;
  work: WorkQueue;
  texts: SecretTexts;
  calls: WebhookCalls;
  kit: PlainKit;
}): EventWebhooks {
  tools.work.serve(eventWebhookWork(tools));
  return { routes: insightRoutes(eventWebhookService(tools.kit, tools)), dispatch: eventDispatch(tools) };
}
