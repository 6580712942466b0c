import { clearCache, GrowthBook, setPolyfills } from '@growthbook/growthbook';
import { type SdkConnection, updateFeature } from '@halyard/contract';
import { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newConnection } from '../packages/server/testing/objects.ts';
import { type Places, placeNames, startPlaces } from './support/places.ts';

/** The published JavaScript SDK, as it is, asking a running service, or an edge that follows it, for values instead of definitions. */

let places: Places;
let connection: SdkConnection;

beforeAll(async () => {
  places = await startPlaces(async ({ admin }) => {
    connection = await newConnection(admin, { remoteEvalEnabled: true });
  });
  setPolyfills({ EventSource });
});

const sdks: GrowthBook[] = [];

afterEach(async () => {
  for (const sdk of sdks.splice(0)) sdk.destroy();
  await clearCache();
});

afterAll(() => places.stop());

const becomes = (sdk: GrowthBook, feature: string, value: unknown) =>
  expect.poll(() => sdk.evalFeature(feature).value, { interval: 10, timeout: 5_000 }).toEqual(value);

/** An SDK that listens to the connection's stream. */
async function remoteSdk(apiHost: string, attributes: Record<string, unknown>): Promise<GrowthBook> {
  const sdk = new GrowthBook({ apiHost, clientKey: connection.key, remoteEval: true, attributes });
  sdks.push(sdk);
  expect(await sdk.init({ streaming: true, timeout: 5_000 })).toEqual({ success: true, source: 'network' });
  return sdk;
}

describe.each(placeNames)('with a Halyard that is the %s', (place) => {
  const url = () => places.url(place);
  test('it has the values of its user, not the rules behind them, and asks again when the user changes', async () => {
    const { id } = await places.make({
      valueType: 'string',
      defaultValue: 'everyone',
      rules: [
        { type: 'force', value: 'germans', condition: '{"country":"DE"}' },
        { type: 'rollout', value: 'rolled out', coverage: 1, hashAttribute: 'id', condition: '{"id":"u2"}' },
      ],
    });
    const sdk = await remoteSdk(url(), { id: 'u1', country: 'DE' });
    await becomes(sdk, id, 'germans');
    expect(JSON.stringify(sdk.getFeatures())).not.toContain('everyone');
    await sdk.setAttributes({ id: 'u1', country: 'FR' });
    await becomes(sdk, id, 'everyone');
    await sdk.setAttributes({ id: 'u2' });
    await becomes(sdk, id, 'rolled out');
  });

  test('it is told by its stream to ask again when a flag changes', async () => {
    const { id } = await places.make({ valueType: 'number', defaultValue: '1' });
    const sdk = await remoteSdk(url(), { id: 'u1' });
    await becomes(sdk, id, 1);
    for (const value of [2, 0]) {
      await places.halyard.admin.call(updateFeature, { params: { id }, body: { defaultValue: String(value) } });
      await becomes(sdk, id, value);
    }
    expect(sdk.getFeatures()[id]).toEqual({ defaultValue: 0 });
  });
});
