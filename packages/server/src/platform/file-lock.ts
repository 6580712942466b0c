import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Locks between processes that the kernel releases when their holder dies, however it dies: no stale marks, no guessing
 * whether a process number was given to another program. Node offers no `flock`, but the SQLite inside Node locks its
 * file with `fcntl`. The files stay empty; nothing is ever stored in them. The locks hold between containers that
 * share a volume as well, since they belong to the file and not to a process table.
 */
export interface FileLock {
  release(): void;
}

export type LockMode = 'exclusive' | 'shared';

const SQLITE_BUSY = 5;

/** A lock that is no longer referenced would be released by the garbage collector; held ones are therefore kept here. */
const held = new Set<DatabaseSync>();

/** Takes the lock, or returns `undefined` at once when another holder stands in the way. */
export function tryLock(path: string, mode: LockMode): FileLock | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // A journal on disk would be left behind by a killed process.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec(mode === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

/**
 * Waits for the exclusive lock until `deadline` (milliseconds since the epoch); `undefined` when it passes.
 *
 * @param signal ends the waiting with an error
 */
export async function waitForLock(path: string, deadline: number, signal?: AbortSignal): Promise<FileLock | undefined> {
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const lock = tryLock(path, 'exclusive');
    if (lock !== undefined || Date.now() > deadline) return lock;
    await sleep(pause * (0.5 + Math.random()), undefined, signal === undefined ? {} : { signal });
  }
}
