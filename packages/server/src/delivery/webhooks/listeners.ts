import { type RawBuilder, sql } from 'kysely';
import {
  type Db,
  oneAtATime,
  type ServerWebhook,
  type Tx,
  type WorkItem,
  type WorkKind,
  type WorkQueue,
} from '../../platform/index.ts';
import { type LiveStates, plainObjects, readerOf } from '../../record/index.ts';
import { connectionKind, type LiveConnection } from '../connection.ts';
import type { ChangedConnection } from '../payload/payload-changes.ts';
import { proxyItems, proxyPushQueue } from '../proxies/proxy-work.ts';
import { type SdkWebhookState, sdkWebhookKind, sdkWebhookQueue } from './sdk-webhook.ts';
import { serverWebhookItems, serverWebhookQueue } from './server-webhook-work.ts';

/** The key of its work is the connection. */
const changeQueue = 'payload-change';

/** Who is told of changed payloads: webhooks of connections, webhooks of the installation, and proxies. */
export class PayloadListeners {
  readonly #db: Db;
  readonly #live: LiveStates;
  readonly #work: WorkQueue;
  readonly #serverWebhooks: readonly ServerWebhook[];
  /** Connections with a webhook that is on. */
  #withWebhooks: ReadonlySet<string> = new Set();

  constructor(tools: { db: Db; live: LiveStates; work: WorkQueue; serverWebhooks: readonly ServerWebhook[] }) {
    this.#db = tools.db;
    this.#live = tools.live;
    this.#work = tools.work;
    this.#serverWebhooks = tools.serverWebhooks;
  }

  /** Reads which connections have webhooks. */
  readonly load = oneAtATime(async (): Promise<void> => {
    const rows = await this.#db
      .selectFrom('plain_object')
      .select('state')
      .where('kind', '=', sdkWebhookKind.name)
      .execute();
    const states = rows.map(({ state }) => state as SdkWebhookState);
    this.#withWebhooks = new Set(states.filter(({ disabled }) => !disabled).flatMap(({ sdks }) => sdks));
  });

  /** Whether somebody waits for changes of the payload, so that it is to be compiled although no SDK has asked for it. */
  listenTo({ id, state }: LiveConnection): boolean {
    return this.#serverWebhooks.length > 0 || state.proxyEnabled || this.#withWebhooks.has(id);
  }

  /** Has all who listen told of a change, once it is settled: a part of the statement that settles it. */
  telling({ organization, connection }: ChangedConnection): RawBuilder<unknown> {
    const surely = this.#serverWebhooks.length > 0 || this.#hasProxy(organization, connection);
    // Whether there are webhooks is asked in the same statement: this process may not have heard of the newest.
    const listened = sql`written where changed and (${surely} or exists (
      select from plain_object where organization = ${organization} and kind = ${sdkWebhookKind.name}
    ))`;
    return this.#work.addition(changeQueue, this.#item(organization, connection), listened);
  }

  /** Passes a settled change on to each who listens. */
  work(): WorkKind<null> {
    return {
      queue: changeQueue,
      retryAfter: [],
      attempt: async ({ organization, key: connection }) => ({
        succeeded: true,
        record: (tx) => this.#passOn(tx, organization, connection),
      }),
    };
  }

  async #passOn(tx: Tx, organization: string, connection: string): Promise<void> {
    const webhooks = await plainObjects(tx, sdkWebhookKind, organization).all();
    const listening = webhooks.filter(({ state }) => !state.disabled && state.sdks.includes(connection));
    await this.#work.add(
      tx,
      sdkWebhookQueue,
      listening.map(({ id }) => this.#item(organization, id)),
    );
    await this.#work.add(tx, serverWebhookQueue, serverWebhookItems(this.#serverWebhooks, organization, connection));
    if (this.#hasProxy(organization, connection)) {
      await this.#work.add(tx, proxyPushQueue, proxyItems(organization, connection));
    }
  }

  #item(organization: string, key: string): WorkItem<null> {
    return { organization, key, lane: key, data: null };
  }

  #hasProxy(organization: string, id: string): boolean {
    const states = this.#live.of(organization);
    return states !== undefined && readerOf(states).get(connectionKind, id)?.state.proxyEnabled === true;
  }
}
