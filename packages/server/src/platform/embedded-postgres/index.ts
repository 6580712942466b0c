/**
 * The life of the PostgreSQL that Halyard runs itself: prepared at the first start, attached to where it already runs,
 * watched over, and stopped with the service.
 */

import type { FileLock } from '../file-lock.ts';
import type { RunningServer } from './attach.ts';
import type { Connection } from './connection.ts';
import { explainFailure } from './data-directory-error.ts';
import type { Layout } from './layout.ts';
import { keepLogSmall } from './log-file.ts';
import { isOccupied, occupyAsCommand, occupyAsService, underLifecycleLock } from './occupancy.ts';
import { shutDown } from './postmaster.ts';
import { prepareDataDirectory } from './prepare-directory.ts';
import { attachOrStart, startAgain } from './start-server.ts';
import { supervise } from './supervise.ts';

export { DataDirectoryError, inDataDirectory } from './data-directory-error.ts';

type Say = (line: string) => void;

export interface EmbeddedPostgres {
  /** How to connect, as `pg.PoolConfig` takes it: a socket's directory as host, or 127.0.0.1 with port and password. */
  readonly connection: Connection;
  /**
   * Gives PostgreSQL up. A service stops it; a command stops it when nobody else uses it any more. Never fails because
   * it is called twice.
   */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** `HALYARD_DATA_DIR`, absolute. What PostgreSQL needs lies in `postgresql` and `locks` below it. */
  readonly dataDirectory: string;
  /** There is one service on a data directory; commands come and go beside it or without it. */
  readonly role: 'service' | 'command';
  /** Takes lines about the progress, for people; there are no secrets in them. */
  readonly say: Say;
}

/**
 * Makes sure that a PostgreSQL runs on the data directory and answers.
 *
 * @throws DataDirectoryError with one line for the operator: what is wrong and how to mend it
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    const layout = prepareDataDirectory(options.dataDirectory);
    return await underLifecycleLock(layout, options.say, () => begin(layout, options));
  } catch (error) {
    throw explainFailure(error, options.dataDirectory);
  }
}

async function begin(layout: Layout, { role, say }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const occupancy = role === 'service' ? await occupyAsService(layout) : occupyAsCommand(layout);
  try {
    const server = await attachOrStart(layout, { role, say, signal: new AbortController().signal });
    const end = role === 'service' ? serve(layout, server, occupancy, say) : lend(layout, server, occupancy, say);
    let ending: Promise<void> | undefined;
    return {
      connection: server.connection,
      stop: () => {
        ending ??= end();
        return ending;
      },
    };
  } catch (error) {
    occupancy.release();
    throw error;
  }
}

/** For a service: keeps PostgreSQL running, and stops it whoever started it. */
function serve(layout: Layout, server: RunningServer, occupancy: FileLock, say: Say): () => Promise<void> {
  const stopWatching = supervise(server, {
    say,
    startAgain: (signal) =>
      underLifecycleLock(
        layout,
        say,
        () => startAgain(layout, server.connection.port, { role: 'service', say, signal }),
        signal,
      ),
  });
  const stopPruning = keepLogSmall(layout.logFile);
  return async () => {
    stopPruning();
    await stopWatching();
    const end = async (): Promise<void> => {
      await shutDown(layout.files);
      occupancy.release();
    };
    // Where the lock cannot be had (the directory was removed, another process hangs), PostgreSQL must stop all the same.
    await underLifecycleLock(layout, say, end).catch(end);
  };
}

/** For a command: PostgreSQL goes with the last one that uses it. */
function lend(layout: Layout, server: RunningServer, occupancy: FileLock, say: Say): () => Promise<void> {
  return () =>
    underLifecycleLock(layout, say, async () => {
      occupancy.release();
      if (server.postmaster === undefined) return;
      server.postmaster.release();
      if (!isOccupied(layout)) await shutDown(layout.files);
    });
}
