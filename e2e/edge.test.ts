import { clearCache, GrowthBook, setPolyfills } from '@growthbook/growthbook';
import { type SdkConnection, updateFeature } from '@halyard/contract';
import type { Payload } from '@halyard/evaluation';
import { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, databaseUrl, type TestDatabase } from '../packages/server/testing/database.ts';
import { fetchPayload } from '../packages/server/testing/delivery.ts';
import {
  type DataDirectory,
  endAll,
  freePort,
  type Halyard,
  newDataDirectory,
  type RunningProgram,
  runProgram,
  secretKey,
  startEdge,
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';

/** An edge, its upstream and the published SDK, each as a process of its own or as it is. */

let database: TestDatabase;
const directories: DataDirectory[] = [];
const sdks: GrowthBook[] = [];
let edgePort: string;
let upstreamPort: string;

beforeAll(async () => {
  database = await createDatabase();
  edgePort = await freePort();
  upstreamPort = await freePort();
  setPolyfills({ EventSource });
});
afterEach(async () => {
  for (const sdk of sdks.splice(0)) sdk.destroy();
  await clearCache();
  await endAll();
});
afterAll(async () => {
  await database.drop();
  for (const directory of directories) await directory.remove();
});

const newDirectory = async () => {
  const directory = await newDataDirectory();
  directories.push(directory);
  return directory.path;
};
let serviceDirectory: string | undefined;
const startService = async (port: string): Promise<Halyard> => {
  serviceDirectory ??= await newDirectory();
  return startHalyard({ PORT: port, DATABASE_URL: databaseUrl(database.address), HALYARD_DATA_DIR: serviceDirectory });
};
const start = (dataDirectory: string, more: Record<string, string> = {}): Promise<RunningProgram> =>
  startEdge({
    PORT: edgePort,
    HALYARD_DATA_DIR: dataDirectory,
    HALYARD_UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
    HALYARD_EDGE_SECRET_KEY: secretKey,
    ...more,
  });
const edgeUrl = () => `http://127.0.0.1:${edgePort}`;
const within = { timeout: 20_000, interval: 20 };

/** The published SDK on the edge, with its stream. */
async function streamingSdk({ key, encryptPayload, encryptionKey }: SdkConnection): Promise<GrowthBook> {
  const decryption = encryptPayload ? { decryptionKey: encryptionKey } : {};
  const sdk = new GrowthBook({ apiHost: edgeUrl(), clientKey: key, attributes: { id: 'a user' }, ...decryption });
  sdks.push(sdk);
  expect(await sdk.init({ streaming: true, timeout: 5_000, skipCache: true })).toEqual({
    success: true,
    source: 'network',
  });
  return sdk;
}

/** Asks for a payload all the time, and notes what it is told. */
function watch(connection: SdkConnection, feature: string) {
  const versions: number[] = [];
  const values: unknown[] = [];
  const refusals: string[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const response = await fetchPayload(edgeUrl(), connection.key).catch(() => null);
      if (response?.status === 200) {
        versions.push(Number(response.headers.get('x-service-config-version')));
        values.push(((await response.json()) as Payload).features[feature]?.defaultValue);
      } else if (response !== null) refusals.push(await response.text());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    versions,
    values,
    refusals,
    async end() {
      ending.abort();
      await watching;
    },
  };
}

describe('an edge', () => {
  test('serves on while its upstream is killed, after a start without it, and the newer flags when it is back', async () => {
    const upstream = await startService(upstreamPort);
    const owner = await database.db.selectFrom('person').select('id').executeTakeFirstOrThrow();
    const { admin } = upstream;
    const plain = await newConnection(admin);
    const encrypted = await newConnection(admin, { encryptPayload: true });
    const { id } = await newFeature({ admin, owner }, { valueType: 'number', defaultValue: '1' });
    const change = (at: Halyard, value: number) =>
      at.admin.answer(updateFeature, { params: { id }, body: { defaultValue: String(value) } });

    const directory = await newDirectory();
    const edge = await start(directory);
    expect(edge.greeting).toContain(`Halyard edge is ready at ${edgeUrl()}`);
    const age = async () => (await fetchPayload(edgeUrl(), plain.key)).headers.get('x-service-config-age');
    for (const connection of [plain, encrypted]) {
      await expect.poll(async () => (await fetchPayload(edgeUrl(), connection.key)).status, within).toBe(200);
    }
    const watchers = [watch(plain, id)];
    const streaming = [await streamingSdk(plain), await streamingSdk(encrypted)];
    const allSee = async (value: number) => {
      for (const sdk of streaming) await expect.poll(() => sdk.evalFeature(id).value, within).toBe(value);
    };
    await allSee(1);
    await change(upstream, 2);
    await allSee(2);
    await expect.poll(age, within).toBeNull();

    await upstream.end('SIGKILL');
    await expect.poll(age, within).toMatch(/^\d+$/);
    const local = await streamingSdk(encrypted);
    expect(local.evalFeature(id).value).toBe(2);

    await edge.end('SIGKILL');
    const restarted = await start(directory);
    expect(restarted.greeting).toContain('Halyard edge is ready');
    expect(await age()).toMatch(/^\d+$/);
    const first = Number(await age());
    await expect.poll(async () => Number(await age()), within).toBeGreaterThan(first);
    expect((await streamingSdk(plain)).evalFeature(id).value).toBe(2);

    // The flags go on elsewhere, while the address of the upstream stays dead.
    const elsewhere = await startService('0');
    await change(elsewhere, 3);
    const { version } = await change(elsewhere, 4);
    expect(watchers[0]?.values.at(-1)).toBe(2);
    const early = await fetchPayload(edgeUrl(), plain.key, { 'X-Service-Min-Config-Version': String(version) });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);

    await startService(upstreamPort);
    await expect.poll(() => watchers[0]?.values.at(-1), within).toBe(4);
    await allSee(4);
    await expect.poll(age, within).toBeNull();
    for (const { versions, values, refusals, end } of watchers) {
      await end();
      expect(versions.length).toBeGreaterThan(100);
      expect(versions).toEqual(versions.toSorted((one, other) => one - other));
      expect(values).toEqual(values.toSorted((one, other) => Number(one) - Number(other)));
      expect(refusals).toEqual([]);
    }
  }, 120_000);

  test('without an upstream and without a copy says that it waits, and becomes ready by itself', async () => {
    const edge = await start(await newDirectory());
    expect(edge.greeting).toMatch(/^The edge listens at \S+ and waits for http:\S+: it has nothing to serve yet\.$/m);
    const status = async (path: string) => (await fetch(`${edgeUrl()}${path}`)).status;
    expect(await Promise.all([status('/healthz'), status('/readyz')])).toEqual([200, 503]);
    const unknown = async () => (await fetchPayload(edgeUrl(), 'sdk-unknown')).headers.get('x-unrecoverable');
    expect(await unknown()).toBeNull();
    await startService(upstreamPort);
    await expect.poll(() => status('/readyz'), within).toBe(200);
    await expect.poll(unknown, within).toBe('1');
    await expect.poll(edge.output, within).toContain(`Halyard edge is ready at ${edgeUrl()}`);
    const { stdout, stderr, code } = await edge.end('SIGTERM');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Stopping \(SIGTERM\) …\nStopped\.\n$/);
    expect(stderr).not.toContain(secretKey);
  }, 60_000);

  test('lets answers end and closes its streams when it is told to stop', async () => {
    const { admin } = await startService(upstreamPort);
    const connection = await newConnection(admin);
    const edge = await start(await newDirectory());
    await expect.poll(async () => (await fetchPayload(edgeUrl(), connection.key)).status, within).toBe(200);
    const stream = await fetch(`${edgeUrl()}/sub/${connection.key}`);
    const end = stream.text();
    expect((await edge.end('SIGTERM')).code).toBe(0);
    expect(await end).toContain('retry: 10000');
  }, 60_000);

  test.each([
    [{ HALYARD_UPSTREAM: '' }, 'Setting HALYARD_UPSTREAM: an edge needs the address'],
    [{ HALYARD_UPSTREAM: 'flags.example.com' }, 'Setting HALYARD_UPSTREAM: must be an http(s) address.'],
    [{ HALYARD_EDGE_SECRET_KEY: '' }, 'Setting HALYARD_EDGE_CLIENT_KEYS: an edge needs client keys'],
    [{ HALYARD_EDGE_CLIENT_KEYS: 'secret_x' }, 'Setting HALYARD_EDGE_CLIENT_KEYS: holds a secret key'],
    [{ HALYARD_DATA_DIR: '/dev/null' }, 'The data directory /dev/null cannot be used'],
  ])('does not start with %j, and says why in one line', async (wrong, line) => {
    const settings = {
      PORT: '0',
      HALYARD_UPSTREAM: 'http://127.0.0.1:1',
      HALYARD_EDGE_SECRET_KEY: 'secret_x',
      ...wrong,
    };
    const { code, stdout, stderr } = await runProgram('edge', [], { HALYARD_DATA_DIR: '/tmp', ...settings });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(line)]);
  });
});
