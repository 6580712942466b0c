import { readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FileLock, tryLock, waitForLock } from '../file-lock.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import type { Layout } from './layout.ts';

/*
 * Who uses a data directory is said by three locks:
 * - `lifecycle.lock`, held for a moment while PostgreSQL is prepared, started, attached to or stopped, and while the
 *   other two are taken or asked; so that nobody acts on what was true a moment ago;
 * - `service.lock`, held by the one service as long as it lives;
 * - `commands.lock`, shared by all operator's commands as long as they work.
 */

const LIFECYCLE_LIMIT_MS = 60_000;
const NEWS_AFTER_MS = 2000;

/** Does something to the life of PostgreSQL while no other process does. */
export async function underLifecycleLock<Result>(
  layout: Layout,
  say: (line: string) => void,
  act: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const begin = Date.now();
  let lock = await waitForLock(layout.lifecycleLock, begin + NEWS_AFTER_MS, signal);
  if (lock === undefined) {
    say(`Waiting for another Halyard process that starts or stops the database in ${layout.dataDirectory} …`);
    lock = await waitForLock(layout.lifecycleLock, begin + LIFECYCLE_LIMIT_MS, signal);
  }
  if (lock === undefined) {
    throw new DataDirectoryError(
      `Another Halyard process has been starting or stopping the database in ${layout.dataDirectory} for ` +
        `${LIFECYCLE_LIMIT_MS / 1000} s: look what it waits for, or end it, and start again.`,
    );
  }
  try {
    return await act();
  } finally {
    lock.release();
  }
}

/** Marks the data directory as the one of this service; refuses when another service lives on it. */
export async function occupyAsService(layout: Layout): Promise<FileLock> {
  const lock = tryLock(layout.serviceLock, 'exclusive');
  if (lock === undefined) {
    throw new DataDirectoryError(
      `The data directory ${layout.dataDirectory} is in use by a running Halyard${describeService(layout)}: stop that ` +
        `one, or set HALYARD_DATA_DIR to another directory.`,
    );
  }
  // For people only: the lock decides, so that an old mark after a crash means nothing.
  await writeFile(layout.serviceMark, `${JSON.stringify({ processId: process.pid, host: hostname() })}\n`, {
    mode: 0o600,
  });
  return {
    release: () => {
      rmSync(layout.serviceMark, { force: true });
      lock.release();
    },
  };
}

/** Marks the data directory as used by one more command. */
export function occupyAsCommand(layout: Layout): FileLock {
  const lock = tryLock(layout.commandsLock, 'shared');
  // The only one who locks it alone does so under the lock of the life cycle, which is ours now.
  if (lock === undefined) throw new Error(`${layout.commandsLock} is locked by a stranger`);
  return lock;
}

/** Whether a service or a command still uses the data directory. */
export function isOccupied(layout: Layout): boolean {
  return [layout.serviceLock, layout.commandsLock].some((path) => {
    const lock = tryLock(path, 'exclusive');
    lock?.release();
    return lock === undefined;
  });
}

/** On which machine, or in which container, the live service runs; `undefined` when none is alive. */
export function hostOfService(layout: Layout): string | undefined {
  const lock = tryLock(layout.serviceLock, 'exclusive');
  lock?.release();
  return lock === undefined ? readMark(layout)?.host : undefined;
}

function describeService(layout: Layout): string {
  const mark = readMark(layout);
  if (mark === undefined) return '';
  return ` (process ${mark.processId}${mark.host === hostname() ? '' : ` on ${mark.host}`})`;
}

function readMark(layout: Layout): { processId: number; host: string } | undefined {
  try {
    return JSON.parse(readFileSync(layout.serviceMark, 'utf8')) as { processId: number; host: string };
  } catch {
    return undefined;
  }
}
