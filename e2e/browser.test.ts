import type { GrowthBook } from '@growthbook/growthbook';
import { type SdkConnection, toggleFeature, updateFeature } from '@halyard/contract';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newConnection } from '../packages/server/testing/objects.ts';
import { type Site, startBrowser, startSite } from './support/browser.ts';
import { type PlaceName, type Places, placeNames, startPlaces } from './support/places.ts';

/** The browser build of the published JavaScript SDK in a real Chromium, on a page of another origin: with a service and with an edge. */

/** What the page of the test holds. */
interface Shop {
  growthbook: { GrowthBook: typeof GrowthBook };
  sdk: GrowthBook;
  changes: number;
}

let places: Places;
let connections: Record<'plain' | 'encrypted' | 'remote', SdkConnection>;
let browser: Browser;
let site: Site;
let page: Page;

beforeAll(async () => {
  [places, browser, site] = await Promise.all([
    startPlaces(async ({ admin }) => {
      connections = {
        plain: await newConnection(admin),
        encrypted: await newConnection(admin, { encryptPayload: true }),
        remote: await newConnection(admin, { remoteEvalEnabled: true }),
      };
    }),
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
  await places.stop();
});

/** Starts the SDK on the page, as a site does, and waits until it has its features. */
async function startSdk(
  place: PlaceName,
  connection: SdkConnection,
  options: { remoteEval?: boolean },
): Promise<unknown> {
  await places.caughtUp(place, connection);
  const decryptionKey = connection.encryptPayload ? { decryptionKey: connection.encryptionKey } : {};
  const settings = {
    apiHost: places.url(place),
    clientKey: connection.key,
    attributes: { id: 'u1', country: 'DE' },
    ...decryptionKey,
  };
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

describe.each(placeNames)('the SDK in a browser, with a Halyard that is the %s', (place) => {
  test.each(['plain', 'encrypted', 'remote'] as const)(
    'on a connection that is %s evaluates what was created over the API, and hears of a change',
    async (kind) => {
      const connection = connections[kind];
      const { id } = await places.make({
        valueType: 'string',
        defaultValue: 'everyone',
        rules: [{ type: 'force', value: 'germans', condition: '{"country":"DE"}', allEnvironments: true }],
      });
      const other = await places.make({ valueType: 'json', defaultValue: '{"zero":0,"empty":[]}' });
      const started = await startSdk(place, connection, kind === 'remote' ? { remoteEval: true } : {});
      expect(started).toEqual({ success: true, source: 'network' });
      expect([await value(id), await value(other.id), await value('unknown')]).toEqual([
        'germans',
        { zero: 0, empty: [] },
        null,
      ]);
      await places.halyard.admin.call(updateFeature, { params: { id }, body: { rules: [] } });
      await expect.poll(() => value(id), { timeout: 5_000 }).toBe('everyone');
      await places.halyard.admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
      await expect.poll(() => value(id), { timeout: 5_000 }).toBeNull();
    },
  );
});
