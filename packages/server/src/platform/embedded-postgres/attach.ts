import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ask, type Connection, connectionTo } from './connection.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import type { Layout } from './layout.ts';
import { hostOfService } from './occupancy.ts';
import { type Postmaster, watch } from './postmaster.ts';
import { type PostmasterFile, readPostmasterFile } from './postmaster-file.ts';
import { isPostgresIn } from './processes.ts';

/** A PostgreSQL that is ready, and how to reach it. */
export interface RunningServer {
  readonly connection: Connection;
  /** `undefined` where it lives in another container, out of our reach; a service never gets such a one. */
  readonly postmaster: Postmaster | undefined;
}

type Role = 'service' | 'command';

export interface StartOptions {
  readonly role: Role;
  readonly say: (line: string) => void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** Recovery after a crash replays at most some hundred megabytes; a disk on which that takes longer is broken. */
const START_LIMIT_MS = 600_000;
const FIRST_NEWS_MS = 5000;

/**
 * Attaches to the PostgreSQL that runs on the data directory, after waiting for one that is just starting or stopping.
 *
 * @returns `undefined` when none runs
 */
export async function attach(layout: Layout, options: StartOptions): Promise<RunningServer | undefined> {
  const tick = patience(options);
  for (;;) {
    const file = await readPostmasterFile(layout.files);
    if (file === undefined) return undefined;
    if (!isPostgresIn(layout.files, file.processId)) {
      // Its process is not to be seen, but it may live in another container that shares the volume.
      const answer = await askElsewhere(layout, file);
      if (answer === 'nobody') return undefined;
      if (answer === 'ready') return attachElsewhere(layout, file, options.role);
    } else if (file.state === 'ready') {
      const connection = await connectionTo(layout, file);
      if ((await ask(connection)) === 'ready') return { connection, postmaster: watch(layout, file.processId) };
    }
    await tick();
  }
}

/** A socket can be asked from everywhere; the loopback interface of another container cannot be reached. */
async function askElsewhere(layout: Layout, file: PostmasterFile): Promise<Answer> {
  if (file.socketDirectory !== '') return ask(await connectionTo(layout, file));
  const host = hostOfService(layout);
  if (host === undefined || host === hostname()) return 'nobody';
  throw new DataDirectoryError(
    `The data directory ${layout.dataDirectory} is in use by a Halyard on ${host}, whose PostgreSQL cannot be reached from ` +
      `here: run this on ${host}.`,
  );
}

/** A command can work with a PostgreSQL in another container; a service could not watch over it. */
async function attachElsewhere(layout: Layout, file: PostmasterFile, role: Role): Promise<RunningServer> {
  if (role === 'command') return { connection: await connectionTo(layout, file), postmaster: undefined };
  throw new DataDirectoryError(
    `The data directory ${layout.dataDirectory} is in use by a PostgreSQL in another container: stop that container, ` +
      `or set HALYARD_DATA_DIR to another directory.`,
  );
}

/** Waits for the server that was just launched, until Halyard can work with it; `undefined` when it ended instead. */
export async function untilReady(
  layout: Layout,
  postmaster: Postmaster,
  options: StartOptions,
): Promise<RunningServer | undefined> {
  const tick = patience(options);
  while (postmaster.ending() === undefined) {
    const file = await readPostmasterFile(layout.files);
    // The file of a server that crashed may hold the same number, which containers give out in the same order.
    if (file?.processId === postmaster.processId && file.state === 'ready') {
      const connection = await connectionTo(layout, file);
      if ((await ask(connection)) === 'ready') return { connection, postmaster };
    }
    await tick();
  }
  return undefined;
}

/** A short pause, again and again; says now and then what we wait for, and gives up at last. */
function patience({ say, signal }: StartOptions): () => Promise<void> {
  const begin = Date.now();
  let news = begin + FIRST_NEWS_MS;
  return async () => {
    const now = Date.now();
    if (now > begin + START_LIMIT_MS) {
      throw new DataDirectoryError(
        `PostgreSQL has been starting or stopping for ${START_LIMIT_MS / 60_000} minutes: see to the disk of the data directory.`,
      );
    }
    if (now > news) {
      say(
        `PostgreSQL is not ready yet after ${Math.round((now - begin) / 1000)} s (it may be recovering from a crash).`,
      );
      news += 2 * (now - begin);
    }
    await sleep(10, undefined, { signal });
  };
}
