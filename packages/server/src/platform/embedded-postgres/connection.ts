import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataDirectoryError } from './data-directory-error.ts';
import type { Layout } from './layout.ts';
import type { PostmasterFile } from './postmaster-file.ts';

/** How to connect; fits `pg.PoolConfig`. The host is a directory where the server listens on a Unix socket. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string;
  readonly database: string;
}

/** The database and its owner, who may make further databases but is no superuser. */
export const DATABASE = 'halyard';

/** With a socket the number is only a part of the socket's name. */
export const SOCKET_PORT = 5432;
export const LOOPBACK = '127.0.0.1';

/** `sun_path` has 108 bytes, of which one is the end of the string. */
const LONGEST_SOCKET_PATH = 107;
const PROBE_LIMIT_MS = 5000;

/** Whether the path of the socket would be longer than the kernel allows, so that the server has to listen on TCP. */
export function needsLoopback(layout: Layout): boolean {
  return Buffer.byteLength(join(layout.socketDirectory, `.s.PGSQL.${SOCKET_PORT}`)) > LONGEST_SOCKET_PATH;
}

/** How to connect to the server that wrote this `postmaster.pid`. */
export async function connectionTo(layout: Layout, server: PostmasterFile): Promise<Connection> {
  const common = { port: server.port, user: DATABASE, database: DATABASE };
  // Our own name of the directory, not the one in the file: the data directory may have been moved since.
  if (server.socketDirectory !== '') return { ...common, host: layout.socketDirectory };
  const password = await readFile(layout.passwordFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new DataDirectoryError(
      `${layout.passwordFile} is missing: end PostgreSQL (kill ${server.processId}) and start again, which makes a new one.`,
    );
  });
  return { ...common, host: LOOPBACK, password };
}

/** A port of the loopback interface on which nobody listens now. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : SOCKET_PORT;
}

/** What a server says to Halyard: it lets it in, it is there but not now, or nobody listens. */
export type Answer = 'ready' | 'not now' | 'nobody';

/** The server starts or stops (by its codes), or went away or did not answer in the middle. */
const NOT_NOW = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'EPIPE', 'EAGAIN', 'ETIMEDOUT']);
const NOBODY = new Set(['ECONNREFUSED', 'ENOENT']);
const TOO_MANY_CONNECTIONS = '53300';

/**
 * Asks the server whether it lets Halyard in. One that is only full does.
 *
 * @throws DataDirectoryError when the server is there and refuses for good
 */
export async function ask(connection: Connection): Promise<Answer> {
  const client = new Client({ ...connection, connectionTimeoutMillis: PROBE_LIMIT_MS });
  // Losing the connection while or after connecting shows as the failure of the calls below.
  client.on('error', () => {});
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === TOO_MANY_CONNECTIONS) return 'ready';
    if (code === undefined || NOT_NOW.has(code)) return 'not now';
    if (NOBODY.has(code)) return 'nobody';
    throw new DataDirectoryError(
      `The PostgreSQL at ${connection.host}:${connection.port} does not let Halyard in: ${message}.`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => {});
  }
}
