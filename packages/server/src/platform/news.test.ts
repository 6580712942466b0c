import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { createLog } from './log.ts';
import { announce, listenToNews, type News } from './news.ts';

const news = (version: number): News => ({ topic: 'configuration', organization: 'org_1', version });

describe('news between processes', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const listen = () => {
    const heard: News[] = [];
    let gaps = 0;
    let losses = 0;
    const listener = listenToNews<{ n: number }>(database.address, createLog({ LOG_LEVEL: 'silent' }), {
      onNews: (one) => heard.push(one),
      question: 'select 1 as n',
      async onAnswer(rows, first) {
        expect(rows).toEqual([{ n: 1 }]);
        if (first) gaps++;
      },
      onLost: () => losses++,
    });
    return { heard, gaps: () => gaps, losses: () => losses, listener };
  };

  test('are heard when the transaction commits, and not when it does not', async () => {
    const { heard, gaps, listener } = listen();
    await expect.poll(gaps).toBe(1);
    await database.db.transaction().execute((tx) => announce(tx, news(1)));
    await database.db
      .transaction()
      .execute(async (tx) => {
        await announce(tx, news(2));
        throw new Error('no');
      })
      .catch(() => undefined);
    await announce(database.db, news(3));
    await expect.poll(() => heard).toEqual([news(1), news(3)]);
    await listener.stop();
  });

  test('after a lost connection are heard again, and the gap is told', async () => {
    const { heard, gaps, losses, listener } = listen();
    await expect.poll(gaps).toBe(1);
    expect(losses()).toBe(0);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query in ('listen halyard', 'select 1 as n')`.execute(
      database.db,
    );
    await expect.poll(gaps, { timeout: 10_000 }).toBe(2);
    expect(losses()).toBe(1);
    await announce(database.db, news(4));
    await expect.poll(() => heard).toEqual([news(4)]);
    await listener.stop();
  });
});
