import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { isDatabaseAway } from './away.ts';
import { connect, Sockets } from './connect.ts';
import { DatabaseError, migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { tables } from './tables.ts';

describe('the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase({ migrated: false });
  });
  afterAll(() => database.drop());

  test('is brought up to date once, also when several processes start together', async () => {
    const others = [1, 2, 3].map(() => connect(database.address, () => undefined));
    const applied = await Promise.all([database.db, ...others].map((db) => migrate(db)));
    expect(applied.flat()).toEqual(Object.keys(migrations));
    expect(await migrate(database.db)).toEqual([]);
    for (const db of others) await db.destroy();
  });

  test('has exactly the tables and columns that the types of our queries say', async () => {
    const { rows } = await sql<{ table: string; column: string; type: string; nullable: boolean; filled: boolean }>`
      select table_name as table, column_name as column, udt_name as type, is_nullable = 'YES' as nullable,
             column_default is not null or is_identity = 'YES' as filled
      from information_schema.columns
      where table_schema = 'public' and table_name not like 'kysely_%'
      order by table_name, ordinal_position`.execute(database.db);
    const found = rows.map(
      ({ table, column, type, nullable, filled }) => `${table}.${column} ${type} ${nullable} ${filled}`,
    );
    const declared = Object.entries(tables).flatMap(([table, columns]) =>
      Object.entries(columns).map(
        ([column, { sql: type, nullable, filled }]) => `${table}.${column} ${type} ${nullable} ${filled}`,
      ),
    );
    expect(found.sort()).toEqual(declared.sort());
  });

  test('compares ids and keys as plain text, whatever its locale', async () => {
    const { rows } = await sql<{ table: string; column: string; collation: string | null }>`
      select table_name as table, column_name as column, collation_name as collation
      from information_schema.columns
      where table_schema = 'public' and (column_name = 'id' or column_name in ('organization', 'kind', 'entity', 'person', 'connection', 'key'))
        and data_type = 'text' and table_name not like 'kysely_%'`.execute(database.db);
    expect(rows.length).toBeGreaterThan(15);
    for (const { table, column, collation } of rows) expect([table, column, collation]).toEqual([table, column, 'C']);
  });

  test('of a newer build is refused with one line', async () => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(database.db);
    await expect(migrate(database.db)).rejects.toThrow(DatabaseError);
    await expect(migrate(database.db)).rejects.toThrow(/newer Halyard/);
  });

  test('that ends a connection over a running query fails the query, not the process', async () => {
    const lost: Error[] = [];
    const db = connect(database.address, (error) => lost.push(error));
    const running = sql`select pg_sleep(60) as "over this one"`.execute(db).catch((error: unknown) => error);
    const ended = sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and query like '%over this one%' and pid <> pg_backend_pid()`;
    await expect.poll(async () => (await ended.execute(database.db)).rows).toEqual([{ ended: true }]);
    expect(isDatabaseAway(await running)).toBe(true);
    await expect.poll(() => sql`select 1 as one`.execute(db).catch(() => null)).toMatchObject({ rows: [{ one: 1 }] });
    expect(lost.length).toBeGreaterThan(0);
    await db.destroy();
  });

  test('that no longer answers is left by cutting its connections', async () => {
    const sockets = new Sockets();
    const db = connect(database.address, () => undefined, { sockets });
    const running = sql`select pg_sleep(60)`.execute(db).catch((error: unknown) => error);
    await sql`select 1`.execute(db);
    sockets.cut();
    expect(isDatabaseAway(await running)).toBe(true);
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await db.destroy();
  });

  test('is known to be away by how its absence shows', async () => {
    const nowhere = connect({ host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' }, () => undefined);
    const refused = await sql`select 1`.execute(nowhere).catch((error: unknown) => error);
    expect(isDatabaseAway(refused)).toBe(true);
    await nowhere.destroy();
    const wrong = await sql`select nonsense`.execute(database.db).catch((error: unknown) => error);
    expect(isDatabaseAway(wrong)).toBe(false);
    expect(isDatabaseAway(new TypeError('x is not a function'))).toBe(false);
  });
});
