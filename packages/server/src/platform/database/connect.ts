import { Socket } from 'node:net';
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { type ClientConfig, Pool, types } from 'pg';
import type { Database } from './tables.ts';

export type Db = Kysely<Database>;
export type Tx = Transaction<Database>;

/** How to reach PostgreSQL: a `DATABASE_URL`, or what the embedded one says. */
export type Address = string | { host: string; port: number; user: string; password?: string; database: string };

// Versions, counts and positions stay below 2^53: numbers are easier to live with than BigInt.
types.setTypeParser(types.builtins.INT8, Number);

/** Settings of a client that both pools and listening connections use. */
export const clientConfig = (address: Address): ClientConfig => ({
  ...(typeof address === 'string' ? { connectionString: address } : address),
  application_name: 'halyard',
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
});

/** The sockets of a pool. One that no longer answers can only be told from a slow one by whoever watches: who then cuts it. */
export class Sockets {
  readonly #open = new Set<Socket>();

  open(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    return socket;
  }

  /** Ends every connection at once: whatever waits for an answer fails as if the server had gone. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

/** A pool of connections, through Kysely. A lost connection is replaced by the next query. */
export function connect(
  address: Address,
  onLost: (error: Error) => void,
  { sockets = new Sockets(), most = 10 } = {},
): Db {
  const pool = new Pool({
    ...clientConfig(address),
    stream: () => sockets.open(),
    max: most,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  const lose = (error: Error) => {
    if (!pool.ending) onLost(error);
  };
  pool.on('error', lose);
  // A connection that is lost while a query runs tells the query; without anyone listening it would end the process too.
  pool.on('connect', (client) => client.on('error', lose));
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}
