import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../platform/index.ts';
import type { PayloadSource, Served, ServedConnection } from './source.ts';

/** Asks for an answer that is not older than a version: to read what one has just published. */
export const minVersionHeader = 'X-Service-Min-Config-Version';

/** As Node names it; several of them come joined by commas. */
const headerKey = minVersionHeader.toLowerCase();
const longestWait = 2_000;
const pause = 20;

/** The version that a request wants to see at least, 0 where it does not say; null: the header is no whole number. */
export function readMinVersion(header: string | undefined): number | null {
  if (header === undefined) return 0;
  return /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** The version that a public request wants to see at least. */
export const minVersionOf = (request: IncomingMessage): number | null =>
  readMinVersion(request.headers[headerKey] as string | undefined);

/** A connection that serves what was asked for. */
export interface Reached<Connection extends ServedConnection> {
  readonly connection: Connection;
  readonly served: NonNullable<Connection['served']>;
}

/** Where connections are found by their client keys. */
type Connections<Connection extends ServedConnection> = Pick<PayloadSource, 'catchUp'> & {
  use(key: string): Connection | undefined;
};

/**
 * The connection of a client key, once what it serves is what is asked for. The key is looked up again after each wait: the
 * version that is asked for may be the one that made, changed or deleted the connection.
 *
 * @param least the version that it must have at least
 * @returns `unknown`: there is no such connection; `late`: what is asked for did not come in time; `nothing`: neither did
 *   anything else
 */
export async function reach<Connection extends ServedConnection>(
  source: Connections<Connection>,
  key: string,
  least: number,
  isAskedFor: (served: Served, connection: Connection) => boolean = (_served, { version }) => version >= least,
): Promise<Reached<Connection> | 'unknown' | 'late' | 'nothing'> {
  const until = Date.now() + longestWait;
  // Whoever is to say what is newest may not answer at all.
  const inTime = (asking: Promise<void>) => within(until - Date.now(), 'catching up', asking).catch(() => undefined);
  const reached = (): Reached<Connection> | null => {
    const connection = source.use(key);
    const served = connection?.served ?? null;
    return connection !== undefined && served !== null && isAskedFor(served, connection)
      ? { connection, served: served as NonNullable<Connection['served']> }
      : null;
  };

  if (source.use(key) === undefined && least > 0) await inTime(source.catchUp());
  for (;;) {
    const connection = source.use(key);
    if (connection === undefined) return 'unknown';
    await connection.prepare();
    const found = reached();
    if (found !== null) return found;
    if (Date.now() >= until) return connection.served === null ? 'nothing' : 'late';
    if (source.use(key) !== connection) continue;
    await inTime(connection.catchUp(least));
    if (source.use(key) === connection && reached() === null) await sleep(pause);
  }
}
