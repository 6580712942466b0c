import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { startHalyardProcess } from '../../../testing/platform/embedded-postgres/halyard-process.ts';
import {
  cleanUp,
  isRoot,
  newDataDirectory,
  postmasterOf,
  preparedDataDirectory,
  query,
  start,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { shutDown } from './postmaster.ts';
import { postmasterFileOf } from './postmaster-file.ts';
import { isPostgresIn, postgresProcessesIn } from './processes.ts';
import { chooseServerUser } from './server-user.ts';

afterEach(cleanUp);

const sleepers: ChildProcess[] = [];
afterEach(() => {
  for (const child of sleepers.splice(0)) child.kill('SIGKILL');
});

/** Resolves when the condition holds; what the test waits for sends no event. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5);
}

async function dropped(client: Client): Promise<void> {
  await new Promise((resolve) => client.once('end', resolve));
}

describe('the first start', () => {
  test('prepares a database with UTF-8 and the collation of the code points', async () => {
    const { connection, said } = await start(await newDataDirectory());
    const [row] = await query<Record<string, string>>(
      connection,
      `select datlocprovider as provider, datlocale as locale, pg_encoding_to_char(encoding) as encoding
       from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({ provider: 'b', locale: 'C.UTF-8', encoding: 'UTF8' });
    expect(said[0]).toContain('Preparing a new database in');
  });

  test('lets Halyard in as the owner of its database, not as a superuser', async () => {
    const { connection } = await start(await newDataDirectory());
    const [row] = await query(
      connection,
      `select rolsuper as super, rolcreatedb as databases, pg_get_userbyid(datdba) = rolname as owner
       from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
    );
    expect(row).toEqual({ super: false, databases: true, owner: true });
    await expect(query({ ...connection, user: 'postgres', database: 'postgres' }, 'select 1')).rejects.toThrow(
      /no pg_hba.conf entry|authentication failed/,
    );
  });

  test('acknowledges only what is on the disk', async () => {
    const { connection } = await start(await newDataDirectory());
    const rows = await query<{ setting: string }>(
      connection,
      `select setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
    );
    expect(rows.map(({ setting }) => setting)).toEqual(['on', 'on', 'on']);
  });

  test('is done anew when an earlier one was killed in the middle', async () => {
    const layout = await newDataDirectory();
    const killed = startHalyardProcess('service', layout.dataDirectory);
    await killed.untilItSays(/Preparing/);
    const drafts = async () => (existsSync(layout.server) ? await readdir(layout.server) : []).filter(isDraft);
    await until(async () => (await drafts()).some((draft) => existsSync(join(layout.server, draft, 'global'))));
    await killed.kill();
    expect(existsSync(layout.files)).toBe(false);

    const { connection } = await start(layout);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await drafts()).toEqual([]);
  });
});

const isDraft = (name: string): boolean => name.startsWith('initializing-');

describe('a running PostgreSQL', () => {
  test('leads a session of its own, which Ctrl-C in the terminal does not reach', async () => {
    const layout = await preparedDataDirectory();
    await start(layout);
    const postmaster = await postmasterOf(layout);
    const [, , group, session] = readFileSync(`/proc/${postmaster}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect([group, session]).toEqual([String(postmaster), String(postmaster)]);
  });

  test('prints into its log file', async () => {
    const layout = await preparedDataDirectory();
    await start(layout);
    const postmaster = await postmasterOf(layout);
    expect(await readlink(`/proc/${postmaster}/fd/1`)).toBe(layout.logFile);
    expect(await readlink(`/proc/${postmaster}/fd/2`)).toBe(layout.logFile);
    expect(readFileSync(layout.logFile, 'utf8')).toContain('ready to accept connections');
  });

  test('knows nothing of the secrets in the environment of Halyard', async () => {
    const layout = await preparedDataDirectory();
    await startHalyardProcess('service', layout.dataDirectory).ready;
    const environment = readFileSync(`/proc/${await postmasterOf(layout)}/environ`, 'utf8');
    expect(environment).not.toContain('JWT_SECRET');
    expect(environment).toContain('LC_ALL=C');
  });

  test('listens on a socket in the data directory alone, for its user and root', async () => {
    const layout = await preparedDataDirectory();
    const { connection } = await start(layout);
    expect(connection.host).toBe(layout.socketDirectory);
    expect(connection.password).toBeUndefined();
    const [row] = await query<Record<string, string>>(
      connection,
      `select current_setting('listen_addresses') as tcp, current_setting('unix_socket_permissions') as mode`,
    );
    expect(row).toEqual({ tcp: '', mode: '0700' });
  });
});

describe('a stop', () => {
  test('leaves no process and no mark, however often it is asked for', async () => {
    const layout = await preparedDataDirectory();
    const postgres = await start(layout);
    await Promise.all([postgres.stop(), postgres.stop()]);
    await postgres.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
    expect(existsSync(postmasterFileOf(layout.files))).toBe(false);
    expect(existsSync(layout.serviceMark)).toBe(false);
    expect(readFileSync(layout.logFile, 'utf8')).toContain('database system is shut down');
  });

  test('does not wait for open transactions', async () => {
    const postgres = await start(await preparedDataDirectory());
    const client = new Client(postgres.connection);
    client.on('error', () => {});
    await client.connect();
    await client.query('begin; create table never (id int)');
    const end = dropped(client);
    const begin = performance.now();
    await postgres.stop();
    await end;
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  test('forces a PostgreSQL that does not react, and loses nothing', async () => {
    const layout = await preparedDataDirectory();
    const { connection } = await start(layout, 'command');
    await query(connection, 'create table kept as select 1 as id');
    process.kill(await postmasterOf(layout), 'SIGSTOP');
    await shutDown(layout.files, { fast: 50, immediate: 50 });
    expect(postgresProcessesIn(layout.files)).toEqual([]);
    expect(existsSync(postmasterFileOf(layout.files))).toBe(false);
    expect(await query((await start(layout)).connection, 'select id from kept')).toEqual([{ id: 1 }]);
  });

  test('ends PostgreSQL also when its directory was removed under it', async () => {
    const layout = await preparedDataDirectory();
    const postgres = await start(layout);
    const postmaster = await postmasterOf(layout);
    await rm(layout.dataDirectory, { recursive: true, maxRetries: 5 });
    await postgres.stop();
    expect(existsSync(`/proc/${postmaster}/cwd`)).toBe(false);
  });
});

describe('data', () => {
  test('outlives a restart', async () => {
    const layout = await preparedDataDirectory();
    const first = await start(layout);
    await query(first.connection, `create table kept as select 'Zoë'::text as name`);
    await first.stop();
    const second = await start(layout);
    expect(await query(second.connection, 'select name from kept')).toEqual([{ name: 'Zoë' }]);
  });

  test('that was acknowledged outlives the killing of everything at once', async () => {
    const layout = await preparedDataDirectory();
    const service = startHalyardProcess('service', layout.dataDirectory);
    const connection = await service.ready;
    await query(connection, 'create table written (number int)');
    let acknowledged = 0;
    const writer = new Client(connection);
    writer.on('error', () => {});
    await writer.connect();
    const writing = (async () => {
      for (;;) {
        await writer.query('insert into written values ($1)', [acknowledged + 1]);
        acknowledged += 1;
      }
    })().catch(() => {});
    await until(() => acknowledged > 200);
    for (const processId of postgresProcessesIn(layout.files)) process.kill(processId, 'SIGKILL');
    await service.kill();
    await writing;

    const { connection: later } = await start(layout);
    const [row] = await query<{ count: number; last: number }>(
      later,
      'select count(*)::int as count, max(number) as last from written',
    );
    expect(row?.count).toBe(row?.last);
    // The one that was under way may have come through without its acknowledgement.
    expect([acknowledged, acknowledged + 1]).toContain(row?.count);
  });
});

describe('after a kill of Halyard alone', () => {
  test('the next start attaches to the PostgreSQL that still runs', async () => {
    const layout = await preparedDataDirectory();
    const killed = startHalyardProcess('service', layout.dataDirectory);
    await killed.ready;
    const postmaster = await postmasterOf(layout);
    await killed.kill();
    expect(isPostgresIn(layout.files, postmaster)).toBe(true);

    const { connection, said, stop } = await start(layout);
    expect(said).toEqual([expect.stringContaining('already runs')]);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await postmasterOf(layout)).toBe(postmaster);
    await stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });
});

describe('after a crash of the machine', () => {
  test('an old postmaster.pid whose number belongs to another program is seen through', async () => {
    const layout = await preparedDataDirectory();
    await (await start(layout)).stop();
    const { uid, gid } = chooseServerUser(layout.files);
    const other = spawn('sleep', ['1000'], isRoot ? { uid, gid } : {});
    sleepers.push(other);
    await once(other, 'spawn');
    const lines = [other.pid, layout.files, 1, 5432, layout.socketDirectory, '', '0 0', 'ready   '];
    await writeFile(postmasterFileOf(layout.files), `${lines.join('\n')}\n`);

    const { connection } = await start(layout);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await postmasterOf(layout)).not.toBe(other.pid);
    expect(other.exitCode).toBeNull();
  });

  test('a child of PostgreSQL that goes on without it is ended before a new one starts', async () => {
    const layout = await preparedDataDirectory();
    const service = startHalyardProcess('service', layout.dataDirectory);
    const connection = await service.ready;
    await query(connection, 'create table kept as select 1 as id');
    const busy = new Client(connection);
    busy.on('error', () => {});
    await busy.connect();
    const [row] = (await busy.query('select pg_backend_pid() as id')).rows as { id: number }[];
    const child = row?.id ?? 0;
    // Never looks up from its work.
    void busy.query('do $$ begin loop end loop; end $$').catch(() => {});
    await service.kill();
    process.kill(await postmasterOf(layout), 'SIGKILL');
    expect(isPostgresIn(layout.files, child)).toBe(true);

    const { connection: later } = await start(layout);
    expect(isPostgresIn(layout.files, child)).toBe(false);
    expect(await query(later, 'select id from kept')).toEqual([{ id: 1 }]);
    await busy.end().catch(() => {});
  });
});
