import { createHmac } from 'node:crypto';
import { postSdkConnection, putSdkConnection, updateFeature } from '@halyard/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { payloadOf } from '../../../testing/delivery.ts';
import { newConnection, newFeature } from '../../../testing/objects.ts';
import { type Received, type Receiver, startReceiver } from '../../../testing/receiver.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { healthAfter } from './proxy-health.ts';

const healthy = { status: 200, body: '{"ok":true,"proxyVersion":"1.2.3"}' };

describe('the health of a proxy', () => {
  const failed = { error: 'no' };
  const failures = (count: number, host = 'a') =>
    Array.from({ length: count }).reduce<ReturnType<typeof healthAfter> | null>(
      (health) => healthAfter(health, host, failed),
      null,
    );

  test('counts failures in a row, is disabled by the tenth, and whole again by any success', () => {
    expect(failures(9)).toMatchObject({ enabled: true, connected: false, errors: 9, lastError: 'no' });
    expect(failures(10)).toMatchObject({ enabled: false, errors: 10 });
    expect(failures(12)).toMatchObject({ enabled: false, errors: 10 });
    const back = healthAfter(failures(10), 'a', { error: null, version: '1.2.3' });
    expect(back).toEqual({ enabled: true, host: 'a', connected: true, version: '1.2.3', lastError: null, errors: 0 });
  });

  test('says nothing of a proxy at another address', () => {
    expect(healthAfter(failures(10), 'b', failed)).toMatchObject({ enabled: true, host: 'b', errors: 1 });
  });
});

describe('proxies', () => {
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
    receiver.reply = healthy;
  });
  afterEach(async () => {
    await receiver.stop();
    await service.db.deleteFrom('proxy_health').execute();
    await service.db.deleteFrom('queued_work').execute();
  });

  const pushes = (): Received[] => receiver.received.filter(({ path }) => path === '/base/proxy/features');
  const checks = (): Received[] => receiver.received.filter(({ path }) => path === '/base/healthcheck');
  const withProxy = () => newConnection(service.admin, { proxyEnabled: true, proxyHost: `${receiver.url}/base/` });
  const health = (connection: string) =>
    service.db.selectFrom('proxy_health').selectAll().where('connection', '=', connection).executeTakeFirst();
  const off = (id: string) => service.admin.call(putSdkConnection, { params: { id }, body: { proxyEnabled: false } });
  const run = async <Value>(read: () => Value): Promise<Value> => {
    await service.app.runJobs();
    return read();
  };

  test('are looked at when they are set, and then pushed every change, signed', async () => {
    const connection = await withProxy();
    await expect.poll(() => run(() => pushes().length)).toBe(1);
    expect(checks()).not.toHaveLength(0);
    expect(await health(connection.id)).toMatchObject({ enabled: true, connected: true, version: '1.2.3', errors: 0 });

    const { id } = await newFeature(service);
    await expect.poll(() => run(() => pushes().length)).toBe(2);
    const [, push] = pushes();
    expect(push).toMatchObject({ method: 'POST', headers: { 'x-service-api-key': connection.key } });
    const signature = createHmac('sha256', connection.proxySigningKey)
      .update(push?.body ?? '')
      .digest('hex');
    expect(push?.headers['x-service-signature']).toBe(signature);
    const payload = await payloadOf(service.url, connection.key, await service.version());
    expect(JSON.parse(push?.body ?? '')).toEqual(payload);
    expect(payload.features).toHaveProperty(id);
    await off(connection.id);
  });

  test('are pushed to once more, 5 s after a failure, and looked at every few minutes', async () => {
    const connection = await withProxy();
    await expect.poll(() => run(() => pushes().length)).toBe(1);
    receiver.reply = 500;
    await newFeature(service);
    await expect.poll(() => run(() => pushes().length)).toBe(2);
    service.clock.advance(5_100);
    expect(await run(() => pushes().length)).toBe(3);
    service.clock.advance(60_000);
    expect(await run(() => pushes().length)).toBe(3);
    expect(await health(connection.id)).toMatchObject({ enabled: true, connected: false, errors: 1 });
    const before = checks().length;
    service.clock.advance(300_000);
    expect(await run(() => checks().length)).toBe(before + 1);
    expect(await health(connection.id)).toMatchObject({ errors: 2 });
    await off(connection.id);
  });

  test('that fail ten times in a row are left alone until a look finds them well, and then get the payload', async () => {
    const connection = await withProxy();
    const { id } = await newFeature(service);
    await expect.poll(() => run(() => pushes().at(-1)?.body)).toContain(id);
    await service.app.runJobs();
    receiver.reply = { status: 200, body: 'not a proxy' };
    for (let check = 1; check <= 10; check++) {
      service.clock.advance(301_000);
      await service.app.runJobs();
      expect(await health(connection.id)).toMatchObject({ errors: check, enabled: check < 10 });
    }
    const before = pushes().length;
    const at = { params: { id }, body: { defaultValue: 'true' } };
    const { version } = await service.admin.answer(updateFeature, at);
    const payload = await payloadOf(service.url, connection.key, version);
    expect(await run(() => pushes().length)).toBe(before);
    receiver.reply = healthy;
    service.clock.advance(301_000);
    expect(await run(() => pushes().length)).toBe(before + 1);
    expect(JSON.parse(pushes().at(-1)?.body ?? '')).toEqual(payload);
    await off(connection.id);
  });

  test('of a hosted installation are not sent to where their name leads to a private address', async () => {
    const hosted = await startService({ HOSTED: 'true', MULTI_ORGANIZATION: 'true', API_RATE_LIMIT_MAX: '0' });
    const proxy = { proxyEnabled: true, proxyHost: receiver.url };
    const body = { name: 'Web', language: 'javascript', environment: 'production', ...proxy };
    await hosted.admin.refused(400, postSdkConnection, { body });
    await hosted.stop();
  });
});
