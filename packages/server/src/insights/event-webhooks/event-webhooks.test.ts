import {
  deleteEnvironment,
  deleteEventWebhook,
  deleteFeature,
  deleteProject,
  deleteWebhookSecret,
  type EventWebhook,
  getEventWebhook,
  getEventWebhookLogs,
  getWebhookSecret,
  listEventWebhooks,
  listWebhookSecrets,
  postEventWebhook,
  postProject,
  postWebhookSecret,
  putEventWebhook,
  putWebhookSecret,
  testEventWebhook,
  toggleFeature,
  updateFeature,
} from '@halyard/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { freshId, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { type Receiver, startReceiver } from '../../../testing/receiver.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { eventSignature } from './event-work.ts';

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
  vi.useRealTimers();
  await receiver.stop();
  await service.db.deleteFrom('plain_object').execute();
  await service.db.deleteFrom('queued_work').execute();
});

const newWebhook = async (more: Partial<EventWebhook> = {}): Promise<EventWebhook> => {
  const body = {
    name: 'Receiver',
    url: `${receiver.url}/hook`,
    enabled: true,
    events: ['feature.*'],
    payloadType: 'json' as const,
    ...more,
  };
  return (await service.admin.call(postEventWebhook, { body })).eventWebhook;
};
const shown = async (id: string) => (await service.admin.call(getEventWebhook, { params: { id } })).eventWebhook;
const logs = async (id: string) => (await service.admin.call(getEventWebhookLogs, { params: { id } })).logs;

/** Does everything that is due. What was written before is told afterwards. */
const run = () => service.app.runJobs();
interface Body {
  readonly event: string;
  readonly environments: string[];
  readonly projects: string[];
}
const events = (path = '/hook') =>
  receiver.received.filter((request) => request.path === path).map(({ body }) => (JSON.parse(body) as Body).event);

describe('event webhooks', () => {
  test('have standard values, and a signing key that is stored encrypted', async () => {
    const webhook = await newWebhook();
    expect(webhook).toEqual({
      id: expect.stringMatching(/^ewh-[0-9a-f-]{36}$/),
      name: 'Receiver',
      url: `${receiver.url}/hook`,
      enabled: true,
      events: ['feature.*'],
      projects: [],
      tags: [],
      environments: [],
      payloadType: 'json',
      method: 'POST',
      headers: {},
      signingKey: expect.stringMatching(/^ewhk_[0-9a-f]{32}$/),
      lastRunAt: null,
      lastState: 'none',
      lastResponseBody: null,
      dateCreated: expect.any(String),
      dateUpdated: expect.any(String),
    });
    const stored = await service.db.selectFrom('plain_object').selectAll().execute();
    const { audits } = await service.history(webhook.id);
    expect(audits.map(({ event }) => event)).toEqual(['eventWebhook.create']);
    expect(JSON.stringify([stored, audits])).not.toContain(webhook.signingKey);
  });

  test('can be read, listed, changed and deleted; each change leaves its audit entry, and no change none', async () => {
    const { admin } = service;
    const [webhook, other] = [await newWebhook(), await newWebhook()];
    const params = { id: webhook.id };
    expect(await shown(webhook.id)).toEqual(webhook);
    expect((await admin.call(listEventWebhooks)).eventWebhooks).toEqual([webhook, other]);
    const body = { events: ['feature.created' as const], tags: ['x'], method: 'PUT' as const };
    const { eventWebhook: changed } = await admin.call(putEventWebhook, { params, body });
    expect(changed).toEqual({ ...webhook, ...body, dateUpdated: changed.dateUpdated });
    expect((await admin.call(putEventWebhook, { params, body })).eventWebhook).toEqual(changed);
    expect(await admin.call(deleteEventWebhook, { params })).toEqual({ deletedId: webhook.id });
    for (const operation of [getEventWebhook, deleteEventWebhook, getEventWebhookLogs, testEventWebhook])
      await admin.refused(404, operation, { params });
    const { audits } = await service.history(webhook.id);
    expect(audits.map(({ event }) => event)).toEqual([
      'eventWebhook.create',
      'eventWebhook.update',
      'eventWebhook.delete',
    ]);
  });

  test.each([
    [{ name: 'x' }, /name/],
    [{ url: 'nonsense' }, /http\(s\)/],
    [{ url: 'https://{{ HOST }}.example.com/' }, /behind the host/],
    [{ url: 'https://user:pass@example.com/' }, /user name or password/],
    [{ events: [] }, /at least one/],
    [{ events: ['feature.exploded'] }, /feature\.created/],
    [{ events: ['*'] }, /wildcard/],
    [{ events: ['feature*'] }, /wildcard/],
    [{ projects: ['prj_none'] }, /Unknown project/],
    [{ environments: ['nowhere'] }, /Unknown environment/],
    [{ payloadType: 'xml' }, /payloadType/],
    [{ method: 'GET' }, /method/],
    [{ headers: { 'Content-Length': '0' } }, /Content-Length/],
    [{ headers: { 'X-A': 5 } }, /headers/],
    [{ signingKey: 'ewhk_mine' }, /signingKey/],
    [{ lastState: 'success' }, /lastState/],
  ])('cannot be %j', async (wrong, message) => {
    const webhook = await newWebhook();
    const { admin } = service;
    const whole = { name: 'ok', url: 'https://example.com', enabled: true, events: ['feature.*'], payloadType: 'json' };
    expect((await admin.refused(400, postEventWebhook, { body: { ...whole, ...wrong } })).message).toMatch(message);
    const put = { params: { id: webhook.id }, body: wrong };
    expect((await admin.refused(400, putEventWebhook, put)).message).toMatch(message);
    expect((await admin.call(listEventWebhooks)).eventWebhooks).toEqual([webhook]);
  });

  test.each(['name', 'url', 'enabled', 'events', 'payloadType'])('cannot be made without %s', async (field) => {
    const whole = { name: 'ok', url: 'https://example.com', enabled: true, events: ['feature.*'], payloadType: 'json' };
    const { [field]: _, ...body } = whole as Record<string, unknown>;
    expect((await service.admin.refused(400, postEventWebhook, { body })).message).toContain(`[${field}] is required`);
  });

  test('are for those who hold manageEventWebhooks', async () => {
    const webhook = await newWebhook();
    const reader = await service.withKey({ role: 'readonly' });
    const params = { id: webhook.id };
    const whole = { name: 'ok', url: 'https://example.com', enabled: true, events: ['feature.*'], payloadType: 'json' };
    await reader.refused(403, listEventWebhooks);
    await reader.refused(403, postEventWebhook, { body: whole });
    for (const operation of [getEventWebhook, deleteEventWebhook, getEventWebhookLogs, testEventWebhook])
      await reader.refused(403, operation, { params });
    await reader.refused(403, putEventWebhook, { params, body: { name: 'Mine' } });
    expect(await shown(webhook.id)).toEqual(webhook);
  });
});

describe('an event', () => {
  test('is told to every webhook that wants to hear of it, signed over the bytes that are sent, also with secrets filled in [tenancy M88]', async () => {
    const { admin } = service;
    await admin.call(postWebhookSecret, { body: { key: 'PATH', value: 'a/b', allowedOrigins: [receiver.url] } });
    await admin.call(postWebhookSecret, {
      body: { key: 'ELSEWHERE', value: 'hush', allowedOrigins: ['https://a.example.com'] },
    });
    const webhook = await newWebhook({
      url: `${receiver.url}/{{ PATH }}`,
      method: 'PATCH',
      headers: {
        Authorization: 'Bearer {{PATH}}',
        'X-Other': '{{ ELSEWHERE }}',
        'x-service-signature': 'forged',
        'CONTENT-TYPE': 'text/plain',
        'User-Agent': 'somebody',
      },
    });
    const { id } = await newFeature(service, { description: 'Zoë 日本 😀 </script>' });
    await run();
    expect(receiver.received).toHaveLength(1);
    const [request] = receiver.received;
    expect(request).toMatchObject({ method: 'PATCH', path: '/a%2Fb' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer a/b',
      'x-other': '{{ ELSEWHERE }}',
      'content-type': 'application/json',
      'user-agent': 'Halyard',
      'x-service-signature': eventSignature(webhook.signingKey, request?.body ?? ''),
    });
    const stored = await service.db
      .selectFrom('event')
      .select(['id', 'data'])
      .where('object_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(request?.body ?? '')).toEqual(stored.data);
    expect(request?.headers['x-service-event-id']).toBe(stored.id);
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      event: 'feature.created',
      object: 'feature',
      api_version: '2024-07-31',
      data: { object: { id, description: 'Zoë 日本 😀 </script>' } },
      environments: ['production'],
      containsSecrets: false,
    });
    const [log] = await logs(webhook.id);
    expect(log).toEqual({
      id: expect.stringMatching(/^ewhl-/),
      event: 'feature.created',
      url: `${receiver.url}/{{ PATH }}`,
      method: 'PATCH',
      result: 'success',
      responseCode: 200,
      responseBody: '',
      payload: stored.data,
      dateCreated: expect.any(String),
    });
  });

  test('of words alone reaches unfiltered webhooks and none filtered by environment; a deletion reaches them all [tenancy M86]', async () => {
    const { admin } = service;
    await newEnvironment(admin, 'staging');
    await newEnvironment(admin, 'unused');
    const { id } = await newFeature(service, { environments: { production: { enabled: true } } });
    await run();
    await newWebhook({ url: `${receiver.url}/all` });
    for (const environment of ['production', 'staging', 'unused'])
      await newWebhook({ url: `${receiver.url}/${environment}`, environments: [environment] });
    await admin.call(updateFeature, { params: { id }, body: { description: 'Only words' } });
    await run();
    expect(events('/all').sort()).toEqual(['feature.revision.published', 'feature.updated']);
    for (const environment of ['production', 'staging', 'unused']) expect(events(`/${environment}`)).toEqual([]);

    await admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
    await run();
    expect(events('/production').sort()).toEqual(['feature.revision.published', 'feature.updated']);
    expect(events('/staging')).toEqual([]);

    await admin.call(updateFeature, { params: { id }, body: { archived: true } });
    await admin.call(deleteFeature, { params: { id } });
    await run();
    for (const path of ['/all', '/production', '/staging', '/unused'])
      expect(events(path)).toContain('feature.deleted');
    await admin.call(deleteEnvironment, { params: { id: 'staging' } });
    await admin.call(deleteEnvironment, { params: { id: 'unused' } });
  });

  test('of a move between projects reaches the filters of both [tenancy M87]', async () => {
    const { admin } = service;
    const project = async () => (await admin.call(postProject, { body: { name: 'P' } })).project.id;
    const [from, to, other] = [await project(), await project(), await project()];
    const { id } = await newFeature(service, { project: from });
    await run();
    for (const [path, ids] of Object.entries({ from: [from], to: [to], both: [from, to], other: [other] }))
      await newWebhook({ url: `${receiver.url}/${path}`, projects: ids, events: ['feature.updated'] });
    await admin.call(updateFeature, { params: { id }, body: { project: to } });
    await run();
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/both', '/from', '/to']);
  });

  test('is told by tag, and in the form that the webhook asks for; where there is none, nothing is sent and logged', async () => {
    const tagged = await newWebhook({ url: `${receiver.url}/slack`, payloadType: 'slack', tags: ['checkout'] });
    const raw = await newWebhook({ url: `${receiver.url}/raw`, payloadType: 'raw', events: ['feature.revision.*'] });
    await newWebhook({ url: `${receiver.url}/discord`, payloadType: 'discord', events: ['feature.created'] });
    const { id } = await newFeature(service, { tags: ['checkout'] });
    await newFeature(service);
    await service.admin.call(updateFeature, { params: { id }, body: { description: 'x' } });
    await run();
    const slack = receiver.received
      .filter(({ path }) => path === '/slack')
      .map(({ body }) => JSON.parse(body) as object);
    expect(slack).toHaveLength(3);
    expect(slack).toContainEqual({ text: `Feature created: ${id}`, blocks: [expect.any(Object)] });
    expect(receiver.received.filter(({ path }) => path === '/discord')).toHaveLength(2);
    expect(receiver.received.filter(({ path }) => path === '/raw')).toEqual([]);
    expect(await logs(raw.id)).toEqual([]);
    expect(await shown(raw.id)).toMatchObject({ lastState: 'none' });
    expect(await logs(tagged.id)).toHaveLength(3);
  });

  test('of a test reaches exactly its webhook, disabled and whatever its filters say [tenancy M91]', async () => {
    const { admin } = service;
    const webhook = await newWebhook({
      enabled: false,
      events: ['feature.deleted'],
      tags: ['nothing'],
      environments: ['production'],
    });
    const other = await newWebhook({ url: `${receiver.url}/other`, events: ['webhook.*', 'webhook.test'] });
    expect(await admin.call(testEventWebhook, { params: { id: webhook.id } })).toEqual({ queued: true });
    await run();
    expect(events()).toEqual(['webhook.test']);
    expect(events('/other')).toEqual([]);
    expect(await shown(webhook.id)).toMatchObject({ lastState: 'success', lastRunAt: expect.any(String) });
    expect(await logs(other.id)).toEqual([]);
    await newFeature(service);
    await run();
    expect(events()).toEqual(['webhook.test']);
  });
});

describe('deliveries', () => {
  test('are tried three times more, after 30 s, 5 min and 5 min; any 2xx is a success; a slow receiver is given up after 30 s [tenancy M90]', async () => {
    const { clock } = service;
    const webhook = await newWebhook({ events: ['feature.created'] });
    receiver.reply = { status: 500, body: 'x'.repeat(2_000) };
    await newFeature(service);
    await run();
    for (const [index, wait] of [30_000, 300_000, 300_000].entries()) {
      expect(receiver.received).toHaveLength(index + 1);
      clock.advance(wait - 1_000);
      await run();
      expect(receiver.received).toHaveLength(index + 1);
      clock.advance(1_100);
      await run();
    }
    expect(receiver.received).toHaveLength(4);
    clock.advance(86_400_000);
    await run();
    expect(receiver.received).toHaveLength(4);
    const requests = receiver.received.map(({ body, headers }) => [body, headers['x-service-event-id']]);
    expect(new Set(requests.map((request) => JSON.stringify(request))).size).toBe(1);
    const failures = await logs(webhook.id);
    expect(failures).toHaveLength(4);
    expect(failures[0]).toMatchObject({ result: 'error', responseCode: 500, responseBody: 'x'.repeat(1_000) });
    expect(await shown(webhook.id)).toMatchObject({ lastState: 'error', lastResponseBody: 'x'.repeat(1_000) });

    receiver.reply = 204;
    await newFeature(service);
    await run();
    clock.advance(86_400_000);
    await run();
    expect(receiver.received).toHaveLength(5);
    expect(await shown(webhook.id)).toMatchObject({ lastState: 'success', lastResponseBody: '' });
    receiver.reply = 302;
    await newFeature(service);
    await run();
    expect((await logs(webhook.id))[0]).toMatchObject({ result: 'error', responseCode: 302 });
    await service.db.deleteFrom('queued_work').execute();

    receiver.reply = 'never';
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const before = receiver.received.length;
    await service.admin.call(testEventWebhook, { params: { id: webhook.id } });
    const ran = run();
    while (receiver.received.length === before) await new Promise(setImmediate);
    vi.advanceTimersByTime(29_000);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(await logs(webhook.id)).toHaveLength(6);
    vi.advanceTimersByTime(1_000);
    await ran;
    vi.useRealTimers();
    expect((await logs(webhook.id))[0]).toMatchObject({
      result: 'error',
      responseCode: null,
      responseBody: 'There was no answer within 30 s.',
    });
  });

  test('are made once for each event and webhook, although several processes look for work at once', async () => {
    const webhook = await newWebhook({ events: ['feature.created'] });
    const second = await service.another({ OUTBOUND_ALLOW_PRIVATE_HOSTS: 'true' });
    const ids = Array.from({ length: 15 }, freshId);
    await Promise.all(ids.map((id) => newFeature(service, { id })));
    await Promise.all([run(), second.app.runJobs(), run(), second.app.runJobs()]);
    await run();
    await second.app.runJobs();
    const told = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { object: { id: string } } }).data.object.id,
    );
    expect(told.sort()).toEqual(ids.sort());
    expect(await service.db.selectFrom('outbox').selectAll().execute()).toEqual([]);
    expect(await service.db.selectFrom('queued_work').selectAll().execute()).toEqual([]);
    expect(await logs(webhook.id)).toHaveLength(15);
    await second.app.stop();
  });

  test('begin by themselves, as soon as the event is there', async () => {
    await newWebhook({ events: ['feature.created'] });
    await newFeature(service);
    await expect.poll(() => events()).toEqual(['feature.created']);
  });

  test('that a process took and did not finish are taken over when its time is up', async () => {
    const webhook = await newWebhook({ events: ['feature.created'] });
    receiver.reply = 500;
    await newFeature(service);
    await run();
    const claimed_until = new Date(service.clock.now().getTime() + 120_000);
    await service.db.updateTable('queued_work').set({ claimed_by: 'a process that is gone', claimed_until }).execute();
    receiver.reply = 200;
    service.clock.advance(60_000);
    await run();
    expect(await logs(webhook.id)).toHaveLength(1);
    service.clock.advance(61_000);
    await run();
    expect(await logs(webhook.id)).toHaveLength(2);
    expect(await service.db.selectFrom('queued_work').selectAll().execute()).toEqual([]);
  });

  test('of one webhook do not wait for those of another that is slow', async () => {
    const slow = await newWebhook({ url: `${receiver.url}/slow`, events: ['feature.created'] });
    await newWebhook({ events: ['feature.created'] });
    receiver.reply = ({ path }) => (path === '/slow' ? 'never' : 200);
    for (let count = 0; count < 5; count++) await newFeature(service);
    await expect.poll(() => events()).toHaveLength(5);
    expect(receiver.received.filter(({ path }) => path === '/slow')).toHaveLength(1);
    await service.admin.call(deleteEventWebhook, { params: { id: slow.id } });
    await receiver.stop();
    await run();
    expect(await service.db.selectFrom('webhook_log').selectAll().where('webhook', '=', slow.id).execute()).toEqual([]);
  });

  test('end when the webhook is disabled or deleted', async () => {
    const { admin, clock } = service;
    const [off, gone] = [
      await newWebhook({ events: ['feature.created'] }),
      await newWebhook({ events: ['feature.created'] }),
    ];
    receiver.reply = 500;
    await newFeature(service);
    await run();
    expect(receiver.received).toHaveLength(2);
    await admin.call(putEventWebhook, { params: { id: off.id }, body: { enabled: false } });
    await admin.call(deleteEventWebhook, { params: { id: gone.id } });
    clock.advance(30_100);
    await run();
    expect(receiver.received).toHaveLength(2);
    expect(await service.db.selectFrom('queued_work').selectAll().execute()).toEqual([]);
  });

  test('are remembered, the last 50 of each webhook, newest first', async () => {
    const webhook = await newWebhook();
    for (let count = 0; count < 52; count++) {
      receiver.reply = { status: 200, body: String(count) };
      await service.admin.call(testEventWebhook, { params: { id: webhook.id } });
      await run();
    }
    const kept = await logs(webhook.id);
    expect(kept.map(({ responseBody }) => Number(responseBody))).toEqual(
      Array.from({ length: 50 }, (_, index) => 51 - index),
    );
  });

  test('to a private address are refused where those are not allowed, when it is saved and when it is sent', async () => {
    const strict = await startService();
    const body = { name: 'Inside', url: receiver.url, enabled: true, events: ['feature.*'], payloadType: 'json' };
    const { message } = await strict.admin.refused(400, postEventWebhook, { body });
    expect(message).toContain('OUTBOUND_ALLOW_PRIVATE_HOSTS');
    await strict.stop();
  });
});

describe('what a filter names', () => {
  test('is taken out when it is deleted; a webhook that would then hear of everything is switched off instead', async () => {
    const { admin } = service;
    const { project: one } = await admin.call(postProject, { body: { name: 'One' } });
    const { project: two } = await admin.call(postProject, { body: { name: 'Two' } });
    await newEnvironment(admin, 'doomed');
    const both = await newWebhook({ projects: [one.id, two.id], environments: ['doomed', 'production'] });
    const last = await newWebhook({ projects: [one.id] });
    const lastEnvironment = await newWebhook({ environments: ['doomed'] });
    await admin.call(deleteProject, { params: { id: one.id } });
    await admin.call(deleteEnvironment, { params: { id: 'doomed' } });
    expect(await shown(both.id)).toMatchObject({ enabled: true, projects: [two.id], environments: ['production'] });
    expect(await shown(last.id)).toMatchObject({ enabled: false, projects: [one.id] });
    expect(await shown(lastEnvironment.id)).toMatchObject({ enabled: false, environments: ['doomed'] });
    // What is gone may stay where it stands, and cannot be named anew.
    await admin.call(putEventWebhook, { params: { id: last.id }, body: { name: 'Still here' } });
    await admin.refused(400, putEventWebhook, { params: { id: both.id }, body: { projects: [one.id] } });
  });
});

describe('webhook secrets', () => {
  test('never show their value, which is stored encrypted', async () => {
    const { admin } = service;
    const body = {
      key: 'A_1',
      value: 'hush hush',
      description: 'For the store',
      allowedOrigins: ['https://EXAMPLE.com/'],
    };
    const { webhookSecret: secret } = await admin.call(postWebhookSecret, { body });
    expect(secret).toEqual({
      id: expect.stringMatching(/^whs_/),
      key: 'A_1',
      description: 'For the store',
      allowedOrigins: ['https://example.com'],
      dateCreated: expect.any(String),
      dateUpdated: expect.any(String),
    });
    const params = { id: secret.id };
    expect((await admin.call(getWebhookSecret, { params })).webhookSecret).toEqual(secret);
    expect((await admin.call(listWebhookSecrets)).webhookSecrets).toEqual([secret]);
    expect((await admin.call(putWebhookSecret, { params, body: { value: 'hush hush' } })).webhookSecret).toEqual(
      secret,
    );
    await admin.call(putWebhookSecret, { params, body: { value: 'another hush' } });
    await admin.call(deleteWebhookSecret, { params });
    await admin.refused(404, getWebhookSecret, { params });
    const stored = await service.db.selectFrom('plain_object').selectAll().execute();
    const { audits } = await service.history(secret.id);
    expect(audits.map(({ event }) => event)).toEqual([
      'webhookSecret.create',
      'webhookSecret.update',
      'webhookSecret.delete',
    ]);
    expect(JSON.stringify([stored, audits])).not.toContain('hush');
  });

  test.each([
    [{ key: 'lower' }, /capital letters/],
    [{ key: '' }, /key/],
    [{ value: '' }, /empty/],
    [{ value: 'two\nlines' }, /printable/],
    [{ allowedOrigins: ['example.com'] }, /no origin/],
    [{ allowedOrigins: ['https://example.com/path'] }, /no origin/],
    [{ allowedOrigins: ['ftp://example.com'] }, /no origin/],
    [{ id: 'whs_mine' }, /id/],
  ])('cannot be %j', async (wrong, message) => {
    const body = { key: 'OK', value: 'ok', ...wrong };
    expect((await service.admin.refused(400, postWebhookSecret, { body })).message).toMatch(message);
    expect((await service.admin.call(listWebhookSecrets)).webhookSecrets).toEqual([]);
  });

  test('have keys of their own, also when two are made at once', async () => {
    const { admin } = service;
    const answers = await Promise.all(
      [1, 2, 3, 4].map((value) => admin.request(postWebhookSecret, { body: { key: 'SAME', value: String(value) } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const { webhookSecret: other } = await admin.call(postWebhookSecret, { body: { key: 'OTHER', value: 'x' } });
    const taken = { params: { id: other.id }, body: { key: 'SAME' } };
    expect((await admin.refused(400, putWebhookSecret, taken)).message).toContain('"SAME"');
    const reader = await service.withKey({ role: 'readonly' });
    await reader.refused(403, listWebhookSecrets);
    await reader.refused(403, getWebhookSecret, { params: { id: other.id } });
    await reader.refused(403, postWebhookSecret, { body: { key: 'MINE', value: 'x' } });
    await reader.refused(403, putWebhookSecret, { params: { id: other.id }, body: { value: 'x' } });
    await reader.refused(403, deleteWebhookSecret, { params: { id: other.id } });
  });
});
