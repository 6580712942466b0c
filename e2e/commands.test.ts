import { getFeature, listProjects } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../packages/server/testing/client.ts';
import { createDatabase, databaseUrl, type TestDatabase } from '../packages/server/testing/database.ts';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  runProgram,
  startHalyard,
} from '../packages/server/testing/halyard.ts';

/** The operator's commands, as programs, beside a running service and without one. */

describe.each(['its own PostgreSQL', 'a PostgreSQL that is given'])('the commands of a service on %s', (kind) => {
  let directory: DataDirectory;
  let database: TestDatabase | null;
  let environment: Record<string, string>;
  let halyard: Halyard;

  beforeAll(async () => {
    directory = await newDataDirectory();
    database = kind.startsWith('its') ? null : await createDatabase({ migrated: false });
    environment = {
      HALYARD_DATA_DIR: directory.path,
      ...(database === null ? {} : { DATABASE_URL: databaseUrl(database.address) }),
    };
    halyard = await startHalyard(environment);
  });
  afterAll(async () => {
    await endAll();
    await database?.drop();
    await directory.remove();
  });

  const run = async (...line: string[]) => {
    const [name = '', ...given] = line;
    return runProgram(`commands/${name}`, given, environment);
  };

  test('a key is made, works, is listed without its text, and is disabled everywhere at once', async () => {
    const made = await run('keys', 'create', '--role', 'readonly', '--description', 'For the test', '--expires', '30d');
    expect(made.code).toBe(0);
    const key = made.stdout.trim();
    const reader = client(halyard.url, key);
    await reader.call(listProjects);
    const listed = await run('keys', 'list');
    expect(listed.stdout).toContain('For the test');
    expect(listed.stdout).not.toContain(key);
    const id =
      listed.stdout
        .split('\n')
        .find((line) => line.includes('For the test'))
        ?.split('\t')[0] ?? '';
    expect((await run('keys', 'disable', id)).stdout).toBe(`Key ${id} is disabled.\n`);
    await reader.refused(401, listProjects);
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`^${id}\t.*disabled`, 'm'));
  });

  test.each([
    [['keys'], 'usage: npm run keys'],
    [['keys'], '--role readonly | admin'],
    [['keys', 'create', '--role', 'king'], 'king'],
    [['keys', 'create', '--expires', 'soon'], '--expires'],
    [['keys', 'create', '--expires', '2001-01-01'], 'past'],
    [['keys', 'create', '--expires', '2030-02-30'], '--expires'],
    [['keys', 'create', '--surprise'], '--surprise'],
    [['keys', 'create', 'readonly'], 'readonly: nothing is known of that'],
    [['keys', 'list', 'more'], 'more: nothing is known of that'],
    [['keys', 'disable', 'key_a', 'key_b'], 'key_b: nothing is known of that'],
    [['organizations', 'list', 'all'], 'all: nothing is known of that'],
    [['keys', 'disable'], 'usage: npm run keys'],
    [['keys', 'disable', 'key_none'], 'key_none'],
    [['keys', 'list', '--organization', 'org_none'], 'org_none'],
    [['organizations'], 'usage: npm run organizations'],
    [['organizations', 'create', '--name', 'Acme'], 'usage: npm run organizations'],
    [['organizations', 'create', '--name', 'Acme', '--owner-email', 'nobody'], 'e-mail'],
  ])('%j is refused with a line that helps', async (line, expected) => {
    const { code, stdout, stderr } = await run(...line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(expected);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('a second organization has its own keys, which the running service takes at once', async () => {
    const made = await run('organizations', 'create', '--name', 'Acme', '--owner-email', 'ann@acme.test', '--admin');
    const id = made.stdout.trim();
    expect(made.code).toBe(0);
    expect((await run('organizations', 'list')).stdout).toContain(`${id}\tAcme\tann@acme.test`);
    const unclear = await run('keys', 'list');
    expect(unclear.code).toBe(1);
    expect(unclear.stderr).toContain(id);
    const { stdout } = await run('keys', 'create', '--organization', id);
    const acme = client(halyard.url, stdout.trim());
    expect((await acme.call(listProjects)).projects).toEqual([]);
    await acme.refused(404, getFeature, { params: { id: 'of-another' } });
  });

  test('there is nothing left to migrate', async () => {
    expect(await run('migrate')).toMatchObject({ code: 0, stdout: 'The database is up to date.\n' });
  });

  test('without a running service they work as well, and leave nothing running', async () => {
    await halyard.end('SIGTERM');
    const { code, stdout } = await run('keys', 'list');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect((await run('organizations', 'list')).stdout.trimEnd().split('\n')).toHaveLength(2);
    halyard = await startHalyard(environment);
    expect(halyard.greeting).not.toContain('already runs');
  });
});

test('the description of the interface is printed alone, without starting anything', async () => {
  const { code, stdout, stderr } = await runProgram('commands/openapi', [], {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
});
