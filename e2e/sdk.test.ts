import { clearCache, GrowthBook, GrowthBookClient, setPolyfills } from '@growthbook/growthbook';
import { type SdkConnection, toggleFeature, updateFeature } from '@halyard/contract';
import { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, databaseUrl, type TestDatabase } from '../packages/server/testing/database.ts';
import { payloadOf } from '../packages/server/testing/delivery.ts';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';

/** The published JavaScript SDK, as it is, against running services: two processes on one database. */

let database: TestDatabase;
let dataDirectory: DataDirectory;
let first: Halyard;
let second: Halyard;
let owner: { id: string };

beforeAll(async () => {
  database = await createDatabase();
  dataDirectory = await newDataDirectory();
  const environment = { DATABASE_URL: databaseUrl(database.address), HALYARD_DATA_DIR: dataDirectory.path };
  first = await startHalyard(environment);
  second = await startHalyard(environment);
  owner = await database.db.selectFrom('person').select('id').executeTakeFirstOrThrow();
  setPolyfills({ EventSource });
});

const sdks: { destroy(): void }[] = [];

afterEach(async () => {
  for (const sdk of sdks.splice(0)) sdk.destroy();
  await clearCache();
});

afterAll(async () => {
  await endAll();
  await database.drop();
  await dataDirectory.remove();
});

const where = (halyard: Halyard, connection: SdkConnection) => ({
  apiHost: halyard.url,
  clientKey: connection.key,
  ...(connection.encryptPayload ? { decryptionKey: connection.encryptionKey } : {}),
});

/** Waits until a process delivers everything that has been written so far. */
async function caughtUp(halyard: Halyard, { key }: SdkConnection): Promise<void> {
  const { version } = await database.db.selectFrom('current_version').select('version').executeTakeFirstOrThrow();
  await payloadOf(halyard.url, key, version);
}

/** The SDK of a server: many users. */
async function serverSdk(halyard: Halyard, connection: SdkConnection): Promise<GrowthBookClient> {
  await caughtUp(halyard, connection);
  const sdk = new GrowthBookClient(where(halyard, connection));
  sdks.push(sdk);
  expect(await sdk.init({ timeout: 5_000 })).toEqual({ success: true, source: 'network' });
  return sdk;
}

/** The SDK of an app: one user, and a stream by which it hears of changes. */
async function streamingSdk(halyard: Halyard, connection: SdkConnection): Promise<GrowthBook> {
  await caughtUp(halyard, connection);
  const sdk = new GrowthBook({ ...where(halyard, connection), attributes: { id: 'a user' } });
  sdks.push(sdk);
  expect(await sdk.init({ streaming: true, timeout: 5_000 })).toEqual({ success: true, source: 'network' });
  return sdk;
}

const becomes = (sdk: GrowthBook, feature: string, value: unknown) =>
  expect.poll(() => sdk.evalFeature(feature).value, { interval: 10, timeout: 5_000 }).toEqual(value);

const make = (body: Parameters<typeof newFeature>[1]) => newFeature({ admin: first.admin, owner }, body);

describe.each([
  ['plain', {}],
  ['encrypted', { encryptPayload: true }],
])('the JavaScript SDK on a connection that is %s', (_, options) => {
  let connection: SdkConnection;
  beforeAll(async () => {
    connection = await newConnection(first.admin, options);
  });

  test('evaluates what was created over the API: conditions, rollouts, the default', async () => {
    const { id } = await make({
      valueType: 'string',
      defaultValue: 'everyone',
      rules: [
        { type: 'force', value: 'germans', condition: '{"country":"DE"}', allEnvironments: true },
        { type: 'rollout', value: 'half', coverage: 0.5, hashAttribute: 'id', allEnvironments: true },
      ],
    });
    const sdk = await serverSdk(first, connection);
    const values = Array.from({ length: 400 }, (_user, index) => {
      const attributes = { id: `user ${index}`, country: index < 20 ? 'DE' : 'FR' };
      return sdk.evalFeature(id, { attributes }).value;
    });
    expect(new Set(values.slice(0, 20))).toEqual(new Set(['germans']));
    const half = values.slice(20).filter((value) => value === 'half').length;
    expect(half).toBeGreaterThan(130);
    expect(half).toBeLessThan(250);
    expect(new Set(values.slice(20))).toEqual(new Set(['half', 'everyone']));
  });

  test('evaluates a feature whose prerequisite is off as it should', async () => {
    const parent = await make({ defaultValue: 'true', rules: [] });
    const child = await make({ defaultValue: 'true', prerequisites: [parent.id] });
    const user = { attributes: { id: 'a user' } };
    expect((await serverSdk(first, connection)).evalFeature(child.id, user).value).toBe(true);
    await first.admin.call(updateFeature, { params: { id: parent.id }, body: { defaultValue: 'false' } });
    await clearCache();
    expect((await serverSdk(first, connection)).evalFeature(child.id, user).value).toBe(null);
  });

  test('hears of changes by its stream, also from another process than the one that was told', async () => {
    const { id } = await make({ valueType: 'number', defaultValue: '1' });
    const sdk = await streamingSdk(second, connection);
    expect(sdk.evalFeature(id).value).toBe(1);
    for (const value of [2, 3, 0]) {
      await first.admin.call(updateFeature, { params: { id }, body: { defaultValue: String(value) } });
      await becomes(sdk, id, value);
    }
  });

  test('sees a toggle, there and back', async () => {
    const { id } = await make({ defaultValue: 'true' });
    const sdk = await streamingSdk(second, connection);
    const toggle = (enabled: boolean) =>
      first.admin.call(toggleFeature, { params: { id }, body: { environments: { production: enabled } } });
    expect(sdk.evalFeature(id)).toMatchObject({ value: true, source: 'defaultValue' });
    await toggle(false);
    await becomes(sdk, id, null);
    expect(sdk.evalFeature(id).source).toBe('unknownFeature');
    await toggle(true);
    await becomes(sdk, id, true);
  });
});
