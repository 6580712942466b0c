import { type RawBuilder, sql } from 'kysely';
import { Client } from 'pg';
import { backoff } from './backoff.ts';
import { type Address, clientConfig, type Db, Sockets, type Tx } from './database/connect.ts';
import type { Log } from './log.ts';
import { within } from './within.ts';

const channel = 'halyard';
const askEvery = 2_000;
const answerWithin = 5_000;
const longestGoodbye = 1_000;

/** What one process tells the others when its transaction commits. A hint only: the database says what is true. */
export type News =
  | { readonly topic: 'configuration'; readonly organization: string; readonly version: number }
  | { readonly topic: 'payload'; readonly organization: string; readonly connection: string; readonly version: number }
  /** Something is due that any process may take. */
  | { readonly topic: 'work' }
  /** What listens to payloads of the organization has changed. */
  | { readonly topic: 'listeners'; readonly organization: string };

/** What announces news when it is evaluated, and its transaction commits. */
export const announcement = (news: News): RawBuilder<unknown> => sql`pg_notify(${channel}, ${JSON.stringify(news)})`;

/** Announces when the transaction commits, and not at all when it does not. */
export async function announce(tx: Tx | Db, news: News): Promise<void> {
  await sql`select ${announcement(news)}`.execute(tx);
}

export interface NewsHandlers<Row> {
  onNews(news: News): void;
  /** A query that is asked over the same connection, again and again: who has its answer has heard all news before it. */
  readonly question: string;
  /**
   * Takes an answer to it. The next one is asked once this is done.
   *
   * @param first after each (re)connect: news may have been missed
   */
  onAnswer(rows: readonly Row[], first: boolean): Promise<void>;
  /** The connection is lost, or has not answered for too long. */
  onLost(): void;
}

export interface NewsListener {
  stop(): Promise<void>;
}

/** Hears what all processes announce, over a connection of its own; and by it knows whether the database answers at all. */
export function listenToNews<Row extends object>(
  address: Address,
  log: Log,
  handlers: NewsHandlers<Row>,
): NewsListener {
  const sockets = new Sockets();
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
    sockets.cut();
    handlers.onLost();
    retry(error);
  };

  const ask = async (of: Client, first: boolean): Promise<void> => {
    let answered = false;
    // A process that was busy itself first reads what has come meanwhile, before it blames the database.
    const late = setTimeout(() => {
      setImmediate(() => {
        if (!answered) lose(of, new Error(`the database has not answered for ${answerWithin} ms`));
      });
    }, answerWithin);
    try {
      const { rows } = await of.query<Row>(handlers.question);
      answered = true;
      attempt = 0;
      await handlers.onAnswer(rows, first);
    } catch (error) {
      if (!answered) return lose(of, error);
      log.warn({ err: error }, 'What the database holds could not be read; it is tried again');
    } finally {
      clearTimeout(late);
    }
    if (client === of && !stopped) timer = setTimeout(() => void ask(of, false), askEvery);
  };

  const open = (): void => {
    const opened = new Client({ ...clientConfig(address), stream: () => sockets.open() });
    client = opened;
    opened.on('error', (error) => lose(opened, error));
    opened.on('end', () => lose(opened, new Error('the connection ended')));
    opened.on('notification', ({ payload }) => handlers.onNews(JSON.parse(payload ?? '') as News));
    opened
      .connect()
      .then(() => opened.query(`listen ${channel}`))
      .then(
        () => ask(opened, true),
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
      if (last !== null) await within(longestGoodbye, 'ending the connection', last.end()).catch(() => undefined);
      sockets.cut();
    },
  };
}
