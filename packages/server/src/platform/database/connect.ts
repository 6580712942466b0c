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
});

/** A pool of connections, through Kysely. A lost idle connection is replaced by the next query. */
export function connect(address: Address, onIdleError: (error: Error) => void): Db {
  const pool = new Pool({
    ...clientConfig(address),
    max: 10,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  pool.on('error', onIdleError);
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}
