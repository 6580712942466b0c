import { sql } from 'kysely';
import { Client } from 'pg';
import { backoff } from './backoff.ts';
import { type Address, clientConfig, type Db, type Tx } from './database/connect.ts';
import type { Log } from './log.ts';

const channel = 'halyard';
const heartbeatEvery = 10_000;
const heartbeatWithin = 5_000;

/** What one process tells the others when its transaction commits. A hint only: the database says what is true. */
export type News =
  | { readonly topic: 'configuration'; readonly organization: string; readonly version: number }
  | { readonly topic: 'payload'; readonly organization: string; readonly connection: string; readonly version: number };

/** Announces when the transaction commits, and not at all when it does not. */
export async function announce(tx: Tx | Db, news: News): Promise<void> {
  await sql`select pg_notify(${channel}, ${JSON.stringify(news)})`.execute(tx);
}

export interface NewsListener {
  stop(): Promise<void>;
}

/**
 * Hears what all processes announce, over a connection of its own. After every (re)connect `onGap` is told that news may
 * have been missed. A connection that no longer answers is noticed by a heartbeat.
 */
export function listenToNews(
  address: Address,
  log: Log,
  heard: { onNews: (news: News) => void; onGap: () => void },
): NewsListener {
  let client: Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let attempt = 0;
  let stopped = false;

  const retry = (error: unknown): void => {
    if (stopped) return;
    log.warn({ err: error, attempt }, 'No connection to the news of other processes; trying again');
    clearTimeout(timer);
    timer = setTimeout(open, backoff(attempt++, { first: 100, most: 5_000 }));
  };

  const lose = (lost: Client, error: unknown): void => {
    if (client !== lost) return;
    client = null;
    lost.end().catch(() => undefined);
    retry(error);
  };

  const beat = (of: Client): void => {
    timer = setTimeout(() => {
      const late = setTimeout(() => lose(of, new Error('the heartbeat was not answered')), heartbeatWithin);
      of.query('select 1').then(
        () => {
          clearTimeout(late);
          if (client === of) beat(of);
        },
        () => clearTimeout(late),
      );
    }, heartbeatEvery);
  };

  const open = (): void => {
    const opened = new Client(clientConfig(address));
    client = opened;
    opened.on('error', (error) => lose(opened, error));
    opened.on('end', () => lose(opened, new Error('the connection ended')));
    opened.on('notification', ({ payload }) => heard.onNews(JSON.parse(payload ?? '') as News));
    opened
      .connect()
      .then(() => opened.query(`listen ${channel}`))
      .then(
        () => {
          attempt = 0;
          heard.onGap();
          beat(opened);
        },
        (error: unknown) => lose(opened, error),
      );
  };

  open();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = null;
      await last?.end();
    },
  };
}
