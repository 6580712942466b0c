import type { GrowthBook } from '@growthbook/growthbook';
import { type SdkConnection, toggleFeature, updateFeature } from '@halyard/contract';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { payloadOf } from '../packages/server/testing/delivery.ts';
import {
  type DataDirectory,
  endAll,
  type Halyard,
  newDataDirectory,
  type RunningProgram,
  secretKey,
  startEdge,
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';
import { type Site, startBrowser, startSite } from './support/browser.ts';

/** The browser build of the published JavaScript SDK in a real Chromium, on a page of another origin: with a service and with an edge. */

/** What the page of the test holds. */
interface Shop {
  growthbook: { GrowthBook: typeof GrowthBook };
  sdk: GrowthBook;
  changes: number;
}

const directories: DataDirectory[] = [];
let halyard: Halyard;
let edge: RunningProgram;
/** There before the edge is, which looks for new ones once a minute only. */
let connections: Record<'plain' | 'encrypted' | 'remote', SdkConnection>;
let browser: Browser;
let site: Site;
let page: Page;

beforeAll(async () => {
  const newPath = async () => {
    const directory = await newDataDirectory();
    directories.push(directory);
    return directory.path;
  };
  [halyard, browser, site] = await Promise.all([
    startHalyard({ HALYARD_DATA_DIR: await newPath() }),
    startBrowser(),
    startSite(),
  ]);
  connections = {
    plain: await newConnection(halyard.admin),
    encrypted: await newConnection(halyard.admin, { encryptPayload: true }),
    remote: await newConnection(halyard.admin, { remoteEvalEnabled: true }),
  };
  edge = await startEdge({
    HALYARD_DATA_DIR: await newPath(),
    HALYARD_UPSTREAM: halyard.url,
    HALYARD_EDGE_SECRET_KEY: secretKey,
  });
});
beforeEach(async () => {
  page = await site.open(browser);
});
afterEach(() => page.context().close());
afterAll(async () => {
  await browser.close();
  site.stop();
  await endAll();
  for (const directory of directories) await directory.remove();
});

const owner = { id: 'admin@localhost' };
const make = (body: Parameters<typeof newFeature>[1]) => newFeature({ admin: halyard.admin, owner }, body);

/** Starts the SDK on the page, as a site does, and waits until it has its features. */
async function startSdk(
  apiHost: string,
  connection: SdkConnection,
  options: { remoteEval?: boolean },
): Promise<unknown> {
  const { version } = await halyard.admin.answer(toggleFeature, {
    params: { id: (await make({})).id },
    body: { environments: { production: false } },
  });
  if (connection.remoteEvalEnabled !== true) await payloadOf(apiHost, connection.key, version);
  const decryptionKey = connection.encryptPayload ? { decryptionKey: connection.encryptionKey } : {};
  const settings = { apiHost, clientKey: connection.key, attributes: { id: 'u1', country: 'DE' }, ...decryptionKey };
  return page.evaluate(
    async (given) => {
      const shop = globalThis as unknown as Shop;
      shop.sdk = new shop.growthbook.GrowthBook(given);
      shop.changes = 0;
      shop.sdk.setRenderer(() => {
        shop.changes++;
      });
      return shop.sdk.init({ streaming: true, timeout: 5_000 });
    },
    { ...settings, ...options },
  );
}

const value = (id: string) => page.evaluate((key) => (globalThis as unknown as Shop).sdk.evalFeature(key).value, id);

const places = [
  ['a service', () => halyard.url],
  ['an edge', () => edge.url],
] as const;

describe.each(places)('the SDK in a browser, with %s', (_place, url) => {
  test.each(['plain', 'encrypted', 'remote'] as const)(
    'on a connection that is %s evaluates what was created over the API, and hears of a change',
    async (kind) => {
      const connection = connections[kind];
      const { id } = await make({
        valueType: 'string',
        defaultValue: 'everyone',
        rules: [{ type: 'force', value: 'germans', condition: '{"country":"DE"}', allEnvironments: true }],
      });
      const other = await make({ valueType: 'json', defaultValue: '{"zero":0,"empty":[]}' });
      const started = await startSdk(url(), connection, kind === 'remote' ? { remoteEval: true } : {});
      expect(started).toEqual({ success: true, source: 'network' });
      await expect.poll(() => value(id), { timeout: 5_000 }).toBe('germans');
      expect([await value(other.id), await value('unknown')]).toEqual([{ zero: 0, empty: [] }, null]);
      await halyard.admin.call(updateFeature, { params: { id }, body: { rules: [] } });
      await expect.poll(() => value(id), { timeout: 5_000 }).toBe('everyone');
      await halyard.admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
      await expect.poll(() => value(id), { timeout: 5_000 }).toBeNull();
    },
  );
});
