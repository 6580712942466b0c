import {
  deleteSdkConnection,
  deleteSdkWebhook,
  getSdkWebhook,
  listSdkWebhookDeliveries,
  listSdkWebhooks,
  postSdkWebhook,
  postWebhookSecret,
  putSdkConnection,
  putSdkWebhook,
  type SdkWebhook,
  testSdkWebhook,
  toggleFeature,
  updateFeature,
} from '@halyard/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseProxy, proxyOf } from '../../../testing/database-proxy.ts';
import { fetchPayload, payloadOf } from '../../../testing/delivery.ts';
import { newConnection, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { type Receiver, startReceiver } from '../../../testing/receiver.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { featureKind } from '../../flags/index.ts';
import { webhookSignature } from './message.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService({ OUTBOUND_ALLOW_PRIVATE_HOSTS: 'true' });
});
afterAll(() => service.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.stop();
  // No test calls the webhooks of another.
  await service.db.deleteFrom('plain_object').execute();
  await service.db.deleteFrom('queued_work').execute();
});

const newWebhook = async (connection: string, more: object = {}): Promise<SdkWebhook> => {
  const body = { name: 'Store', endpoint: `${receiver.url}/hook`, ...more };
  return (await service.admin.call(postSdkWebhook, { params: { id: connection }, body })).sdkWebhook;
};

/** A feature whose switch changes the payload. */
const newSwitch = async () => {
  const { id } = await newFeature(service);
  const at = { params: { id } };
  let on = false;
  return {
    id,
    async flip() {
      on = !on;
      return (await service.admin.answer(updateFeature, { ...at, body: { defaultValue: String(on) } })).version;
    },
  };
};

/** Waits for the change to be told and for everything that comes of it, and of what is due. */
const settled = async (requests: number) => {
  const received = async () => {
    await service.app.runJobs();
    return receiver.received.length;
  };
  await expect.poll(received).toBeGreaterThanOrEqual(requests);
  expect(await received()).toBe(requests);
};

const shown = async (connection: string, webhookId: string) =>
  (await service.admin.call(getSdkWebhook, { params: { id: connection, webhookId } })).sdkWebhook;

describe('an SDK webhook', () => {
  test('has standard values, and a signing key that is stored encrypted', async () => {
    const { id } = await newConnection(service.admin);
    const webhook = await newWebhook(id);
    expect(webhook).toEqual({
      id: expect.stringMatching(/^wh_/),
      name: 'Store',
      endpoint: `${receiver.url}/hook`,
      sdks: [id],
      httpMethod: 'POST',
      payloadFormat: 'standard',
      payloadKey: 'sdk_payload',
      headers: {},
      disabled: false,
      signingKey: expect.stringMatching(/^wk_[0-9a-f]{32}$/),
      lastSuccess: null,
      error: '',
      consecutiveFailures: 0,
      dateCreated: expect.any(String),
      dateUpdated: expect.any(String),
    });
    const rows = await service.db.selectFrom('plain_object').selectAll().execute();
    const { audits } = await service.history(webhook.id);
    expect(audits.map(({ event }) => event)).toEqual(['sdkWebhook.create']);
    expect(JSON.stringify([rows, audits])).not.toContain(webhook.signingKey);
  });

  test('can be read, listed, changed and deleted, each change with its audit entry, and no change with none', async () => {
    const { admin } = service;
    const { id } = await newConnection(admin);
    const webhook = await newWebhook(id);
    const params = { id, webhookId: webhook.id };
    expect(await shown(id, webhook.id)).toEqual(webhook);
    expect((await admin.call(listSdkWebhooks, { params: { id } })).sdkWebhooks).toEqual([webhook]);

    const change = { params, body: { name: 'Edge', headers: { 'X-A': '1' }, httpMethod: 'PUT' as const } };
    const { sdkWebhook: changed } = await admin.call(putSdkWebhook, change);
    expect(changed).toEqual({ ...webhook, ...change.body, dateUpdated: changed.dateUpdated });
    expect((await admin.call(putSdkWebhook, change)).sdkWebhook).toEqual(changed);

    expect(await admin.call(deleteSdkWebhook, { params })).toEqual({ deletedId: webhook.id });
    await admin.refused(404, getSdkWebhook, { params });
    const { audits } = await service.history(webhook.id);
    expect(audits.map(({ event }) => event)).toEqual(['sdkWebhook.create', 'sdkWebhook.update', 'sdkWebhook.delete']);
  });

  test.each([
    [{ name: 'x' }, /name/],
    [{ endpoint: 'ftp://example.com' }, /http\(s\)/],
    [{ endpoint: 'https://user:pass@example.com' }, /user name or password/],
    [{ endpoint: 'https://{{ HOST }}/x' }, /behind the host/],
    [{ headers: { Host: 'x' } }, /Host/],
    [{ headers: { 'X-A': 'a\nb' } }, /printable/],
    [{ httpMethod: 'TRACE' }, /httpMethod/],
    [{ payloadFormat: 'xml' }, /payloadFormat/],
    [{ sdks: [] }, /sdks/],
    [{ sdks: ['sdk_none'] }, /Unknown SDK connection/],
    [{ signingKey: 'wk_mine' }, /signingKey/],
  ])('cannot be %j', async (wrong, message) => {
    const { id } = await newConnection(service.admin);
    const webhook = await newWebhook(id);
    const body = { name: 'Store', endpoint: 'https://example.com', ...wrong };
    expect((await service.admin.refused(400, postSdkWebhook, { params: { id }, body })).message).toMatch(message);
    const params = { id, webhookId: webhook.id };
    expect((await service.admin.refused(400, putSdkWebhook, { params, body: wrong })).message).toMatch(message);
    expect((await service.admin.call(listSdkWebhooks, { params: { id } })).sdkWebhooks).toEqual([webhook]);
  });

  test('belongs to the connections that it lists, and to no other', async () => {
    const { admin } = service;
    const [one, other, third] = [await newConnection(admin), await newConnection(admin), await newConnection(admin)];
    const webhook = await newWebhook(one.id, { sdks: [one.id, other.id] });
    expect((await shown(other.id, webhook.id)).sdks).toEqual([one.id, other.id]);
    await admin.refused(404, getSdkWebhook, { params: { id: third.id, webhookId: webhook.id } });
    await admin.refused(404, putSdkWebhook, {
      params: { id: third.id, webhookId: webhook.id },
      body: { name: 'Mine' },
    });
    await admin.refused(404, getSdkWebhook, { params: { id: one.id, webhookId: 'wh_none' } });
    const wrong = { params: { id: one.id, webhookId: webhook.id }, body: { sdks: [other.id] } };
    expect((await admin.refused(400, putSdkWebhook, wrong)).message).toContain('of the path');

    await admin.call(deleteSdkConnection, { params: { id: one.id } });
    expect((await shown(other.id, webhook.id)).sdks).toEqual([other.id]);
    await admin.call(deleteSdkConnection, { params: { id: other.id } });
    const left = await service.db.selectFrom('plain_object').select('id').where('id', '=', webhook.id).execute();
    expect(left).toEqual([]);
  });

  test('is managed by those who may manage it for every one of its connections; who may only read sees no key', async () => {
    const { admin } = service;
    await newEnvironment(admin, 'staging');
    const production = await newConnection(admin);
    const staging = await newConnection(admin, { environment: 'staging' });
    const webhook = await newWebhook(staging.id, { headers: { Authorization: 'hush' } });
    const params = { id: staging.id, webhookId: webhook.id };
    const reader = await service.withKey({ role: 'readonly' });
    const { sdkWebhook: seen } = await reader.call(getSdkWebhook, { params });
    expect(seen).not.toHaveProperty('signingKey');
    expect(seen).not.toHaveProperty('headers');
    const body = { name: 'Mine', endpoint: receiver.url };
    await reader.refused(403, postSdkWebhook, { params: { id: staging.id }, body });
    await reader.refused(403, putSdkWebhook, { params, body: { name: 'Mine' } });
    await reader.refused(403, deleteSdkWebhook, { params });
    await reader.refused(403, testSdkWebhook, { params });
    await reader.refused(403, listSdkWebhookDeliveries, { params });

    const projectless = await service.withKey({
      projectRoles: [{ project: 'prj_x', role: 'readonly', limitAccessByEnvironment: false, environments: [] }],
    });
    await projectless.call(getSdkWebhook, { params });
    expect(await shown(staging.id, webhook.id)).toEqual(webhook);
    expect(production.environment).toBe('production');
  });
});

describe('SDK webhooks are called', () => {
  test('once after a change, signed, with the payload that SDKs get, although several processes see it', async () => {
    const { admin } = service;
    const connection = await newConnection(admin);
    const flag = await newSwitch();
    const webhook = await newWebhook(connection.id, { headers: { 'X-Mine': 'yes', 'Webhook-Signature': 'forged' } });
    const second = await service.another();
    await payloadOf(second.url, connection.key, await service.version());

    const version = await flag.flip();
    await settled(1);
    const [request] = receiver.received;
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-mine': 'yes',
      'webhook-sdk-key': connection.key,
    });
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request?.headers ?? {};
    expect(signature).toBe(
      webhookSignature(webhook.signingKey ?? '', String(id), String(timestamp), request?.body ?? ''),
    );
    const { type, data } = JSON.parse(request?.body ?? '') as { type: string; data: { payload: string } };
    expect(type).toBe('payload.changed');
    expect(JSON.parse(data.payload)).toEqual(await payloadOf(service.url, connection.key, version));
    expect(await shown(connection.id, webhook.id)).toMatchObject({ error: '', lastSuccess: expect.any(String) });
    await second.app.stop();
  });

  test('although no SDK has asked since the start, and not for a change that leaves the payload alone', async () => {
    const connection = await newConnection(service.admin);
    await newWebhook(connection.id);
    const { id } = await newFeature(service);
    await settled(1);
    const second = await service.another();
    await service.admin.call(updateFeature, { params: { id }, body: { description: 'Only words' } });
    await settled(1);
    await second.admin.call(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    await settled(2);
    expect(receiver.received[1]?.body).toContain(id);
    await second.app.stop();
  });

  test('for each of their connections with its own key and payload, one after the other', async () => {
    const { admin } = service;
    const [one, other] = [await newConnection(admin), await newConnection(admin)];
    await newWebhook(one.id, { sdks: [one.id, other.id], payloadFormat: 'sdkPayload' });
    const { id } = await newFeature(service);
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(2);
    await service.app.runJobs();
    const keys = receiver.received.map(({ headers }) => headers['webhook-sdk-key']);
    expect(keys.slice(0, 2)).toEqual([one.key, other.key]);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { features: object });
    for (const { features } of bodies.slice(-2)) expect(features).toHaveProperty(id);
  });

  test('with their secrets, which go nowhere else', async () => {
    const { admin } = service;
    const connection = await newConnection(admin);
    await admin.call(postWebhookSecret, {
      body: { key: 'TOKEN', value: 'top secret/1', allowedOrigins: [receiver.url] },
    });
    await admin.call(postWebhookSecret, {
      body: { key: 'FOREIGN', value: 'not for you', allowedOrigins: ['https://example.com'] },
    });
    const webhook = await newWebhook(connection.id, {
      endpoint: `${receiver.url}/{{ TOKEN }}`,
      headers: { Authorization: 'Bearer {{ TOKEN }}', 'X-Foreign': '{{ FOREIGN }}' },
    });
    await newFeature(service);
    await settled(1);
    expect(receiver.received[0]?.path).toBe('/top%20secret%2F1');
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: 'Bearer top secret/1',
      'x-foreign': '{{ FOREIGN }}',
    });
    const params = { id: connection.id, webhookId: webhook.id };
    expect(JSON.stringify(await admin.call(listSdkWebhookDeliveries, { params }))).not.toContain('top');
  });

  test('three times per change when they fail, after 30 s and 5 min, and disabled after ten changes; signed every time [flags M111]', async () => {
    const { admin, clock, app } = service;
    const connection = await newConnection(admin);
    const flag = await newSwitch();
    const webhook = await newWebhook(connection.id, { payloadFormat: 'standard-no-payload' });
    const params = { id: connection.id, webhookId: webhook.id };
    receiver.reply = { status: 500, body: 'out of order' };
    for (let change = 1; change <= 10; change++) {
      const before = receiver.received.length;
      await flag.flip();
      await settled(before + 1);
      clock.advance(29_000);
      await settled(before + 1);
      clock.advance(1_100);
      await settled(before + 2);
      clock.advance(299_000);
      await settled(before + 2);
      clock.advance(1_100);
      await settled(before + 3);
      clock.advance(3_600_000);
      await settled(before + 3);
      const [first, again, last] = receiver.received.slice(before).map(({ headers }) => headers);
      expect(new Set([first, again, last].map((headers) => headers?.['webhook-id'])).size).toBe(1);
      expect(Number(last?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])).toBeGreaterThanOrEqual(330);
      expect(await shown(connection.id, webhook.id)).toMatchObject({
        consecutiveFailures: change,
        disabled: change === 10,
        error: 'out of order',
        lastSuccess: null,
      });
    }
    for (const { headers, body } of receiver.received) {
      const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
      expect(signature).toBe(webhookSignature(webhook.signingKey ?? '', String(id), String(timestamp), body));
    }
    await flag.flip();
    await expect.poll(async () => (await payloadOf(service.url, connection.key, 0)).dateUpdated).toBeDefined();
    await settled(30);
    const { deliveries } = await admin.call(listSdkWebhookDeliveries, { params });
    expect(deliveries).toHaveLength(30);
    expect(deliveries[0]).toMatchObject({
      sdk: connection.id,
      url: `${receiver.url}/hook`,
      method: 'POST',
      result: 'error',
      responseCode: 500,
      responseBody: 'out of order',
    });
    const audit = await service.db
      .selectFrom('audit')
      .select(['event', 'reason'])
      .where('entity_id', '=', webhook.id)
      .where('reason', 'is not', null)
      .execute();
    expect(audit).toEqual([{ event: 'sdkWebhook.update', reason: '10 deliveries in a row failed' }]);

    // A test reaches it all the same, and counts for nothing; switched on again it begins anew.
    receiver.reply = 200;
    await admin.call(testSdkWebhook, { params });
    await settled(31);
    expect(await shown(connection.id, webhook.id)).toMatchObject({
      disabled: true,
      consecutiveFailures: 10,
      error: '',
    });
    const { sdkWebhook } = await admin.call(putSdkWebhook, { params, body: { disabled: false } });
    expect(sdkWebhook.consecutiveFailures).toBe(0);
    await flag.flip();
    await settled(32);
    await app.runJobs();
  });

  test('a success forgets the failures before', async () => {
    const connection = await newConnection(service.admin);
    const flag = await newSwitch();
    const webhook = await newWebhook(connection.id);
    receiver.reply = 503;
    await flag.flip();
    await settled(1);
    for (const [index, wait] of [30_100, 300_100].entries()) {
      service.clock.advance(wait);
      await settled(index + 2);
    }
    expect(await shown(connection.id, webhook.id)).toMatchObject({ consecutiveFailures: 1, error: 'Status 503' });
    receiver.reply = 204;
    await flag.flip();
    await settled(4);
    expect(await shown(connection.id, webhook.id)).toMatchObject({ consecutiveFailures: 0, error: '' });
  });

  test('at most once at a time: changes that come while one waits or is under way are told together', async () => {
    const connection = await newConnection(service.admin);
    const flag = await newSwitch();
    await newWebhook(connection.id, { payloadFormat: 'sdkPayload' });
    receiver.reply = 500;
    await flag.flip();
    await settled(1);
    receiver.reply = 200;
    for (let change = 0; change < 5; change++) await flag.flip();
    const version = await service.version();
    const newest = await payloadOf(service.url, connection.key, version);
    await settled(1);
    service.clock.advance(30_100);
    await settled(2);
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toEqual(newest);
    service.clock.advance(3_600_000);
    await settled(2);
  });

  test('not any more once they are deleted or disabled, also when a retry waits', async () => {
    const { admin } = service;
    const connection = await newConnection(admin);
    const flag = await newSwitch();
    const [gone, off] = [await newWebhook(connection.id), await newWebhook(connection.id)];
    receiver.reply = 500;
    await flag.flip();
    await settled(2);
    await admin.call(deleteSdkWebhook, { params: { id: connection.id, webhookId: gone.id } });
    await admin.call(putSdkWebhook, { params: { id: connection.id, webhookId: off.id }, body: { disabled: true } });
    service.clock.advance(30_100);
    await settled(2);
    await flag.flip();
    await payloadOf(service.url, connection.key, await service.version());
    await settled(2);
    const left = await service.db.selectFrom('queued_work').selectAll().execute();
    expect(left).toEqual([]);
  });

  test('after the key or an option of the connection changed', async () => {
    const { admin } = service;
    const connection = await newConnection(admin);
    await newWebhook(connection.id, { payloadFormat: 'sdkPayload' });
    await admin.call(putSdkConnection, { params: { id: connection.id }, body: { encryptPayload: true } });
    await settled(1);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toHaveProperty('encryptedFeatures');
    await admin.call(putSdkConnection, { params: { id: connection.id }, body: { name: 'Only a name' } });
    await settled(1);
  });
});

describe('while the database is away', () => {
  test('no webhook is called; a change that is settled later is told once the database is back', async () => {
    let proxy: DatabaseProxy | undefined;
    const shaky = await startService({ OUTBOUND_ALLOW_PRIVATE_HOSTS: 'true' }, async (address) => {
      proxy = await proxyOf(address);
      return proxy.address;
    });
    const patience = { timeout: 20_000, interval: 50 };
    const connection = await newConnection(shaky.admin);
    const { id } = await newFeature(shaky);
    await payloadOf(shaky.url, connection.key, await shaky.version());
    const body = { name: 'Store', endpoint: receiver.url, payloadFormat: 'sdkPayload' as const };
    await shaky.admin.call(postSdkWebhook, { params: { id: connection.id }, body });
    proxy?.refuse();
    const age = async () => (await fetchPayload(shaky.url, connection.key)).headers.get('x-service-config-age');
    await expect.poll(age, patience).not.toBeNull();
    // As another process would, whose network is well, and which then ends.
    await shaky.recorder.publish(shaky.id, { type: 'system', subtype: 'test' }, (states) => {
      const live = states.get(featureKind, id);
      if (live === null) throw new Error('There is no feature.');
      const state = { ...live.state, defaultValue: 'true' };
      return { publication: { changes: [{ kind: featureKind, id, state }], audit: [] }, result: null };
    });
    await shaky.app.runJobs().catch(() => undefined);
    expect(receiver.received).toEqual([]);
    proxy?.pass();
    await expect.poll(() => receiver.received.length, patience).toBe(1);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ features: { [id]: { defaultValue: true } } });
    await shaky.stop();
    await proxy?.stop();
  });
});

describe('where private addresses are not allowed', () => {
  let strict: TestService;
  beforeAll(async () => {
    strict = await startService({ WEBHOOKS: '' });
  });
  afterAll(() => strict.stop());

  test('an SDK webhook at one cannot be made, and one that was made before is not called', async () => {
    const { id } = await newConnection(strict.admin);
    for (const endpoint of [
      receiver.url,
      'http://localhost/x',
      'http://169.254.169.254/{{ A }}',
      'http://[::1]/',
      'http://0x7f.1/',
    ]) {
      const body = { name: 'Store', endpoint };
      const { message } = await strict.admin.refused(400, postSdkWebhook, { params: { id }, body });
      expect(message).toContain('OUTBOUND_ALLOW_PRIVATE_HOSTS');
    }
    const body = { name: 'Store', endpoint: 'https://example.com' };
    const { sdkWebhook } = await strict.admin.call(postSdkWebhook, { params: { id }, body });
    const { state } = await strict.db
      .selectFrom('plain_object')
      .select('state')
      .where('id', '=', sdkWebhook.id)
      .executeTakeFirstOrThrow();
    await strict.db
      .updateTable('plain_object')
      .set({ state: JSON.stringify({ ...(state as object), endpoint: receiver.url }) })
      .execute();
    const params = { id, webhookId: sdkWebhook.id };
    await strict.admin.call(testSdkWebhook, { params });
    await strict.app.runJobs();
    const { deliveries } = await strict.admin.call(listSdkWebhookDeliveries, { params });
    expect(deliveries).toMatchObject([{ result: 'error', responseCode: null, responseBody: /private network/ }]);
    expect(receiver.received).toEqual([]);
  });
});

describe('webhooks of the installation', () => {
  test('hear of every change of every connection, and are not called again when they fail', async () => {
    const setting = [
      { url: `${receiver.url}/one`, signingKey: 'k1', headers: { 'X-Mine': 'yes' } },
      { url: `${receiver.url}/two`, signingKey: 'k2', sendPayload: true, method: 'PUT' },
    ];
    receiver.reply = ({ path }) => (path === '/one' ? 500 : 200);
    const mine = await startService({ WEBHOOKS: JSON.stringify(setting) });
    const connection = await newConnection(mine.admin);
    const { id } = await newFeature(mine);
    await expect.poll(() => receiver.received.length).toBe(2);
    await mine.app.runJobs();
    mine.clock.advance(3_600_000);
    await mine.app.runJobs();
    expect(receiver.received).toHaveLength(2);
    const one = receiver.received.find(({ path }) => path === '/one');
    const two = receiver.received.find(({ path }) => path === '/two');
    expect(one).toMatchObject({ method: 'POST', headers: { 'x-mine': 'yes', 'webhook-sdk-key': connection.key } });
    expect(JSON.parse(one?.body ?? '')).not.toHaveProperty('data');
    expect(two).toMatchObject({ method: 'PUT', body: expect.stringContaining(id) });
    const {
      'webhook-id': message,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = two?.headers ?? {};
    expect(signature).toBe(webhookSignature('k2', String(message), String(timestamp), two?.body ?? ''));
    await mine.admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
    await expect.poll(() => receiver.received.length).toBe(4);
    await mine.stop();
  });
});
