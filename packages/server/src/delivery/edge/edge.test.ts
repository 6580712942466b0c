import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  deleteSdkConnection,
  postAttribute,
  putSdkConnection,
  type SdkConnection,
  updateFeature,
} from '@halyard/contract';
import type { Payload } from '@halyard/evaluation';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload } from '../../../testing/delivery.ts';
import { endEdges, startTestEdge, type TestEdge } from '../../../testing/edge.ts';
import { newConnection, newFeature, newSavedGroup, ruleFor } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { openStream, openStreamAt } from '../../../testing/streams.ts';
import { settingsId, settingsKind } from '../../organization/index.ts';
import { createLog } from '../../platform/index.ts';
import { Edge, type EdgeOptions } from './edge.ts';

/** An edge and the service that it follows. */

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(endEdges);

const min = (version: number) => ({ 'X-Service-Min-Config-Version': String(version) });

const withSecretKey = async (): Promise<TestEdge> => {
  const { key } = await service.withKey({ role: 'readonly' });
  return startTestEdge({ HALYARD_UPSTREAM: `${service.url}/api`, HALYARD_EDGE_SECRET_KEY: key });
};
const withClientKeys = (...connections: SdkConnection[]): Promise<TestEdge> =>
  startTestEdge({
    HALYARD_UPSTREAM: service.url,
    HALYARD_EDGE_CLIENT_KEYS: connections.map(({ key }) => key).join(','),
  });

/** Waits until the edge says that it has the newest of this connection. */
const following = ({ url }: TestEdge, { key }: SdkConnection) =>
  expect
    .poll(
      async () => {
        const { status, headers } = await fetchPayload(url, key);
        return status === 200 && !headers.has('x-service-config-age');
      },
      { timeout: 5_000 },
    )
    .toBe(true);

/** Everything of an answer that an SDK could see, but the time and the connection it came by. */
async function seen(url: string, key: string, headers: Record<string, string> = {}) {
  const response = await fetchPayload(url, key, headers);
  const { date: _, connection: __, 'keep-alive': ___, ...rest } = Object.fromEntries(response.headers);
  return { status: response.status, headers: rest, body: await response.text() };
}

/** Both compress in another thread: waits until this one has. */
const compressed = (url: string, key: string, coding: string) =>
  expect
    .poll(async () => (await fetchPayload(url, key, { 'accept-encoding': coding })).headers.get('content-encoding'))
    .toBe(coding);

describe('edge and service answer alike', () => {
  test.each([
    ['plain, with client keys', {}, withClientKeys],
    ['encrypted, with client keys', { encryptPayload: true }, withClientKeys],
    ['plain, with a secret key', {}, withSecretKey],
    ['encrypted, with a secret key', { encryptPayload: true }, withSecretKey],
    [
      'with experiments and groups',
      { includeVisualExperiments: true, savedGroupReferencesEnabled: true },
      withClientKeys,
    ],
  ])('%s: the same bytes, tags and headers in every coding', async (_, options, start) => {
    const { id } = await newSavedGroup(service.admin, { values: ['é "quoted" \\ 日本 🎉', '</script>'] });
    await newFeature(service, { valueType: 'string', defaultValue: 'é "quoted" \\ 日本 🎉', rules: [ruleFor(id)] });
    const connection = await newConnection(service.admin, options);
    const edge = await start(connection);
    await following(edge, connection);
    for (const coding of ['identity', 'gzip', 'br']) {
      const accepted = { 'accept-encoding': coding };
      if (coding !== 'identity') {
        await compressed(service.url, connection.key, coding);
        await compressed(edge.url, connection.key, coding);
      }
      const ours = await seen(edge.url, connection.key, accepted);
      expect(ours).toEqual(await seen(service.url, connection.key, accepted));
      const again = { ...accepted, 'if-none-match': ours.headers.etag ?? '' };
      const known = await seen(edge.url, connection.key, again);
      expect(known.status).toBe(304);
      expect(known).toEqual(await seen(service.url, connection.key, again));
    }
    expect((await fetchPayload(edge.url, connection.key, { ...min(0), 'x-custom': 'x' })).status).toBe(200);
  });

  test.each([
    ['plain', {}, withClientKeys],
    ['encrypted', { encryptPayload: true }, withClientKeys],
    ['set to remote evaluation', { remoteEvalEnabled: true }, withSecretKey],
  ])('%s: the same events by their streams', async (_, options, start) => {
    const { id } = await newFeature(service);
    const connection = await newConnection(service.admin, options);
    const edge = await start(connection);
    await expect.poll(() => edge.app.ready).toBe(true);
    const openBoth = async (headers: Record<string, string>) => {
      const pair = [
        await openStream(service.url, connection.key, headers),
        await openStream(edge.url, connection.key, headers),
      ];
      return {
        next: () => Promise.all(pair.map((stream) => stream.next())),
        close: () => pair.map((one) => one.close()),
      };
    };
    const streams = await openBoth({});
    const [youngest, sameYoungest] = await streams.next();
    expect(sameYoungest).toEqual(youngest);
    await service.admin.call(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    const [event, sameEvent] = await streams.next();
    expect(sameEvent).toEqual(event);
    expect(event?.event).toBe('remoteEvalEnabled' in options ? 'features-updated' : 'features');
    streams.close();

    const later = await openBoth({ 'Last-Event-ID': youngest?.id ?? '' });
    const [missed, sameMissed] = await later.next();
    expect(missed).toEqual(event);
    expect(sameMissed).toEqual(event);
    later.close();
  });

  test('what both refuse, they refuse in the same words', async () => {
    const remote = await newConnection(service.admin, { remoteEvalEnabled: true });
    const edge = await withSecretKey();
    await expect
      .poll(async () => (await fetchPayload(edge.url, 'sdk-unknown')).headers.has('x-unrecoverable'), {
        timeout: 10_000,
      })
      .toBe(true);
    for (const key of ['', 'sdk-unknown', 'secret_of_somebody', remote.key]) {
      expect(await seen(edge.url, key)).toEqual(await seen(service.url, key));
    }
    const broken = { 'X-Service-Min-Config-Version': 'x' };
    const { key } = await newConnection(service.admin);
    const other = await startTestEdge({ HALYARD_UPSTREAM: service.url, HALYARD_EDGE_CLIENT_KEYS: key });
    expect(await seen(other.url, key, broken)).toEqual(await seen(service.url, key, broken));
  });
});

describe('what values are evaluated from', () => {
  let connections: Record<'plain' | 'encrypted' | 'hashed' | 'remote', SdkConnection>;
  beforeAll(async () => {
    const change = { kind: settingsKind, id: settingsId, state: { secureAttributeSalt: 'salt' } };
    await service.recorder.publish(service.id, { type: 'system' }, () => ({
      publication: { changes: [change], audit: [] },
      result: null,
    }));
    await service.admin.call(postAttribute, { body: { property: 'email', datatype: 'secureString' } });
    await newFeature(service, {
      id: 'secured',
      rules: [{ type: 'force', value: 'true', condition: '{"email":"alice@example.com"}' }],
    });
    connections = {
      plain: await newConnection(service.admin),
      encrypted: await newConnection(service.admin, { encryptPayload: true }),
      hashed: await newConnection(service.admin, { hashSecureAttributes: true, encryptPayload: true }),
      remote: await newConnection(service.admin, { remoteEvalEnabled: true, hashSecureAttributes: true }),
    };
  });

  const sources: Edge[] = [];
  afterEach(async () => {
    for (const source of sources.splice(0)) await source.stop();
  });
  const source = async (credentials: EdgeOptions['credentials']) => {
    const { dataDirectory, clock } = await startTestEdge({
      HALYARD_UPSTREAM: service.url,
      HALYARD_EDGE_CLIENT_KEYS: 'sdk-x',
    });
    const log = createLog({ LOG_LEVEL: 'silent' });
    const directory = join(dataDirectory, 'second');
    const edge = await Edge.start({ address: service.url, credentials, dataDirectory: directory, clock, log });
    sources.push(edge);
    return edge;
  };
  const servedBy = async (edge: Edge, { key }: SdkConnection) => {
    await expect.poll(() => edge.use(key)?.served ?? null, { timeout: 5_000 }).not.toBeNull();
    const { text, unhashed } = edge.use(key)?.served ?? {};
    const rulesOf = (features: string | undefined) =>
      features === undefined ? null : (JSON.parse(features) as Payload['features']).secured?.rules;
    return { text: rulesOf(text?.features), unhashed: rulesOf(unhashed?.features) };
  };
  const hashed = '109f0b7ded1d94140eda40c1286befd64aec56290dba9e6642f3d096e9fc3b05';
  const forceFor = (email: string) => [{ condition: { email }, force: true }];

  test('is known of every connection with a secret key: decrypted, and with unhashed operands', async () => {
    const { key: secretKey } = await service.withKey({ role: 'readonly' });
    const edge = await source({ secretKey });
    const plain = forceFor('alice@example.com');
    expect(await servedBy(edge, connections.plain)).toEqual({ text: plain, unhashed: plain });
    expect(await servedBy(edge, connections.encrypted)).toEqual({ text: plain, unhashed: plain });
    expect(await servedBy(edge, connections.hashed)).toEqual({ text: forceFor(hashed), unhashed: plain });
    expect(await servedBy(edge, connections.remote)).toEqual({ text: forceFor(hashed), unhashed: plain });
    expect(edge.use(connections.remote.key)?.remoteOnly).toBe(true);
  });

  test('is known with client keys alone only where the payload is plain and hashes nothing', async () => {
    const { plain, encrypted } = connections;
    const hashing = await newConnection(service.admin, { hashSecureAttributes: true });
    const edge = await source({ clientKeys: [plain.key, encrypted.key, hashing.key] });
    const rule = forceFor('alice@example.com');
    expect(await servedBy(edge, plain)).toEqual({ text: rule, unhashed: rule });
    expect(await servedBy(edge, encrypted)).toEqual({ text: null, unhashed: null });
    expect(await servedBy(edge, hashing)).toEqual({ text: forceFor(hashed), unhashed: null });
  });
});

describe('values of one user', () => {
  let options: Record<string, SdkConnection>;
  beforeAll(async () => {
    const testers = await newSavedGroup(service.admin, { attributeKey: 'email', values: ['bob@example.com'] });
    await newFeature(service, {
      valueType: 'string',
      defaultValue: 'everyone',
      rules: [
        { ...ruleFor(testers.id), value: 'tester' },
        { type: 'force', value: 'alice', condition: '{"email":"alice@example.com"}' },
        { type: 'rollout', value: 'half', coverage: 0.5, hashAttribute: 'id' },
      ],
    });
    options = {
      plain: await newConnection(service.admin),
      encrypted: await newConnection(service.admin, { encryptPayload: true, includeRuleIds: true }),
      hashed: await newConnection(service.admin, { hashSecureAttributes: true }),
      'with groups': await newConnection(service.admin, {
        savedGroupReferencesEnabled: true,
        hashSecureAttributes: true,
        encryptPayload: true,
      }),
      remote: await newConnection(service.admin, { remoteEvalEnabled: true }),
      'remote, encrypted and hashed': await newConnection(service.admin, {
        remoteEvalEnabled: true,
        encryptPayload: true,
        hashSecureAttributes: true,
      }),
    };
  });
  const users = [
    {},
    { id: 'u1' },
    { id: 'u2' },
    { id: 'u3', email: 'alice@example.com' },
    { email: 'bob@example.com' },
  ];

  /** What a user is answered, without what differs between any two answers. */
  const asked = async (url: string, path: string, key: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    });
    const { date: _, connection: __, 'keep-alive': ___, ...rest } = Object.fromEntries(response.headers);
    return { status: response.status, headers: rest, body: await response.text() };
  };
  const flags = '/ofrep/v1/evaluate/flags';

  test('edge and service answer alike with a secret key: remote evaluation and OpenFeature, of every connection', async () => {
    const edge = await withSecretKey();
    const least = min(await service.version());
    for (const { key, remoteEvalEnabled } of Object.values(options)) {
      await expect.poll(async () => (await asked(edge.url, flags, key, { context: {} })).status).toBe(200);
      for (const user of users) {
        const [evaluated, all] = await Promise.all([
          asked(edge.url, `/api/eval/${key}`, key, { attributes: user }, least),
          asked(edge.url, flags, key, { context: user }, least),
        ]);
        expect(evaluated.status).toBe(remoteEvalEnabled ? 200 : 400);
        expect(evaluated).toEqual(await asked(service.url, `/api/eval/${key}`, key, { attributes: user }, least));
        expect(all.status).toBe(200);
        expect(all).toEqual(await asked(service.url, flags, key, { context: user }, least));
        expect(all.body.includes('"tester"')).toBe('email' in user && user.email === 'bob@example.com');
        const again = { ...least, 'if-none-match': all.headers.etag ?? '' };
        expect((await asked(edge.url, flags, key, { context: user }, again)).status).toBe(304);
      }
    }
  });

  test('with client keys, what the edge cannot read is refused in words that say what would mend it', async () => {
    const { plain, encrypted, hashed } = options;
    if (plain === undefined || encrypted === undefined || hashed === undefined)
      throw new Error('They are made before.');
    const edge = await withClientKeys(plain, encrypted, hashed);
    for (const connection of [plain, encrypted, hashed]) await following(edge, connection);
    const context = { context: { id: 'u1' } };
    expect(await asked(edge.url, flags, plain.key, context)).toEqual(
      await asked(service.url, flags, plain.key, context),
    );
    for (const { key } of [encrypted, hashed]) {
      for (const path of [flags, `${flags}/any`]) {
        const refused = await asked(edge.url, path, key, context);
        expect([refused.status, JSON.parse(refused.body)]).toEqual([
          400,
          expect.objectContaining({
            errorCode: 'GENERAL',
            errorDetails: expect.stringContaining('HALYARD_EDGE_SECRET_KEY'),
          }),
        ]);
      }
    }
  });

  test('an OpenFeature provider at the edge hears of changes', async () => {
    const { id } = await newFeature(service);
    const connection = await newConnection(service.admin);
    const edge = await withSecretKey();
    await expect.poll(async () => (await fetchPayload(edge.url, connection.key)).status, { timeout: 5_000 }).toBe(200);
    const stream = await openStreamAt(`${edge.url}/ofrep/v1/events/${connection.key}`, {
      'Last-Event-ID': String(await service.version()),
    });
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    expect(await stream.next()).toMatchObject({ event: 'message', id: String(version) });
    const fresh = await asked(edge.url, `${flags}/${id}?flagConfigEtag=v${version}`, connection.key, { context: {} });
    expect(JSON.parse(fresh.body)).toMatchObject({ value: true });
    stream.close();
  });
});

describe('following', () => {
  test('a change is served at once, and an edge of an edge serves it as well', async () => {
    const { id } = await newFeature(service);
    const connection = await newConnection(service.admin);
    const near = await withClientKeys(connection);
    const far = await startTestEdge({ HALYARD_UPSTREAM: near.url, HALYARD_EDGE_CLIENT_KEYS: connection.key });
    for (const edge of [near, far]) await following(edge, connection);
    for (const value of ['true', 'false']) {
      await service.admin.call(updateFeature, { params: { id }, body: { defaultValue: value } });
      for (const { url } of [near, far]) {
        await expect
          .poll(async () => ((await (await fetchPayload(url, connection.key)).json()) as Payload).features[id])
          .toEqual({ defaultValue: value === 'true' });
      }
    }
    expect(await seen(far.url, connection.key)).toEqual(await seen(service.url, connection.key));
  });

  test('a version that it does not have is asked for, with the tag of what it has', async () => {
    const { id } = await newFeature(service);
    const connection = await newConnection(service.admin);
    const edge = await withClientKeys(connection);
    await following(edge, connection);
    const etag = (await fetchPayload(edge.url, connection.key)).headers.get('etag') ?? '';

    // Nothing of this payload changes, so no stream tells of it.
    const body = { description: 'For people' };
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body });
    const same = await fetchPayload(edge.url, connection.key, { ...min(version), 'if-none-match': etag });
    expect([same.status, same.headers.get('x-service-config-version')]).toEqual([304, String(version)]);

    const landed = await service.admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    const fresh = await fetchPayload(edge.url, connection.key, { ...min(landed.version), 'if-none-match': etag });
    expect([fresh.status, fresh.headers.get('x-service-config-version')]).toEqual([200, String(landed.version)]);
    expect(((await fresh.json()) as Payload).features[id]).toEqual({ defaultValue: true });

    const future = await fetchPayload(edge.url, connection.key, min(landed.version + 1_000));
    expect([future.status, future.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetchPayload(edge.url, connection.key)).headers.has('x-service-config-age')).toBe(false);
  });

  test('a deleted connection is an unknown key at once, on disk too, and its streams end; a new one is found', async () => {
    const connection = await newConnection(service.admin);
    const edge = await withSecretKey();
    await expect.poll(async () => (await fetchPayload(edge.url, connection.key)).status, { timeout: 5_000 }).toBe(200);
    const stream = await openStream(edge.url, connection.key);
    const name = createHash('sha256').update(connection.key).digest('hex').slice(0, 32);
    const kept = async () => (await readdir(join(edge.dataDirectory, 'edge'))).filter((file) => file.startsWith(name));
    expect(await kept()).toContain(`${name}.payload`);
    const fresh = await newConnection(service.admin);
    await service.admin.call(deleteSdkConnection, { params: { id: connection.id } });
    await stream.ended;
    await expect.poll(() => seen(edge.url, connection.key)).toEqual(await seen(service.url, connection.key));
    await expect.poll(kept).toEqual([]);
    await expect.poll(async () => (await fetchPayload(edge.url, fresh.key)).status, { timeout: 5_000 }).toBe(200);
  });

  test('a connection that is set to remote evaluation gives out no definitions any more', async () => {
    const connection = await newConnection(service.admin);
    const edge = await withSecretKey();
    await expect.poll(async () => (await fetchPayload(edge.url, connection.key)).status, { timeout: 5_000 }).toBe(200);
    const change = { params: { id: connection.id }, body: { remoteEvalEnabled: true } };
    await service.admin.call(putSdkConnection, change);
    const refusal = await seen(service.url, connection.key);
    await expect.poll(() => seen(edge.url, connection.key), { timeout: 5_000 }).toEqual(refusal);
  });

  test('with client keys, a key that the upstream does not know is unknown here, and says so once in the log', async () => {
    const edge = await startTestEdge({ HALYARD_UPSTREAM: service.url, HALYARD_EDGE_CLIENT_KEYS: 'sdk-nobody' });
    await expect.poll(() => edge.warnings.length).toBe(1);
    expect(edge.warnings[0]).toContain('There is no SDK connection of this client key');
    expect(await seen(edge.url, 'sdk-nobody')).toEqual(await seen(service.url, 'sdk-nobody'));
    expect(edge.app.ready).toBe(false);
  });
});

describe('beside the public routes', () => {
  test('there is health, and for everything else the word that this is an edge, and of which upstream', async () => {
    const connection = await newConnection(service.admin);
    const edge = await withClientKeys(connection);
    await expect.poll(() => edge.app.ready).toBe(true);
    for (const path of ['/healthz', '/readyz', '/healthcheck'])
      expect((await fetch(`${edge.url}${path}`)).status).toBe(200);
    for (const path of ['/', '/api/v1/sdk-connections', `/v1/sdk-payload/${connection.key}`, '/api/openapi.json']) {
      const response = await fetch(`${edge.url}${path}`, { headers: { authorization: 'Bearer secret_x' } });
      expect(response.status).toBe(404);
      const { message } = (await response.json()) as { message: string };
      expect(message).toContain('This is an edge');
      expect(message).toContain(service.url);
    }
    const preflight = await fetch(`${edge.url}/api/features/${connection.key}`, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });

  test.each([
    [{}, /^Setting HALYARD_UPSTREAM: /],
    [{ HALYARD_UPSTREAM: 'http://localhost:1' }, /^Setting HALYARD_EDGE_CLIENT_KEYS: .*HALYARD_EDGE_SECRET_KEY/],
    [
      {
        HALYARD_UPSTREAM: 'http://localhost:1',
        HALYARD_EDGE_CLIENT_KEYS: 'sdk-a',
        HALYARD_EDGE_SECRET_KEY: 'secret_b',
      },
      /^Setting HALYARD_EDGE_CLIENT_KEYS: .*set one/,
    ],
    [
      { HALYARD_UPSTREAM: 'http://localhost:1', HALYARD_EDGE_CLIENT_KEYS: 'sdk-a', HALYARD_DATA_DIR: '/dev/null' },
      /^The data directory \/dev\/null cannot be used/,
    ],
  ])('a start that cannot work says why in one line (%j)', async (environment, line) => {
    await expect(startTestEdge(environment)).rejects.toThrow(line);
  });
});
