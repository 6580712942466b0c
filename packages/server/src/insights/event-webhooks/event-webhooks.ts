import { randomBytes, randomUUID } from 'node:crypto';
import type { BodyOf, EventWebhook, EventWebhookLog, postEventWebhook, putEventWebhook } from '@halyard/contract';
import { attemptsOf, forgetAttempts, lastRuns, showAttempt, type WebhookCalls } from '../../delivery/index.ts';
import { requireEnvironments, requireProjects } from '../../organization/index.ts';
import type { Db, SecretTexts } from '../../platform/index.ts';
import type { Recorder } from '../../record/index.ts';
import { demand, type Requester } from '../../requester/index.ts';
import { type PlainKit, sent } from '../../resources/index.ts';
import {
  type EventWebhookState,
  eventWebhookKind,
  eventWebhookResource,
  showEventWebhook,
  signingKeyPlace,
} from './event-webhook.ts';
import { testEvent } from './matching.ts';

export interface EventWebhookService {
  list(requester: Requester): Promise<EventWebhook[]>;
  get(requester: Requester, id: string): Promise<EventWebhook>;
  create(requester: Requester, input: BodyOf<typeof postEventWebhook>): Promise<EventWebhook>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putEventWebhook>): Promise<EventWebhook>;
  delete(requester: Requester, id: string): Promise<void>;
  logs(requester: Requester, id: string): Promise<EventWebhookLog[]>;
  /** Makes the event that tries a webhook out. */
  test(requester: Requester, id: string): Promise<void>;
}

export interface EventWebhookTools {
  readonly db: Db;
  readonly recorder: Recorder;
  readonly texts: SecretTexts;
  readonly calls: WebhookCalls;
}

const standard = { projects: [], tags: [], environments: [], method: 'POST', headers: {} } as const;

export function eventWebhookService(kit: PlainKit, tools: EventWebhookTools): EventWebhookService {
  const { db, recorder, texts, calls } = tools;
  const webhooks = kit<EventWebhookState>({
    ...eventWebhookResource,
    kind: eventWebhookKind,
    async also(tx, organization, id, _before, after) {
      if (after === null) await forgetAttempts(tx, organization, id);
    },
  });
  const demandManaging = (requester: Requester) => demand(requester, 'manageEventWebhooks', { projects: [] });

  const find = async (requester: Requester, id: string) => {
    const webhook = await webhooks.find(requester.organization, id);
    demandManaging(requester);
    return webhook;
  };
  const shown = async (
    requester: Requester,
    some: readonly Awaited<ReturnType<typeof find>>[],
  ): Promise<EventWebhook[]> => {
    const { organization } = requester;
    const runs = await lastRuns(db, organization);
    return some.map((webhook) => {
      const key = texts.decrypt(webhook.state.signingKey, signingKeyPlace(organization, webhook.id));
      return showEventWebhook(webhook, runs.get(webhook.id), key);
    });
  };
  const shownOne = async (requester: Requester, webhook: Awaited<ReturnType<typeof find>>): Promise<EventWebhook> => {
    const [one] = await shown(requester, [webhook]);
    if (one === undefined) throw new Error('One webhook is shown as one.');
    return one;
  };

  return {
    async list(requester) {
      demandManaging(requester);
      return shown(requester, await webhooks.all(requester.organization));
    },

    get: async (requester, id) => shownOne(requester, await find(requester, id)),

    async create(requester, input) {
      demandManaging(requester);
      const { organization } = requester;
      const fields = { ...standard, ...sent(input) };
      check(fields, null, requester, calls);
      const webhook = await webhooks.create(requester, () => {
        const id = `ewh-${randomUUID()}`;
        const signingKey = texts.encrypt(`ewhk_${randomBytes(16).toString('hex')}`, signingKeyPlace(organization, id));
        return { id, state: { ...fields, signingKey } };
      });
      return shownOne(requester, webhook);
    },

    async update(requester, wanted, patch) {
      const webhook = await webhooks.change(requester, wanted, ({ state }) => {
        demandManaging(requester);
        const changed = { ...state, ...sent(patch) };
        check(changed, state, requester, calls);
        return changed;
      });
      return shownOne(requester, webhook);
    },

    delete: (requester, id) => webhooks.remove(requester, id, () => demandManaging(requester)),

    async logs(requester, id) {
      await find(requester, id);
      const attempts = await attemptsOf(db, requester.organization, id);
      return attempts.map((attempt) => ({
        ...showAttempt(attempt),
        event: attempt.subject,
        payload: JSON.parse(attempt.payload ?? 'null') as unknown,
      }));
    },

    async test(requester, id) {
      await find(requester, id);
      const { organization, actor } = requester;
      const draft = { event: testEvent, object: 'webhook', objectId: id, data: { object: { webhookId: id } } };
      const nowhere = { projects: [], tags: [], environments: [] };
      await recorder.write(organization, actor, async () => ({
        audit: [],
        events: [{ ...draft, ...nowhere }],
        result: null,
      }));
    },
  };
}

type Judged = Omit<EventWebhookState, 'signingKey'>;

/** @throws Refusal (invalid) where it names what does not exist, unless it did so before; or cannot be sent to */
function check(after: Judged, before: Judged | null, requester: Requester, calls: WebhookCalls): void {
  const { states } = requester;
  requireProjects(requester, states, after.projects, before?.projects);
  requireEnvironments(states, after.environments, before?.environments);
  calls.check('url', { url: after.url, headers: after.headers });
}
