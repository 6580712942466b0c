import { type SdkConnection, updateFeature } from '@halyard/contract';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { type Client, OpenFeature } from '@openfeature/server-sdk';
import { ProviderEvents, OpenFeature as WebOpenFeature } from '@openfeature/web-sdk';
import { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newConnection, type newFeature } from '../packages/server/testing/objects.ts';
import { type Places, placeNames, startPlaces } from './support/places.ts';

/** The published OpenFeature SDKs with their OFREP providers, as they are, against a running service and an edge that follows it. */

let places: Places;
let connection: SdkConnection;
const ids = { boolean: '', string: '', number: '', object: '', list: '', nothing: '', rules: '' };

beforeAll(async () => {
  places = await startPlaces(async ({ admin }) => {
    connection = await newConnection(admin, { includeRuleIds: true });
  });
  ids.boolean = await make({ valueType: 'boolean', defaultValue: 'true' });
  ids.string = await make({ valueType: 'string', defaultValue: '' });
  ids.number = await make({ valueType: 'number', defaultValue: '0' });
  ids.object = await make({ valueType: 'json', defaultValue: '{"a":{"b":[0]}}' });
  ids.list = await make({ valueType: 'json', defaultValue: '[0,"a"]' });
  ids.nothing = await make({ valueType: 'json', defaultValue: 'null' });
  ids.rules = await make({
    valueType: 'string',
    defaultValue: 'everyone',
    rules: [
      { type: 'force', value: 'ann', condition: '{"id":"ann"}' },
      { type: 'rollout', value: 'most', coverage: 0.9999, hashAttribute: 'id', condition: '{"country":"DE"}' },
    ],
  });
  for (const place of placeNames) await places.caughtUp(place, connection);
});

afterAll(() => places.stop());

const make = async (body: Parameters<typeof newFeature>[1]) => (await places.make(body)).id;

const credential = (clientKey: string): [string, string][] => [['Authorization', `Bearer ${clientKey}`]];

describe.each(placeNames)('the OpenFeature SDK for servers, with a Halyard that is the %s', (place) => {
  let client: Client;
  beforeAll(async () => {
    await OpenFeature.setProviderAndWait(
      new OFREPProvider({ baseUrl: places.url(place), headers: credential(connection.key) }),
    );
    client = OpenFeature.getClient();
  });
  afterAll(() => OpenFeature.clearProviders());

  test('has values of every type, also those that look like none', async () => {
    expect(await client.getBooleanValue(ids.boolean, false)).toBe(true);
    expect(await client.getStringValue(ids.string, 'default')).toBe('');
    expect(await client.getNumberValue(ids.number, 5)).toBe(0);
    expect(await client.getObjectValue(ids.object, {})).toEqual({ a: { b: [0] } });
    expect(await client.getObjectValue(ids.list, [])).toEqual([0, 'a']);
  });

  test('tells reason, variant and metadata', async () => {
    const ann = await client.getStringDetails(ids.rules, 'default', { targetingKey: 'ann' });
    expect(ann).toMatchObject({
      value: 'ann',
      reason: 'TARGETING_MATCH',
      variant: expect.stringMatching(/^fr_/),
      flagMetadata: { configVersion: expect.any(Number), source: 'force', valueType: 'string' },
    });
    const bob = { targetingKey: 'bob', country: 'DE' };
    expect(await client.getStringDetails(ids.rules, 'default', bob)).toMatchObject({ value: 'most', reason: 'SPLIT' });
    expect(await client.getStringDetails(ids.rules, 'default')).toMatchObject({ value: 'everyone', reason: 'STATIC' });
  });

  test('takes the default of the code for a flag that is not there, or of another type', async () => {
    const unknown = await client.getBooleanDetails('unknown', true);
    expect(unknown).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' });
    const other = await client.getBooleanDetails(ids.string, true);
    expect(other).toMatchObject({ value: true, errorCode: 'TYPE_MISMATCH' });
  });

  test('takes the default of the code where the credential is wrong', async () => {
    await OpenFeature.setProviderAndWait(
      'wrong',
      new OFREPProvider({ baseUrl: places.url(place), headers: credential('sdk-unknown') }),
    );
    const details = await OpenFeature.getClient('wrong').getBooleanDetails(ids.boolean, false);
    expect(details).toMatchObject({ value: false, reason: 'ERROR' });
  });
});

describe.each(placeNames)('the OpenFeature SDK for the web, with a Halyard that is the %s', (place) => {
  const asked: { url: string; status: number }[] = [];
  const fetchImplementation: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    asked.push({ url: input instanceof Request ? input.url : String(input), status: response.status });
    return response;
  };
  const provider = (more: Partial<ConstructorParameters<typeof OFREPWebProvider>[0]> = {}) => {
    const options = { baseUrl: places.url(place), headers: credential(connection.key), fetchImplementation, ...more };
    // Without hooks of its own, which its types leave open.
    return Object.assign(new OFREPWebProvider({ cacheMode: 'disabled', ...options }), { hooks: [] });
  };

  beforeAll(() => void vi.stubGlobal('EventSource', EventSource));
  afterAll(() => void vi.unstubAllGlobals());
  afterEach(async () => {
    await WebOpenFeature.clearProviders();
    asked.length = 0;
  });

  test('has all values of its user at once, and those of the next one after a change of context', async () => {
    await WebOpenFeature.setContext({ targetingKey: 'ann' });
    await WebOpenFeature.setProviderAndWait(provider());
    const client = WebOpenFeature.getClient();
    expect(client.getBooleanValue(ids.boolean, false)).toBe(true);
    expect(client.getStringValue(ids.string, 'default')).toBe('');
    expect(client.getNumberValue(ids.number, 5)).toBe(0);
    expect(client.getObjectValue(ids.object, {})).toEqual({ a: { b: [0] } });
    expect(client.getObjectValue(ids.list, [])).toEqual([0, 'a']);
    expect(client.getObjectValue(ids.nothing, { of: 'the code' })).toEqual({ of: 'the code' });
    expect(client.getStringDetails(ids.rules, 'default')).toMatchObject({ value: 'ann', reason: 'TARGETING_MATCH' });
    expect(client.getStringDetails('unknown', 'x')).toMatchObject({ value: 'x', errorCode: 'FLAG_NOT_FOUND' });
    await WebOpenFeature.setContext({ targetingKey: 'bob' });
    expect(client.getStringValue(ids.rules, 'default')).toBe('everyone');
  });

  test('hears of a change by the event stream, and asks for an answer that has it', async () => {
    const id = await make({ valueType: 'string', defaultValue: 'before' });
    await places.caughtUp(place, connection);
    await WebOpenFeature.setContext({ targetingKey: 'ann' });
    await WebOpenFeature.setProviderAndWait(provider());
    const client = WebOpenFeature.getClient();
    const changed: (string[] | undefined)[] = [];
    client.addHandler(ProviderEvents.ConfigurationChanged, (event) => void changed.push(event?.flagsChanged));
    for (const value of ['after', '']) {
      const { version } = await places.halyard.admin.answer(updateFeature, {
        params: { id },
        body: { defaultValue: value },
      });
      await expect.poll(() => client.getStringValue(id, 'default'), { interval: 10, timeout: 10_000 }).toBe(value);
      expect(asked.at(-1)?.url).toContain(`flagConfigEtag=v${version}`);
    }
    expect(changed.flat()).toContain(id);
  });

  test('an answer that it has is not sent again', async () => {
    await WebOpenFeature.setContext({ targetingKey: 'ann' });
    await WebOpenFeature.setProviderAndWait(provider({ changeDetection: 'polling', pollInterval: 20 }));
    await expect.poll(() => asked.filter(({ status }) => status === 304).length).toBeGreaterThan(1);
    expect(asked.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(WebOpenFeature.getClient().getStringValue(ids.rules, 'default')).toBe('ann');
  });
});
