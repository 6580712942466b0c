import { sql } from 'kysely';
import type { Clock, Db, Log } from '../platform/index.ts';

const windowLength = 60_000;

/** Where a key stands in the present minute. */
interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds to the end of the minute. */
  readonly reset: number;
  readonly exceeded: boolean;
}

/** Counts requests by key and minute. */
export interface RateLimiter {
  /** Counts one more request of the key. */
  count(key: string): Allowance;
  stop(): void;
}

interface Counted {
  /** By this process, not yet told to the others. */
  untold: number;
  /** By all processes, as far as told. */
  told: number;
}

/**
 * Limits requests a minute. Each process counts for itself; every second the counts are added up in the database, so that
 * several processes give about the same limit as one. While the database is away each goes by its own count: the limiter
 * must never be what stops the service.
 */
export function rateLimiter(limit: number, tools: { db: Db; clock: Clock; log: Log }): RateLimiter {
  let minute = -1;
  let counts = new Map<string, Counted>();
  const now = () => tools.clock.now().getTime();

  const turn = (): void => {
    const present = Math.floor(now() / windowLength);
    if (present === minute) return;
    minute = present;
    counts = new Map();
  };

  const reconcile = async (): Promise<void> => {
    turn();
    const of = counts;
    const telling = [...of]
      .filter(([, { untold }]) => untold > 0)
      .map(([key, counted]) => ({ key, counted, added: counted.untold }));
    if (telling.length === 0) return;
    for (const { counted, added } of telling) {
      counted.untold -= added;
      counted.told += added;
    }
    try {
      const rows = await tools.db
        .insertInto('request_count')
        .values(telling.map(({ key, added }) => ({ key, minute, requests: added })))
        .onConflict((on) =>
          on
            .columns(['key', 'minute'])
            .doUpdateSet({ requests: sql<number>`request_count.requests + excluded.requests` }),
        )
        .returning(['key', 'requests'])
        .execute();
      for (const { key, requests } of rows) {
        const counted = of.get(key);
        if (counted !== undefined) counted.told = requests;
      }
      await tools.db
        .deleteFrom('request_count')
        .where('minute', '<', minute - 1)
        .execute();
    } catch (error) {
      tools.log.warn({ err: error }, 'Rate limits are counted by this process alone: the database is away');
    }
  };

  // One at a time: a database that does not answer must not gather requests.
  let reconciling: Promise<void> | null = null;
  const timer = setInterval(() => {
    reconciling ??= reconcile().finally(() => {
      reconciling = null;
    });
  }, 1_000);
  timer.unref();

  return {
    count(key) {
      turn();
      const counted = counts.get(key) ?? { untold: 0, told: 0 };
      counts.set(key, counted);
      counted.untold++;
      const used = counted.untold + counted.told;
      return {
        limit,
        remaining: Math.max(0, limit - used),
        reset: Math.ceil(((minute + 1) * windowLength - now()) / 1000),
        exceeded: used > limit,
      };
    },
    stop: () => clearInterval(timer),
  };
}

const mostFailures = 60;
const mostAddresses = 100_000;

/**
 * Counts failed sign-ins by source address. Whoever fails too often is told to wait; a request with a valid credential from
 * the same address still passes, since many people may share it.
 */
export function failureLimiter(clock: Clock): { count(address: string): { exceeded: boolean; reset: number } } {
  let minute = -1;
  let failures = new Map<string, number>();
  return {
    count(address) {
      const time = clock.now().getTime();
      const present = Math.floor(time / windowLength);
      if (present !== minute || failures.size >= mostAddresses) {
        minute = present;
        failures = new Map();
      }
      const failed = (failures.get(address) ?? 0) + 1;
      failures.set(address, failed);
      return { exceeded: failed > mostFailures, reset: Math.ceil(((minute + 1) * windowLength - time) / 1000) };
    },
  };
}
