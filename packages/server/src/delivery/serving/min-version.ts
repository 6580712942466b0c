import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../platform/index.ts';
import type { Served, ServedConnection } from './source.ts';

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

/** What a connection serves, once it is not older than that version; null: it did not come in time. */
export const servedSince = <Connection extends ServedConnection>(
  connection: Connection,
  version: number,
): Promise<Connection['served']> => servedOnce(connection, version, () => connection.version >= version);

/**
 * What a connection serves, once it is what is asked for; null: it did not come in time.
 *
 * @param least the version that it must have at least
 */
export async function servedOnce<Connection extends ServedConnection>(
  connection: Connection,
  least: number,
  isAskedFor: (served: Served) => boolean,
): Promise<Connection['served']> {
  const until = Date.now() + longestWait;
  await connection.prepare();
  for (;;) {
    if (connection.served !== null && isAskedFor(connection.served)) return connection.served;
    const left = until - Date.now();
    if (left <= 0) return null;
    // Whoever is to say what is newest may not answer at all.
    await within(left, 'catching up', connection.catchUp(least)).catch(() => undefined);
    if (connection.served === null || !isAskedFor(connection.served)) await sleep(pause);
  }
}
