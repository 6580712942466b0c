import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../backoff.ts';
import type { RunningServer } from './attach.ts';
import { CLEAN_END } from './run-program.ts';

/** The pauses between attempts to start PostgreSQL again, in milliseconds. */
export interface Pace {
  readonly first: number;
  readonly most: number;
  /** Before the first attempt, when PostgreSQL did not die but was stopped. */
  readonly afterCleanEnd: number;
  /** One that lived for so long has not failed at starting; the pauses begin anew. */
  readonly healthyAfter: number;
}

const USUAL_PACE: Pace = { first: 200, most: 30_000, afterCleanEnd: 1000, healthyAfter: 60_000 };

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
    pace?: Pace;
  },
): () => Promise<void> {
  const { startAgain, say, pace = USUAL_PACE } = options;
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
      if (Date.now() - begin >= pace.healthyAfter) failures = 0;
      say(`PostgreSQL ended unexpectedly (${ending}); starting it again.`);
      // A clean end was asked for, by someone who may be asking Halyard as well (systemd asks all processes at once).
      if (ending === CLEAN_END) await sleep(pace.afterCleanEnd, undefined, { signal }).catch(() => {});
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
      const pause = failures === 0 ? 0 : backoff(failures - 1, pace);
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
