import { createHmac } from 'node:crypto';
import type {
  Attempt,
  Clock,
  Db,
  Job,
  Log,
  Outcome,
  Outgoing,
  Tx,
  WorkItem,
  WorkKind,
  WorkQueue,
} from '../../platform/index.ts';
import { type LiveStates, readerOf } from '../../record/index.ts';
import { connectionKind, type LiveConnection } from '../connection.ts';
import type { CurrentPayloads } from '../webhooks/current-payloads.ts';
import { healthAfter, readHealth, writeHealth } from './proxy-health.ts';

export const proxyPushQueue = 'proxy-push';
const proxyCheckQueue = 'proxy-check';

/** The work of pushing to, or checking, the proxy of a connection. */
export const proxyItems = (organization: string, connection: string): WorkItem<null>[] => [
  { organization, key: connection, lane: connection, data: null },
];

const within = 5_000;
const retryPushAfter = [5_000];
const checkEvery = 300_000;

export interface ProxyTools {
  readonly db: Db;
  readonly live: LiveStates;
  readonly work: WorkQueue;
  readonly outgoing: Outgoing;
  readonly payloads: CurrentPayloads;
  readonly clock: Clock;
  readonly log: Log;
  /** Only an installation for the public restricts where proxies may be. */
  readonly hosted: boolean;
}

/** Pushes payloads to proxies, and looks how those are. */
export function proxyWork(tools: ProxyTools): WorkKind<null>[] {
  const { db, live, work, outgoing, payloads, clock, log, hosted } = tools;

  /** The connection, where it has a proxy. */
  const withProxy = async ({ organization, key }: WorkItem<null>): Promise<LiveConnection | null> => {
    await live.catchUp(organization);
    const states = live.of(organization);
    const connection = states === undefined ? null : readerOf(states).get(connectionKind, key);
    return connection?.state.proxyEnabled === true ? connection : null;
  };

  /** Writes down how it went. @returns whether the proxy is new, or has come back */
  const note = async (
    tx: Tx,
    { organization, key }: WorkItem<null>,
    host: string,
    attempt: Parameters<typeof healthAfter>[2],
  ): Promise<boolean> => {
    const before = await readHealth(tx, organization, key);
    const after = healthAfter(before, host, attempt);
    await writeHealth(tx, organization, key, after, clock.now());
    const { connected, errors, lastError } = after;
    if (!connected) log.warn({ connection: key, errors, error: lastError }, 'A proxy failed');
    return connected && (before?.host !== host || !before.connected);
  };

  const push: WorkKind<null> = {
    queue: proxyPushQueue,
    retryAfter: retryPushAfter,
    async attempt(item): Promise<Attempt> {
      const connection = await withProxy(item);
      const about = connection === null ? null : await payloads.of(item.organization, item.key);
      if (connection === null || about === null) return { succeeded: true };
      const { proxyHost: host, proxySigningKey, key } = connection.state;
      const health = await readHealth(db, item.organization, item.key);
      if (health?.host === host && !health.enabled) return { succeeded: true };
      const outcome = await outgoing.send({
        url: `${host.replace(/\/+$/, '')}/proxy/features`,
        method: 'POST',
        headers: new Headers({
          'content-type': 'application/json',
          'x-service-api-key': key,
          'x-service-signature': createHmac('sha256', proxySigningKey).update(about.payload).digest('hex'),
        }),
        body: about.payload,
        within,
        trusted: !hosted,
      });
      const error = errorOf(outcome);
      return {
        succeeded: error === null,
        async record(tx, final) {
          if (final) await note(tx, item, host, { error });
        },
      };
    },
  };

  const check: WorkKind<null> = {
    queue: proxyCheckQueue,
    retryAfter: [],
    async attempt(item): Promise<Attempt> {
      const connection = await withProxy(item);
      if (connection === null) return { succeeded: true };
      const { proxyHost: host } = connection.state;
      const outcome = await outgoing.send({
        url: `${host.replace(/\/+$/, '')}/healthcheck`,
        method: 'GET',
        headers: new Headers(),
        within,
        trusted: !hosted,
      });
      const version = versionOf(outcome);
      const error =
        errorOf(outcome) ?? (version === null ? 'The health check did not answer with a proxyVersion.' : null);
      const { organization, key } = item;
      return {
        succeeded: error === null,
        async record(tx) {
          const isBack = await note(tx, item, host, { error, ...(version === null ? {} : { version }) });
          if (isBack) await work.add(tx, proxyPushQueue, proxyItems(organization, key));
        },
      };
    },
  };
  return [push, check];
}

export interface ProxyChecks {
  /** Looks at the proxies that nobody has looked at for some minutes, or not since their address was changed. */
  readonly job: Job;
  /** Looks at the proxy of a connection that was made or changed, soon: nobody waits for it. */
  soon(organization: string, connection: string): void;
}

export function proxyChecks(tools: Pick<ProxyTools, 'db' | 'live' | 'work' | 'clock' | 'log'>): ProxyChecks {
  const { db, live, work, clock, log } = tools;
  const add = async (items: readonly WorkItem<null>[]): Promise<void> => {
    if (items.length > 0) await db.transaction().execute((tx) => work.add(tx, proxyCheckQueue, items));
  };
  const job: Job = {
    name: 'proxy-checks',
    async run() {
      const rows = await db.selectFrom('proxy_health').select(['connection', 'host', 'checked_at']).execute();
      const checked = new Map(rows.map((row) => [row.connection, row]));
      const old = clock.now().getTime() - checkEvery;
      const items = [...live.organizations()].flatMap((states) =>
        readerOf(states)
          .all(connectionKind)
          .filter(({ id, state }) => {
            const last = checked.get(id);
            const known = last !== undefined && last.host === state.proxyHost && last.checked_at.getTime() > old;
            return state.proxyEnabled && !known;
          })
          .flatMap(({ id }) => proxyItems(states.organization, id)),
      );
      await add(items);
      return null;
    },
  };
  return {
    job,
    soon(organization, connection) {
      add(proxyItems(organization, connection)).catch((error: unknown) =>
        log.warn({ err: error, connection }, 'A proxy is looked at later'),
      );
    },
  };
}

/** Null: it went well. Nothing of an answer is kept: a proxy may stand in a private network. */
function errorOf(outcome: Outcome): string | null {
  if (!outcome.answered) return outcome.reason;
  return outcome.status >= 200 && outcome.status < 300 ? null : `It answered with status ${outcome.status}.`;
}

/** Null: it did not answer as a proxy does. */
function versionOf(outcome: Outcome): string | null {
  if (!outcome.answered || outcome.status !== 200) return null;
  try {
    const body: unknown = JSON.parse(outcome.text);
    const isAnswer = typeof body === 'object' && body !== null && 'proxyVersion' in body;
    return isAnswer && typeof body.proxyVersion === 'string' ? body.proxyVersion.slice(0, 100) : null;
  } catch {
    return null;
  }
}
