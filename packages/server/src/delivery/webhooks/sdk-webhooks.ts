import { randomBytes } from 'node:crypto';
import type {
  BodyOf,
  getSdkWebhook,
  ParamsOf,
  postSdkWebhook,
  putSdkWebhook,
  SdkWebhook,
  SdkWebhookDelivery,
} from '@halyard/contract';
import {
  announce,
  type Db,
  invalid,
  type NewId,
  notFound,
  quotedList,
  type SecretTexts,
  type WorkQueue,
} from '../../platform/index.ts';
import { type PublicationPart, plainObjects, type StateReader, writeAudit } from '../../record/index.ts';
import { demand, type Requester } from '../../requester/index.ts';
import { auditEntry, type PlainKit, sent } from '../../resources/index.ts';
import { connectionKind, type LiveConnection } from '../connection.ts';
import {
  type SdkWebhookState,
  type StoredSdkWebhook,
  sdkWebhookKind,
  sdkWebhookResource,
  sdkWebhookTestQueue,
  showSdkWebhook,
  signingKeyPlace,
} from './sdk-webhook.ts';
import type { WebhookCalls } from './webhook-calls.ts';
import { attemptsOf, countFailures, forgetAttempts, lastRuns, showAttempt } from './webhook-history.ts';

/** Names a webhook by one of its connections. */
type Named = ParamsOf<typeof getSdkWebhook>;

export interface SdkWebhookService {
  list(requester: Requester, connection: string): Promise<SdkWebhook[]>;
  get(requester: Requester, named: Named): Promise<SdkWebhook>;
  create(requester: Requester, connection: string, input: BodyOf<typeof postSdkWebhook>): Promise<SdkWebhook>;
  update(requester: Requester, named: Named, patch: BodyOf<typeof putSdkWebhook>): Promise<SdkWebhook>;
  delete(requester: Requester, named: Named): Promise<void>;
  /** Arranges that it is called once with the payloads as they are. */
  test(requester: Requester, named: Named): Promise<void>;
  deliveries(requester: Requester, named: Named): Promise<SdkWebhookDelivery[]>;
}

export interface SdkWebhookTools {
  readonly db: Db;
  readonly newId: NewId;
  readonly texts: SecretTexts;
  readonly work: WorkQueue;
  readonly calls: WebhookCalls;
  /** @throws Refusal (notFound) when the caller sees no such connection */
  readonly findConnection: (requester: Requester, id: string) => LiveConnection;
  /** Settles the payload of a connection as it is, so that from then on every change of it is told. */
  readonly settle: (connection: LiveConnection) => Promise<void>;
}

const standard = {
  httpMethod: 'POST',
  payloadFormat: 'standard',
  payloadKey: 'sdk_payload',
  headers: {},
  disabled: false,
} as const;

export function sdkWebhookService(kit: PlainKit, tools: SdkWebhookTools): SdkWebhookService {
  const { db, newId, texts, work, calls, findConnection, settle } = tools;
  const webhooks = kit<SdkWebhookState>({
    ...sdkWebhookResource,
    kind: sdkWebhookKind,
    async also(tx, organization, id, before, after) {
      await announce(tx, { topic: 'listeners', organization });
      if (after === null) await forgetAttempts(tx, organization, id);
      else if (before?.disabled === true && !after.disabled) await countFailures(tx, organization, id, false);
    },
  });

  const show = (
    requester: Requester,
    webhook: StoredSdkWebhook,
    runs: Awaited<ReturnType<typeof lastRuns>>,
  ): SdkWebhook => {
    const { organization, states } = requester;
    const manages = scopesOf(webhook.state, states).every((scope) => requester.may('manageSDKWebhooks', scope));
    const key = manages ? texts.decrypt(webhook.state.signingKey, signingKeyPlace(organization, webhook.id)) : null;
    return showSdkWebhook(webhook, runs.get(webhook.id), key);
  };

  /** @throws Refusal (notFound) when the connection has no such webhook, or the caller does not see the connection */
  const find = async (requester: Requester, { id, webhookId }: Named): Promise<StoredSdkWebhook> => {
    findConnection(requester, id);
    const webhook = await webhooks.find(requester.organization, webhookId);
    requireListed(webhook.state, id, webhookId);
    return webhook;
  };

  const settleAll = async (requester: Requester, sdks: readonly string[]): Promise<void> => {
    const { states } = requester;
    const connections = sdks.map((id) => states.get(connectionKind, id)).filter((live) => live !== null);
    await Promise.all(connections.map(settle));
  };

  return {
    async list(requester, connection) {
      findConnection(requester, connection);
      const { organization } = requester;
      const [all, runs] = [await webhooks.all(organization), await lastRuns(db, organization)];
      return all
        .filter(({ state }) => state.sdks.includes(connection))
        .map((webhook) => show(requester, webhook, runs));
    },

    async get(requester, named) {
      const webhook = await find(requester, named);
      return show(requester, webhook, await lastRuns(db, requester.organization));
    },

    async create(requester, connection, input) {
      const { organization } = requester;
      findConnection(requester, connection);
      demandAll(requester, { sdks: [connection] });
      const fields = { ...standard, sdks: [connection], ...sent(input) };
      checkSdks(requester, fields.sdks, [], findConnection);
      requireOwn(fields.sdks, connection);
      demandAll(requester, fields);
      calls.check('endpoint', { url: fields.endpoint, headers: fields.headers });
      await settleAll(requester, fields.sdks);
      const signingKey = `wk_${randomBytes(16).toString('hex')}`;
      const webhook = await webhooks.create(requester, () => {
        const id = newId('wh_');
        return { id, state: { ...fields, signingKey: texts.encrypt(signingKey, signingKeyPlace(organization, id)) } };
      });
      return show(requester, webhook, new Map());
    },

    async update(requester, named, patch) {
      await find(requester, named);
      await settleAll(requester, patch.sdks ?? []);
      const webhook = await webhooks.change(requester, named.webhookId, ({ state }) => {
        demandAll(requester, state);
        const changed = { ...state, ...sent(patch) };
        checkSdks(requester, changed.sdks, state.sdks, findConnection);
        requireOwn(changed.sdks, named.id);
        demandAll(requester, changed);
        calls.check('endpoint', { url: changed.endpoint, headers: changed.headers });
        return changed;
      });
      return show(requester, webhook, await lastRuns(db, requester.organization));
    },

    async delete(requester, named) {
      await find(requester, named);
      await webhooks.remove(requester, named.webhookId, ({ state }) => demandAll(requester, state));
    },

    async test(requester, named) {
      const { id, state } = await find(requester, named);
      demandAll(requester, state);
      const { organization } = requester;
      await db
        .transaction()
        .execute((tx) => work.add(tx, sdkWebhookTestQueue, [{ organization, key: id, lane: id, data: null }]));
    },

    async deliveries(requester, named) {
      const { id, state } = await find(requester, named);
      demandAll(requester, state);
      const attempts = await attemptsOf(db, requester.organization, id);
      return attempts.map((attempt) => ({ ...showAttempt(attempt), sdk: attempt.subject }));
    },
  };
}

/** The webhooks of a connection lose it when it is deleted; one that has no other goes with it. */
export function changesOnConnectionDeletion(
  connection: string,
  { organization, actor }: Requester,
  newId: NewId,
): PublicationPart {
  return {
    async also(tx, { instant }) {
      const webhooks = plainObjects(tx, sdkWebhookKind, organization);
      await webhooks.lock();
      for (const webhook of await webhooks.all()) {
        const { id, state } = webhook;
        if (!state.sdks.includes(connection)) continue;
        const sdks = state.sdks.filter((other) => other !== connection);
        const left = sdks.length === 0 ? null : { ...state, sdks };
        if (left === null) {
          await webhooks.remove(id);
          await forgetAttempts(tx, organization, id);
        } else {
          await webhooks.put({ ...webhook, state: left, dateUpdated: instant });
        }
        const entry = auditEntry(sdkWebhookResource, left === null ? 'delete' : 'update', id, state, left);
        await writeAudit(tx, newId, organization, actor, instant, [entry]);
      }
      await announce(tx, { topic: 'listeners', organization });
    },
  };
}

function requireListed(state: SdkWebhookState, connection: string, webhook: string): void {
  if (!state.sdks.includes(connection)) throw notFound(sdkWebhookKind.label, webhook);
}

function requireOwn(sdks: readonly string[], connection: string): void {
  if (!sdks.includes(connection))
    throw invalid('sdks must hold the SDK connection of the path; others may stand beside it.');
}

/** Those that are named anew must be connections that the caller sees. */
function checkSdks(
  requester: Requester,
  sdks: readonly string[],
  before: readonly string[],
  findConnection: SdkWebhookTools['findConnection'],
): void {
  const isKnown = (id: string): boolean => {
    try {
      findConnection(requester, id);
      return true;
    } catch {
      return false;
    }
  };
  const unknown = sdks.filter((id) => !before.includes(id) && !isKnown(id));
  if (unknown.length > 0)
    throw invalid(
      `Unknown SDK connection in sdks: ${quotedList(unknown)}. Use the ids that GET /v1/sdk-connections lists.`,
    );
  if (new Set(sdks).size < sdks.length) throw invalid('sdks names an SDK connection twice.');
}

/** Where managing a webhook must be allowed: for each of its connections. */
const scopesOf = ({ sdks }: Pick<SdkWebhookState, 'sdks'>, states: StateReader) =>
  sdks
    .map((id) => states.get(connectionKind, id))
    .filter((live) => live !== null)
    .map(({ state }) => ({ projects: state.projects, environments: [state.environment] }));

function demandAll(requester: Requester, webhook: Pick<SdkWebhookState, 'sdks'>): void {
  for (const scope of scopesOf(webhook, requester.states)) demand(requester, 'manageSDKWebhooks', scope);
}
