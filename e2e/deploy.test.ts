import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type SdkConnection, updateFeature } from '@halyard/contract';
import type { Payload } from '@halyard/evaluation';
import { afterAll, describe, expect, test } from 'vitest';
import { settingsTable } from '../packages/server/src/platform/index.ts';
import { createDatabase, databaseUrl, type TestDatabase } from '../packages/server/testing/database.ts';
import { fetchPayload } from '../packages/server/testing/delivery.ts';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  runProgram,
  startEdge,
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';
import { type ComposedService, deployFile, filledIn, readCompose } from './compose.ts';

/** What lies in `deploy`: that it names what there is, and that the layout it describes works. */

const settings = Object.keys(settingsTable);
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};
const commands = Object.keys(scripts);
const ours = (name: string): [string, ComposedService][] =>
  Object.entries(readCompose(name).services).filter(([, { image }]) => image === 'halyard');
const variablesOfTheShell = ['POSTGRES_PASSWORD'];

describe.each(['compose.yaml', 'compose.several.yaml'])('deploy/%s', (file) => {
  test('names only settings, commands, volumes and files that exist', () => {
    const { volumes } = readCompose(file);
    expect(ours(file).length).toBeGreaterThan(0);
    for (const [, { command = [], environment = {}, volumes: mounted = [], build }] of ours(file)) {
      expect(settings).toEqual(expect.arrayContaining(Object.keys(environment)));
      expect(commands).toContain(command[0]);
      expect(Object.keys(volumes)).toEqual(expect.arrayContaining(mounted.map((mount) => mount.split(':')[0])));
      for (const mount of mounted) expect(deployFile('Dockerfile')).toContain(`VOLUME ${mount.split(':')[1]}`);
      if (build === undefined) continue;
      const context = new URL(`../deploy/${build.context}/`, import.meta.url);
      expect(existsSync(fileURLToPath(new URL(build.dockerfile, context)))).toBe(true);
    }
  });

  test('asks the operator only for settings, and for the password of the database', () => {
    const asked = [...deployFile(file).matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    expect([...settings, ...variablesOfTheShell]).toEqual(expect.arrayContaining(asked));
  });
});

describe('deploy/Dockerfile', () => {
  const dockerfile = deployFile('Dockerfile');
  test('sets only what is a setting, runs as nobody special, and its commands exist', () => {
    const [, set = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
    const names = [...set.matchAll(/(\w+)=/g)].map(([, name]) => name);
    expect(names).toEqual(['HOST', 'PORT', 'HALYARD_DATA_DIR']);
    expect(settings).toEqual(expect.arrayContaining(names));
    expect(set).toContain('HOST=0.0.0.0');
    expect(dockerfile).toMatch(/^USER node$/m);
    const [, command] = /^CMD \["(\w+)"\]$/m.exec(dockerfile) ?? [];
    expect(commands).toContain(command);
    const [, entry = ''] = /^ENTRYPOINT \["node", "([^"]+)"\]$/m.exec(dockerfile) ?? [];
    expect(existsSync(fileURLToPath(new URL(`../${entry}`, import.meta.url)))).toBe(true);
    for (const [, name] of dockerfile.matchAll(/npm run (?:--silent )?(\w+)/g)) expect(commands).toContain(name);
  });

  test('has the Node that the service runs on', () => {
    expect(dockerfile).toMatch(new RegExp(`^FROM node:${process.versions.node.split('.')[0]}-\\w+-slim$`, 'm'));
  });
});

/** Passes connections on to several servers in turn, as the name does that both services answer to. */
async function oneName(...ports: number[]): Promise<{ url: string; server: Server }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const open = (left: number) => {
      const behind = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1');
      let isOpen = false;
      behind.on('connect', () => {
        isOpen = true;
        client.pipe(behind).pipe(client);
      });
      // One that does not answer is passed over, as the resolver's next address would be tried.
      behind.on('error', () => (isOpen || left === 0 ? client.destroy() : open(left - 1)));
      behind.on('close', () => isOpen && client.destroy());
      client.on('close', () => behind.destroy());
    };
    client.on('error', () => client.destroy());
    sockets.add(client);
    open(ports.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port.');
  server.on('close', () => sockets.forEach((socket) => socket.destroy()));
  return { url: `http://127.0.0.1:${address.port}`, server };
}

describe('the layout of deploy/compose.several.yaml, as processes', () => {
  const directories: DataDirectory[] = [];
  let database: TestDatabase | undefined;
  let name: Awaited<ReturnType<typeof oneName>> | undefined;
  afterAll(async () => {
    await endAll();
    name?.server.close();
    await database?.drop();
    for (const directory of directories) await directory.remove();
  });
  const ownDirectory = async () => {
    const directory = await newDataDirectory();
    directories.push(directory);
    return directory.path;
  };

  test('two services on one database and an edge that follows both: a change anywhere is served everywhere, and one may die', async () => {
    const made = await createDatabase();
    database = made;
    const variables = {
      POSTGRES_PASSWORD: 'of no use here',
      JWT_SECRET: 'a secret that only this test uses, of 32 characters or more',
      DATA_ENCRYPTION_KEY: '5c'.repeat(32),
      HALYARD_ADMIN_EMAIL: 'you@example.com',
    };
    const composed = new Map(ours('compose.several.yaml'));
    const environmentOf = async (service: string, more: Record<string, string>) => {
      const entries = Object.entries(composed.get(service)?.environment ?? {});
      const filled = entries.map(([key, value]): [string, string] => [key, filledIn(value, { ...variables, ...more })]);
      return { ...Object.fromEntries(filled), LOG_LEVEL: 'warn', PORT: '0', HALYARD_DATA_DIR: await ownDirectory() };
    };
    const service = async (which: string) => {
      const environment = await environmentOf(which, {});
      return startHalyard({
        ...environment,
        DATABASE_URL: databaseUrl(made.address),
        SECRET_API_KEY: 'secret_of_this_test',
      });
    };
    const first = await service('halyard-1');
    const second = await service('halyard-2');
    const owner = await made.db.selectFrom('person').select('id').executeTakeFirstOrThrow();

    const connection = await newConnection(first.admin, { encryptPayload: false });
    const { id } = await newFeature({ admin: first.admin, owner }, { valueType: 'number', defaultValue: '1' });

    // As the comment of the file says: a readonly key, made by the operator's command.
    const keys = await runProgram('commands/keys', ['create', '--role', 'readonly'], {
      DATABASE_URL: databaseUrl(made.address),
      HALYARD_DATA_DIR: await ownDirectory(),
    });
    expect(keys.code).toBe(0);
    name = await oneName(...[first, second].map(({ url }) => Number(new URL(url).port)));
    const edge = await startEdge({
      ...(await environmentOf('edge', { HALYARD_EDGE_SECRET_KEY: keys.stdout.trim() })),
      HALYARD_UPSTREAM: name.url,
    });

    const valueAt = async (url: string, { key }: SdkConnection) => {
      const response = await fetchPayload(url, key);
      return response.status === 200
        ? ((await response.json()) as Payload).features[id]?.defaultValue
        : response.status;
    };
    const everywhere = async (value: number, urls: string[]) => {
      for (const url of urls)
        await expect.poll(() => valueAt(url, connection), { timeout: 20_000, interval: 50 }).toBe(value);
    };
    const change = (at: Halyard, value: number) =>
      at.admin.call(updateFeature, { params: { id }, body: { defaultValue: String(value) } });
    await everywhere(1, [first.url, second.url, edge.url]);
    await change(second, 2);
    await everywhere(2, [first.url, second.url, edge.url]);

    await first.end('SIGKILL');
    await change(second, 3);
    await everywhere(3, [second.url, edge.url]);
    const age = async () => (await fetchPayload(edge.url, connection.key)).headers.get('x-service-config-age');
    await expect.poll(age, { timeout: 20_000 }).toBeNull();
    await second.end('SIGKILL');
    await expect.poll(age, { timeout: 20_000 }).toMatch(/^\d+$/);
    expect(await valueAt(edge.url, connection)).toBe(3);
  }, 120_000);
});
