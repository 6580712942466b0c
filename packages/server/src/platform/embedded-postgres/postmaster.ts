import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryError } from './data-directory-error.ts';
import type { Layout } from './layout.ts';
import { openLog, readLogFrom } from './log-file.ts';
import { postmasterFileOf, readPostmasterFile } from './postmaster-file.ts';
import { firstProcessIn, isPostgresIn, postgresProcessesIn, signalProcess } from './processes.ts';
import type { Programs } from './programs.ts';
import { complaintIn, describeEnding, spawnAs } from './run-program.ts';
import type { ServerUser } from './server-user.ts';

/** The first process of a running PostgreSQL, of which all others are children. */
export interface Postmaster {
  readonly processId: number;
  /** Resolves with how it ended, once it is gone. */
  readonly ended: Promise<string>;
  /** Whether it is gone, and how. */
  ending(): string | undefined;
  /** No longer watches for its end. */
  release(): void;
}

const WATCH_EVERY_MS = 250;

/**
 * Starts PostgreSQL in a session of its own, so that Ctrl-C in the terminal reaches Halyard alone, and so that it
 * outlives a Halyard that is killed. It need not be ready when this returns.
 */
export async function launch(
  layout: Layout,
  programs: Programs,
  user: ServerUser,
): Promise<{ postmaster: Postmaster; whatItSaid: () => Promise<string> }> {
  const log = await openLog(layout.logFile);
  const { size } = await log.stat();
  try {
    const postgresArguments = ['-D', layout.files, `--config-file=${layout.configurationFile}`];
    const child = await spawnAs(user, programs.postgres, postgresArguments, {
      cwd: layout.files,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    let ending: string | undefined;
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => {
        ending = describeEnding(code, signal);
        resolve(ending);
      });
    });
    // It must not keep a Halyard alive that has nothing else to do.
    child.unref();
    const postmaster = { processId: child.pid ?? 0, ended, ending: () => ending, release: () => {} };
    return { postmaster, whatItSaid: () => readLogFrom(layout.logFile, size) };
  } finally {
    await log.close();
  }
}

/** Watches a PostgreSQL that another process started: the kernel tells its end to its parent alone, so we look. */
export function watch(layout: Layout, processId: number): Postmaster {
  const { promise, resolve } = Promise.withResolvers<string>();
  let ending: string | undefined;
  const timer = setInterval(() => {
    if (isPostgresIn(layout.files, processId)) return;
    clearInterval(timer);
    ending = 'it is gone';
    resolve(ending);
  }, WATCH_EVERY_MS);
  timer.unref();
  return { processId, ended: promise, ending: () => ending, release: () => clearInterval(timer) };
}

/**
 * Stops the PostgreSQL that runs in this directory, if one does: first `fast` (open transactions are rolled back,
 * everything is written), then `immediate` (the next start recovers from the log), then by force. None of them loses an
 * acknowledged write.
 *
 * @param limits how long each of the first two may take, in milliseconds
 */
export async function shutDown(
  files: string,
  limits: { fast: number; immediate: number } = { fast: 30_000, immediate: 10_000 },
): Promise<void> {
  if (!(await ends(files, 'SIGINT', limits.fast))) await ends(files, 'SIGQUIT', limits.immediate);
  await endStragglers(files, 0);
  await rm(postmasterFileOf(files), { force: true });
}

/**
 * Ends what is left of a PostgreSQL whose first process was killed. Its children notice that by themselves, unless they
 * are in the middle of something; a new server beside them would ruin the database.
 *
 * @param patience how long they may take by themselves, in milliseconds
 */
export async function endStragglers(files: string, patience: number): Promise<void> {
  const patient = Date.now() + patience;
  const last = patient + 10_000;
  for (let left = postgresProcessesIn(files); left.length > 0; left = postgresProcessesIn(files)) {
    if (Date.now() >= patient) for (const processId of left) signalProcess(processId, 'SIGKILL');
    if (Date.now() > last) {
      throw new DataDirectoryError(
        `PostgreSQL's process ${left[0]} in ${files} cannot be ended, most likely because it waits for the disk: see to the disk.`,
      );
    }
    await sleep(10);
  }
}

/** Signals the first process, and waits until there is none; false when there still is one after the limit. */
async function ends(files: string, signal: NodeJS.Signals, limit: number): Promise<boolean> {
  const deadline = Date.now() + limit;
  let signalled: number | undefined;
  for (let first = await findFirst(files); first !== undefined; first = await findFirst(files)) {
    if (first !== signalled) signalProcess(first, signal);
    signalled = first;
    if (Date.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

/** As it says itself in `postmaster.pid`; where that says nothing, as the kernel does. */
async function findFirst(files: string): Promise<number | undefined> {
  const file = await readPostmasterFile(files).catch(() => undefined);
  if (file !== undefined && isPostgresIn(files, file.processId)) return file.processId;
  return firstProcessIn(files);
}

/** The line for the operator when the server ended while it started. */
export function didNotStart(layout: Layout, ending: string, output: string): DataDirectoryError {
  return new DataDirectoryError(
    `PostgreSQL did not start (${ending}): ${complaintIn(output)}. More is in ${layout.logFile}.`,
  );
}
