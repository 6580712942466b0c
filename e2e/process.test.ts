import { createServer } from 'node:net';
import { getFeature } from '@halyard/contract';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, databaseUrl } from '../packages/server/testing/database.ts';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  runProgram,
  secretKey,
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newFeature } from '../packages/server/testing/objects.ts';

/** The life of the service's process: how it starts, refuses to start, is killed and stopped. */

let directory: DataDirectory;
beforeEach(async () => {
  directory = await newDataDirectory();
});
afterEach(async () => {
  await endAll();
  await directory.remove();
});

const start = (environment: Record<string, string> = {}) =>
  startHalyard({ HALYARD_DATA_DIR: directory.path, ...environment });

/** The only line of a refused start. */
async function refusal(environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runProgram('main', [], {
    HALYARD_DATA_DIR: directory.path,
    PORT: '0',
    ...environment,
  });
  expect({ code, lines: stderr.trimEnd().split('\n'), ready: stdout.includes('Halyard is ready') }).toEqual({
    code: 1,
    lines: [expect.any(String)],
    ready: false,
  });
  return stderr.trimEnd();
}

async function makeFeature(halyard: Halyard): Promise<string> {
  const owner = { id: 'admin@localhost' };
  return (await newFeature({ admin: halyard.admin, owner }, { defaultValue: 'true' })).id;
}

describe('with a PostgreSQL of its own', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops it in order, and nothing is lost', async (signal) => {
    const halyard = await start();
    expect((await fetch(`${halyard.url}/healthz`)).status).toBe(200);
    const id = await makeFeature(halyard);
    const { code, stdout, stderr } = await halyard.end(signal);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('Stopped.');
    const again = await start();
    expect((await again.admin.call(getFeature, { params: { id } })).feature.id).toBe(id);
    expect(again.greeting).not.toContain('Made the organization');
  });

  test('killed, it leaves its PostgreSQL running, which the next one uses', async () => {
    const halyard = await start();
    const id = await makeFeature(halyard);
    await halyard.end('SIGKILL');
    const again = await start();
    expect(again.greeting).toContain('already runs');
    expect((await again.admin.call(getFeature, { params: { id } })).feature.id).toBe(id);
  });

  test('a second service on its data directory is refused', async () => {
    await start();
    expect(await refusal({})).toContain(directory.path);
  });
});

describe('the first start', () => {
  test('makes the organization and the admin that the settings name', async () => {
    const { greeting } = await start({ HALYARD_ADMIN_EMAIL: 'Ann@Example.com', HALYARD_ADMIN_NAME: 'Ann' });
    expect(greeting).toContain('ann@example.com');
    expect(greeting).toContain('The API takes the key that SECRET_API_KEY gives');
    expect(greeting).not.toContain('Make a secret key');
  });

  test('without a name it tells how to go on, and is ready all the same', async () => {
    const { greeting, url } = await start({ SECRET_API_KEY: '' });
    expect(greeting).toContain('HALYARD_ADMIN_EMAIL=');
    expect(greeting).toContain('npm run organizations -- create');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('one clear line ends a start', () => {
  test.each([
    ['PORT', 'eighty'],
    ['HOST', 'not a host'],
    ['DATABASE_URL', 'mysql://localhost/flags'],
    ['JWT_SECRET', 'short'],
    ['DATA_ENCRYPTION_KEY', 'not thirty-two bytes'],
    ['SECRET_API_KEY_ROLE', 'king'],
    ['LOG_LEVEL', 'loud'],
    ['ENTITLEMENTS', 'zork'],
    ['HOST', '999.1.1.1'],
    ['HOST', '192.0.2.1'],
  ])('with %s=%s', async (name, value) => {
    expect(await refusal({ [name]: value })).toMatch(new RegExp(`^Setting ${name}: `));
  });

  test('when another program has the port', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    expect(await refusal({ PORT: String(port) })).toMatch(/^Setting PORT: .*Set PORT to a free one/);
    other.close();
  });
});

test('a start whose database cannot be reached says so, waits for it, and can be stopped', async () => {
  const halyard = await start({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', LOG_LEVEL: 'silent' });
  expect(halyard.greeting).toContain('The database is away (connect ECONNREFUSED 127.0.0.1:1)');
  expect((await fetch(`${halyard.url}/healthz`)).status).toBe(200);
  const refused = await fetch(`${halyard.url}/v2/features`, { headers: { authorization: `Bearer ${secretKey}` } });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await halyard.end('SIGTERM')).code).toBe(0);
});

describe('on a database that several share', () => {
  const open: Awaited<ReturnType<typeof createDatabase>>[] = [];
  afterAll(async () => {
    for (const database of open) await database.drop();
  });

  test('a process with other secrets is refused', async () => {
    const database = await createDatabase();
    open.push(database);
    const DATABASE_URL = databaseUrl(database.address);
    await start({ DATABASE_URL });
    const other = await newDataDirectory();
    const line = await refusal({ DATABASE_URL, HALYARD_DATA_DIR: other.path });
    expect(line).toMatch(/^Setting JWT_SECRET: .*same/);
    await other.remove();
  });

  test('processes that start at once on an empty database make one organization', async () => {
    const database = await createDatabase({ migrated: false });
    open.push(database);
    const DATABASE_URL = databaseUrl(database.address);
    const services = await Promise.all([start({ DATABASE_URL }), start({ DATABASE_URL }), start({ DATABASE_URL })]);
    expect(await database.db.selectFrom('organization').select('id').execute()).toHaveLength(1);
    for (const { url } of services) expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
