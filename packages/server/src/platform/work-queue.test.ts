import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { createLog } from './log.ts';
import { type Attempt, type WorkItem, WorkQueue } from './work-queue.ts';

const organization = 'org_1';
const log = createLog({ LOG_LEVEL: 'silent' });

describe('work', () => {
  let database: TestDatabase;
  const clock = testClock();
  beforeAll(async () => {
    database = await createDatabase();
    await database.db
      .insertInto('organization')
      .values({ id: organization, name: 'One', owner_email: '', date_created: clock.now() })
      .execute();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.db.deleteFrom('queued_work').execute();
  });

  const item = (key: string, lane = key): WorkItem<string> => ({ organization, key, lane, data: `data of ${key}` });
  /** A process that does the work as it is told, and the keys it was asked for. */
  const process = (attempt: (item: WorkItem<string>) => Promise<Attempt> = async () => ({ succeeded: true })) => {
    const queue = new WorkQueue({ db: database.db, clock, log });
    const done: string[] = [];
    queue.serve<string>({
      queue: 'test',
      retryAfter: [1_000, 10_000],
      async attempt(asked) {
        done.push(asked.key);
        return attempt(asked);
      },
    });
    const add = (...items: WorkItem<string>[]) =>
      database.db.transaction().execute((tx) => queue.add(tx, 'test', items));
    return { queue, done, add };
  };
  const left = () => database.db.selectFrom('queued_work').selectAll().execute();

  test('is done once, whichever of several processes takes it, and not at all when its transaction fails', async () => {
    const processes = [process(), process(), process()] as const;
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
    await processes[0].add(...keys.map((key) => item(key)));
    await database.db
      .transaction()
      .execute(async (tx) => {
        await processes[0].queue.add(tx, 'test', [item('never')]);
        throw new Error('no');
      })
      .catch(() => undefined);
    await Promise.all(processes.map(({ queue }) => queue.finishDue()));
    expect(processes.flatMap(({ done }) => done).sort()).toEqual(keys.sort());
    expect(await left()).toEqual([]);
    for (const { queue } of processes) await queue.stop();
  });

  test('that is asked for again while it waits is done once, and while it is being done, once more', async () => {
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const { queue, done, add } = process(async () => {
      begun.resolve();
      await end.promise;
      return { succeeded: true };
    });
    await add(item('a'));
    await add(item('a'));
    await queue.wake();
    await begun.promise;
    await add(item('a'));
    await add(item('a'));
    end.resolve();
    await queue.finishDue();
    expect(done).toEqual(['a', 'a']);
    expect(await left()).toEqual([]);
    await queue.stop();
  });

  test('of one lane is done one after the other, in its order', async () => {
    let atOnce = 0;
    let most = 0;
    const { queue, done, add } = process(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      atOnce--;
      return { succeeded: true };
    });
    await add(...['d', 'b', 'c', 'a'].map((key) => item(key, 'lane')));
    await queue.finishDue();
    expect([done, most]).toEqual([['d', 'b', 'c', 'a'], 1]);
    await queue.stop();
  });

  test('that fails, also unexpectedly, is tried again when it is due and then given up; what is recorded of it knows which', async () => {
    const recorded: boolean[] = [];
    const { queue, done, add } = process(async ({ key }) => {
      if (key === 'throws') throw new Error('a defect');
      return {
        succeeded: false,
        async record(_tx, final) {
          recorded.push(final);
        },
      };
    });
    await add(item('fails'), item('throws'));
    await queue.finishDue();
    expect(done).toHaveLength(2);
    expect(await queue.job().run()).toEqual(expect.any(Date));
    for (const wait of [1_001, 10_001, 100_000]) {
      clock.advance(wait);
      await queue.finishDue();
    }
    expect(done).toHaveLength(6);
    expect(recorded).toEqual([false, false, true]);
    expect(await left()).toEqual([]);
    expect(await queue.job().run()).toBeNull();
    await queue.stop();
  });

  test('whose outcome cannot be written is done again, once its time is up', async () => {
    let broken = true;
    const { queue, done, add } = process(async () => ({
      succeeded: true,
      async record() {
        if (broken) throw new Error('no');
      },
    }));
    await add(item('a'));
    await queue.finishDue();
    broken = false;
    clock.advance(119_000);
    await queue.finishDue();
    expect(done).toEqual(['a']);
    clock.advance(2_000);
    await queue.finishDue();
    expect(done).toEqual(['a', 'a']);
    expect(await left()).toEqual([]);
    await queue.stop();
  });

  test('of a kind that a process does not know is left to others', async () => {
    const knowing = process();
    const other = new WorkQueue({ db: database.db, clock, log });
    await knowing.add(item('a'));
    await other.finishDue();
    expect(await left()).toHaveLength(1);
    await knowing.queue.finishDue();
    expect(knowing.done).toEqual(['a']);
    await other.stop();
    await knowing.queue.stop();
  });
});
