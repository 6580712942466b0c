import type { Clock, Db, Log } from '../platform/index.ts';
import type { DeliveredConnection } from './payload/delivered-connection.ts';

const every = 30_000;

/** Remembers which connections are in use, and writes it down beside the requests: none of them waits for the database. */
export interface ConnectionUse {
  note(connection: DeliveredConnection): void;
  /** Writes down what was noted since. */
  write(): Promise<void>;
  /** Writes down what is left and ends. */
  stop(): Promise<void>;
}

export function connectionUse({ db, clock, log }: { db: Db; clock: Clock; log: Log }): ConnectionUse {
  const known = new Set<string>();
  let unwritten: { organization: string; connection: string; first_used: Date }[] = [];

  const write = async (): Promise<void> => {
    const rows = unwritten;
    if (rows.length === 0) return;
    unwritten = [];
    try {
      await db
        .insertInto('connection_use')
        .values(rows)
        .onConflict((on) => on.doNothing())
        .execute();
    } catch (error) {
      unwritten = [...rows, ...unwritten];
      log.warn({ err: error }, 'The first use of SDK connections could not be written down; it is tried again');
    }
  };

  const timer = setInterval(() => void write(), every);
  timer.unref();
  return {
    write,
    note({ organization, live: { id } }) {
      if (known.has(id)) return;
      known.add(id);
      unwritten.push({ organization, connection: id, first_used: clock.now() });
    },
    async stop() {
      clearInterval(timer);
      await write();
    },
  };
}
