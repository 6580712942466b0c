import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, readSettings } from '../../platform/index.ts';
import {
  askAgainEvent,
  Bodies,
  type PayloadSource,
  type PayloadText,
  publicRoutes,
  type ServedConnection,
  Streams,
} from './index.ts';

/** The routes on a source of their own, which is neither this service nor in touch with any database. */
describe('values from any source of payloads', () => {
  const text = (condition: object): PayloadText => ({
    features: JSON.stringify({
      f: {
        defaultValue: 1,
        rules: [
          { condition, force: 2 },
          { condition: { name: { $regex: '.*foo.*foo.*bar' } }, force: 3 },
        ],
      },
    }),
    experiments: undefined,
    savedGroups: '{"g":["u1"]}',
  });
  const connection: ServedConnection = {
    id: 'sdk_1',
    streams: new Streams(),
    remoteOnly: true,
    version: 9,
    served: {
      bodies: new Bodies('"features":{}', 'hash'),
      change: { version: 7, instant: new Date('2026-01-31T09:00:00.000Z') },
      event: askAgainEvent(7),
      text: text({ id: 'hashed' }),
      unhashed: text({ id: { $inGroup: 'g' } }),
    },
    prepare: async () => undefined,
    catchUp: async () => undefined,
  };
  const source: PayloadSource = {
    use: (key) => (key === 'sdk-known' ? connection : undefined),
    connections: () => [connection],
    isNoKey: () => false,
    catchUp: async () => undefined,
    age: () => 42,
  };
  const log = createLog({ LOG_LEVEL: 'silent' });
  let now = 0;
  const clock = { now: () => new Date(now) };
  const routes = publicRoutes({ source, settings: readSettings({}), clock, log });
  const server = http.createServer((request, response) => {
    if (!routes(request, response)) response.writeHead(404).end();
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    routes.stop();
    server.close();
  });

  const post = (path: string, body: object, key = 'sdk-known') =>
    fetch(`${url}${path}`, { method: 'POST', headers: { 'X-API-Key': key }, body: JSON.stringify(body) });
  const version = ({ headers }: Response) => [
    headers.get('x-service-config-version'),
    headers.get('x-service-config-age'),
  ];

  test('are evaluated with its saved groups, for SDKs as served, for OpenFeature from unhashed operands, and tell how old they are', async () => {
    const remote = await post('/api/eval/sdk-known', { attributes: { id: 'u1' } });
    expect(version(remote)).toEqual(['9', '42']);
    const dateUpdated = '2026-01-31T09:00:00.000Z';
    expect(await remote.json()).toEqual({ features: { f: { defaultValue: 1 } }, dateUpdated });

    const flag = await post('/ofrep/v1/evaluate/flags/f', { context: { targetingKey: 'u1' } });
    expect(version(flag)).toEqual(['9', '42']);
    expect(await flag.json()).toMatchObject({ value: 2, metadata: { configVersion: 7 } });
  });

  test('that would take too long are refused at once when the time of their connection is used up; others never are', async () => {
    const slow = { name: 'foo'.repeat(10_000) };
    expect((await post('/api/eval/sdk-known', { attributes: slow })).status).toBe(400);

    const remote = await post('/api/eval/sdk-known', { attributes: slow });
    expect([remote.status, remote.headers.has('x-unrecoverable')]).toEqual([400, false]);
    expect(await remote.json()).toEqual({ status: 400, error: expect.stringContaining('wait 2 seconds') });
    for (const path of ['/ofrep/v1/evaluate/flags/f', '/ofrep/v1/evaluate/flags']) {
      const flags = await post(path, { context: slow });
      expect([flags.status, flags.headers.get('retry-after')]).toEqual([429, '2']);
      expect(await flags.json()).toEqual({ errorDetails: expect.stringContaining('wait 2 seconds') });
    }
    expect((await post('/api/eval/sdk-known', { attributes: { name: 'foo' } })).status).toBe(200);
    expect((await post('/ofrep/v1/evaluate/flags', { context: { name: 'foo' } })).status).toBe(200);

    now += 2_000;
    const again = await post('/ofrep/v1/evaluate/flags/f', { context: { name: `${'x'.repeat(200)}foofoobar` } });
    expect(await again.json()).toMatchObject({ value: 3 });
  });

  test('are refused for the time being while it may not know the key yet', async () => {
    const remote = await post('/api/eval/sdk-unknown', {});
    expect([remote.status, remote.headers.has('x-unrecoverable')]).toEqual([400, false]);
    const flags = await post('/ofrep/v1/evaluate/flags', { context: {} }, 'sdk-unknown');
    expect([flags.status, flags.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${url}/ofrep/v1/events/sdk-unknown`)).status).toBe(503);
  });
});
