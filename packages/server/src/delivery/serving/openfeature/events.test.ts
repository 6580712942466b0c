import { deleteSdkConnection, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../../../testing/delivery.ts';
import { newConnection } from '../../../../testing/objects.ts';
import { startService, type TestService } from '../../../../testing/service.ts';
import { openStream, openStreamAt, settledConnection } from '../../../../testing/streams.ts';

const eventsOf = (url: string, key: string) => `${url}/ofrep/v1/events/${key}`;

describe('the events of OpenFeature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ SSE_LIFETIME_SECONDS: '600' });
  });
  afterAll(() => service.stop());

  const ready = () => settledConnection(service);

  test('each change says that there is something new, and which version it is, but not what', async () => {
    const { key, id, set } = await ready();
    const stream = await openStreamAt(eventsOf(service.url, key));
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.response.headers.get('access-control-allow-origin')).toBe('*');
    await stream.next();
    const second = await service.another();
    const elsewhere = await openStreamAt(eventsOf(second.url, key), {
      'Last-Event-ID': String(await service.version()),
    });
    for (const value of ['one', '']) {
      const { version } = await set(value);
      const payload = await payloadOf(service.url, key, version);
      const lastModified = Math.floor(new Date(payload.dateUpdated).getTime() / 1_000);
      const data = `{"type":"refetchEvaluation","etag":"v${version}","lastModified":${lastModified}}`;
      expect(await stream.next()).toEqual({ event: 'message', id: String(version), data });
      expect(await elsewhere.next()).toEqual({ event: 'message', id: String(version), data });
    }
    // What leaves the payload alone is no change.
    await service.admin.call(updateFeature, { params: { id }, body: { description: 'words' } });
    const { version } = await set('two');
    expect((await stream.next()).id).toBe(String(version));
    expect(stream.text()).not.toContain(id);
    stream.close();
    elsewhere.close();

    const late = await openStreamAt(eventsOf(service.url, key), { 'Last-Event-ID': '1' });
    expect((await late.next()).id).toBe(String(version));
    late.close();
  });

  test('a connection’s SDKs and providers listen beside each other, each in their own words', async () => {
    const { key, set } = await ready();
    const [sdk, provider] = await Promise.all([openStream(service.url, key), openStreamAt(eventsOf(service.url, key))]);
    await Promise.all([sdk.next(), provider.next()]);
    const { version } = await set('new');
    expect(await sdk.next()).toMatchObject({ event: 'features', id: String(version) });
    expect(await provider.next()).toMatchObject({ event: 'message', id: String(version) });
    sdk.close();
    provider.close();
  });

  test('a deleted connection’s stream is closed, and not opened again', async () => {
    const { key, connection } = await ready();
    const stream = await openStreamAt(eventsOf(service.url, key));
    await service.admin.call(deleteSdkConnection, { params: { id: connection } });
    await stream.ended;
    const refused = await fetch(eventsOf(service.url, key));
    expect([refused.status, await refused.json()]).toEqual([401, { errorDetails: expect.any(String) }]);
    expect((await fetch(eventsOf(service.url, ''))).status).toBe(401);
  });
});

test('streams of both kinds share one cap and one lifetime; stopping ends them', async () => {
  const service = await startService({ SSE_LIFETIME_SECONDS: '600', SSE_MAX_CONNECTIONS: '2' });
  const { key } = await newConnection(service.admin);
  const open = [await openStream(service.url, key), await openStreamAt(eventsOf(service.url, key))];
  const full = await fetch(eventsOf(service.url, key));
  expect([full.status, await full.json()]).toEqual([429, { errorDetails: expect.any(String) }]);
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
  expect((await fetch(`${service.url}/sub/${key}`)).status).toBe(503);
  await Promise.all([service.stop(), ...open.map((stream) => stream.ended)]);
});

test('providers’ streams end after their lifetime', async () => {
  const service = await startService({ SSE_LIFETIME_SECONDS: '1' });
  const { key } = await newConnection(service.admin);
  const stream = await openStreamAt(eventsOf(service.url, key));
  await stream.ended;
  expect(stream.text()).toContain('retry: 10000');
  await service.stop();
});
