import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../backoff.ts';
import type { RunningServer } from './attach.ts';
import { CLEAN_END } from './run-program.ts';

/** The pauses between the attempts, in milliseconds: they double from `first` to `most`. */
const PAUSE = { first: 200, most: 30_000 };
/** One that lived for so long has not failed at starting; the pauses begin anew. */
const HEALTHY_AFTER_MS = 60_000;
/** Before the first attempt, when PostgreSQL did not die but was stopped. */
const AFTER_CLEAN_END_MS = 1000;

/**
 * Watches over PostgreSQL and starts it again when it dies: soon at first, then ever more slowly, and as long as the
 * service lives, because the disk may be mended or emptied at any time. The service goes on without it meanwhile.
 *
 * @returns ends the watch; afterwards nothing is started any more
 */
export function supervise(
  server: RunningServer,
  options: {
    startAgain: (signal: AbortSignal) => Promise<RunningServer>;
    say: (line: string) => void;
  },
): () => Promise<void> {
  const { startAgain, say } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

  const watchOver = async (): Promise<void> => {
    let { postmaster } = server;
    let failures = 0;
    for (;;) {
      const begin = Date.now();
      const ending = await Promise.race([postmaster?.ended, stopped]);
      postmaster?.release();
      if (ending === undefined) return;
      if (Date.now() - begin >= HEALTHY_AFTER_MS) failures = 0;
      say(`PostgreSQL ended unexpectedly (${ending}); starting it again.`);
      // A clean end was asked for, by someone who may be asking Halyard as well (systemd asks all processes at once).
      if (ending === CLEAN_END) await sleep(AFTER_CLEAN_END_MS, undefined, { signal }).catch(() => {});
      const next = await untilStarted(failures);
      if (next === undefined) return;
      say('PostgreSQL is ready again.');
      postmaster = next.server.postmaster;
      failures = next.failures;
    }
  };

  /** Tries until it works or the service stops (`undefined`). */
  const untilStarted = async (before: number): Promise<{ server: RunningServer; failures: number } | undefined> => {
    for (let failures = before; ; failures += 1) {
      const pause = failures === 0 ? 0 : backoff(failures - 1, PAUSE);
      await sleep(pause, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
      try {
        return { server: await startAgain(signal), failures: failures + 1 };
      } catch (error) {
        if (signal.aborted) return undefined;
        say(`PostgreSQL could not be started again, trying further: ${(error as Error).message}`);
      }
    }
  };

  const done = watchOver();
  return async () => {
    stopping.abort();
    await done;
  };
}
