import { setTimeout as sleep } from 'node:timers/promises';
import { LastKnownGood, PayloadChanges } from './delivery/index.ts';
import {
  type Address,
  type Clock,
  connect,
  type Db,
  isDatabaseAway,
  type Log,
  listenToNews,
  type News,
  Presence,
  persist,
  readSecrets,
  type Secrets,
  type Settings,
  Sockets,
  sealingKey,
  within,
} from './platform/index.ts';
import { LiveStates, type Standing, standingsQuery } from './record/index.ts';

/** What holds a process to its database, and what it knows without it. */
export interface Storage {
  readonly db: Db;
  readonly secrets: Secrets;
  readonly presence: Presence;
  readonly live: LiveStates;
  readonly changes: PayloadChanges;
  readonly lastKnownGood: LastKnownGood;
  /** Ends every connection, of which none is worth waiting for. */
  cut(): void;
}

export interface StorageOptions {
  readonly settings: Settings;
  readonly address: Address;
  readonly clock: Clock;
  readonly log: Log;
}

/** For so many milliseconds a stop waits for the database to end connections in order. */
const longestGoodbye = 2_000;

/** Opens what works with the database, without asking it anything yet. */
export async function openStorage(
  { settings, address, log }: StorageOptions,
  opened: AsyncDisposableStack,
): Promise<Storage> {
  const sockets = new Sockets();
  const pool = (most: number): Db => {
    const lost = (error: Error) => log.warn({ err: error }, 'A connection to the database was lost');
    const db = connect(address, lost, { sockets, most });
    opened.defer(async () => {
      await within(longestGoodbye, 'ending the connections', db.destroy()).catch(() => sockets.cut());
    });
    return db;
  };
  const db = pool(10);
  // What delivery reads never waits behind requests.
  const reading = pool(3);
  const secrets = await readSecrets(settings);
  const presence = new Presence();
  const live = new LiveStates(reading, log);
  const changes = new PayloadChanges(reading);
  const lastKnownGood = await LastKnownGood.open({
    dataDirectory: settings.HALYARD_DATA_DIR,
    key: sealingKey(secrets),
    live,
    changes,
    presence,
    log,
  });
  opened.defer(() => lastKnownGood.close());
  return { db, secrets, presence, live, changes, lastKnownGood, cut: () => sockets.cut() };
}

/** The database could not be joined so far. */
export interface DatabaseAway {
  readonly databaseAway: string;
}

/** For so many milliseconds a start waits for a slow database before it serves what was last known. */
const longestStart = 10_000;

/** How far a process has come in joining its database. */
interface Joining<Value> {
  /** What bringing it up has returned; or that the database is away, and why. */
  readonly first: Value | DatabaseAway;
  /** Resolves once the database is joined, now or later; never where the process stops before. */
  readonly joined: Promise<Value>;
}

/**
 * Joins the database: at once where it answers; else what was last known is served, and the joining goes on beside it.
 *
 * @param bringUp brings the database up to date and reads everything
 * @throws what `bringUp` throws where the database is there and cannot be used
 */
export async function joinDatabase<Value>(
  { lastKnownGood, presence }: Storage,
  { clock, log }: StorageOptions,
  bringUp: () => Promise<Value>,
  opened: AsyncDisposableStack,
): Promise<Joining<Value>> {
  const stopping = new AbortController();
  const away = Promise.withResolvers<DatabaseAway>();
  let waiting = false;
  const giveUpWaiting = (why: string) => {
    waiting = true;
    away.resolve({ databaseAway: why });
  };

  const joining = persist(
    async () => {
      const at = clock.now();
      const value = await bringUp();
      presence.confirm(at);
      return value;
    },
    (error) => {
      if (!waiting && !isDatabaseAway(error)) throw error;
      log.error({ err: error }, 'The database cannot be used; it is tried again');
      giveUpWaiting((error as Error).message);
    },
    stopping.signal,
  );
  const patience = sleep(longestStart, undefined, { signal: stopping.signal }).then(
    () => giveUpWaiting(`it has not answered for ${longestStart} ms`),
    () => undefined,
  );
  opened.defer(async () => {
    stopping.abort();
    await patience;
    await joining.catch(() => undefined);
  });

  const joined = joining.catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
    return new Promise<never>(() => undefined);
  });
  const first = await Promise.race([joined, away.promise]);
  if (waiting) await lastKnownGood.restore();
  return { first, joined };
}

/** Follows what the database holds, and notices when it no longer answers. */
export function followDatabase(
  { live, presence, cut }: Storage,
  { address, clock, log }: StorageOptions,
  handlers: { onNews(news: News): void; onGap(): Promise<void> },
  opened: AsyncDisposableStack,
): void {
  const news = listenToNews<Standing>(address, log, {
    onNews(heard) {
      if (heard.topic !== 'configuration') return handlers.onNews(heard);
      live
        .catchUp(heard.organization)
        .catch((error: unknown) => log.warn({ err: error }, 'News could not be read; they are read again'));
    },
    question: standingsQuery,
    async onAnswer(standings, first) {
      const at = clock.now();
      await live.catchUpTo(standings);
      if (first) await handlers.onGap();
      presence.confirm(at);
    },
    onLost() {
      presence.lose();
      cut();
    },
  });
  opened.defer(() => news.stop());
}
