import { PgBoss } from 'pg-boss';
import type { Address } from './database/connect.ts';
import type { Log } from './log.ts';

/** Work that is done again and again, by whichever process takes it. Every job is safe to run twice. */
export interface Job {
  readonly name: string;
  /**
   * Runs each minute. What is due is asked with our own clock: the job only wakes the service.
   *
   * @returns when it wants to run once more, where that is before the next minute
   */
  run(): Promise<Date | null>;
}

export interface Jobs {
  stop(): Promise<void>;
}

const everyMinute = '* * * * *';

/** Starts the job queue in the database and this process's workers. */
export async function startJobs(address: Address, log: Log, jobs: readonly Job[]): Promise<Jobs> {
  const boss = new PgBoss({
    ...(typeof address === 'string' ? { connectionString: address } : address),
    application_name: 'halyard jobs',
    max: 2,
    cronMonitorIntervalSeconds: 15,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'The job queue met an error; it goes on'));
  await boss.start();
  for (const job of jobs) {
    await boss.createQueue(job.name, { policy: 'standard', retryLimit: 3, deleteAfterSeconds: 3600 });
    await boss.work(job.name, { pollingIntervalSeconds: 1 }, async () => {
      log.debug({ job: job.name }, 'Job runs');
      const again = await job.run();
      if (again !== null) await boss.send(job.name, null, { startAfter: again, singletonKey: again.toISOString() });
    });
    await boss.schedule(job.name, everyMinute);
  }
  return {
    async stop() {
      await boss.stop({ graceful: true, timeout: 5_000 });
    },
  };
}
