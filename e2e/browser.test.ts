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
  startHalyard,
} from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';
import { type Site, startBrowser, startSite } from './support/browser.ts';

/** The browser build of the published JavaScript SDK in a real Chromium, on a page of another origin. */

/** What the page of the test holds. */
interface Shop {
  growthbook: { GrowthBook: typeof GrowthBook };
  sdk: GrowthBook;
  changes: number;
}

let directory: DataDirectory;
let halyard: Halyard;
let browser: Browser;
let site: Site;
let page: Page;

beforeAll(async () => {
  directory = await newDataDirectory();
  [halyard, browser, site] = await Promise.all([
    startHalyard({ HALYARD_DATA_DIR: directory.path }),
    startBrowser(),
    startSite(),
  ]);
});
beforeEach(async () => {
  page = await site.open(browser);
});
afterEach(() => page.context().close());
afterAll(async () => {
  await browser.close();
  site.stop();
  await endAll();
  await directory.remove();
});

const owner = { id: 'admin@localhost' };
const make = (body: Parameters<typeof newFeature>[1]) => newFeature({ admin: halyard.admin, owner }, body);

/** Starts the SDK on the page, as a site does, and waits until it has its features. */
async function startSdk(apiHost: string, connection: SdkConnection, options: object = {}): Promise<unknown> {
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

describe.each([
  ['plain', {}],
  ['encrypted', { encryptPayload: true }],
])('the SDK in a browser, on a connection that is %s', (_, options) => {
  test('evaluates what was created over the API, and hears of a change', async () => {
    const connection = await newConnection(halyard.admin, options);
    const { id } = await make({
      valueType: 'string',
      defaultValue: 'everyone',
      rules: [{ type: 'force', value: 'germans', condition: '{"country":"DE"}', allEnvironments: true }],
    });
    const other = await make({ valueType: 'json', defaultValue: '{"zero":0,"empty":[]}' });
    expect(await startSdk(halyard.url, connection)).toEqual({ success: true, source: 'network' });
    expect([await value(id), await value(other.id), await value('unknown')]).toEqual([
      'germans',
      { zero: 0, empty: [] },
      null,
    ]);
    await halyard.admin.call(updateFeature, { params: { id }, body: { rules: [] } });
    await expect.poll(() => value(id), { timeout: 5_000 }).toBe('everyone');
    await halyard.admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
    await expect.poll(() => value(id), { timeout: 5_000 }).toBeNull();
  });
});
