import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from './backoff.ts';

/**
 * Tries until it succeeds, ever more slowly, and never in step with others that try the same.
 *
 * @param onFailure is told of each failure; what it throws ends the trying
 * @throws AbortError when the signal says to stop, and whatever `onFailure` throws
 */
export async function persist<Value>(
  attempt: () => Promise<Value>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Value> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
    }
    await sleep(backoff(failures, { first: 200, most: 10_000 }), undefined, { signal });
  }
}
