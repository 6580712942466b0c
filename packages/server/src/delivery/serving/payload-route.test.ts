import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  deleteSdkConnection,
  getSdkPayload,
  getSdkPayloadForEvaluation,
  postAttribute,
  postProject,
  putAttribute,
  putSdkConnection,
  toggleFeature,
  updateFeature,
} from '@halyard/contract';
import { decryptText, type Payload } from '@halyard/evaluation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload, payloadOf } from '../../../testing/delivery.ts';
import { newConnection, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { settingsId, settingsKind } from '../../organization/index.ts';

/** A request that lets nobody decompress the answer on the way. */
function rawGet(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: http.IncomingHttpHeaders; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
        );
      })
      .on('error', reject);
  });
}

describe('the payload route', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const min = (version: number) => ({ 'X-Service-Min-Config-Version': String(version) });
  const get = (key: string, headers: Record<string, string> = {}) => fetchPayload(service.url, key, headers);
  /** Waits until the compressed forms are made. */
  const compressed = async (key: string, coding: string) => {
    for (;;) {
      const answer = await rawGet(`${service.url}/api/features/${key}`, { 'accept-encoding': coding });
      if (answer.headers['content-encoding'] === coding) return answer;
    }
  };

  test('answers with the payload and how long it may be kept', async () => {
    const { key } = await newConnection(service.admin);
    const { id } = await newFeature(service);
    const response = await get(key, min(await service.version()));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=30, stale-while-revalidate=3600, stale-if-error=36000',
      vary: 'Accept-Encoding',
      etag: expect.stringMatching(/^"[\w-]+"$/),
      'x-sse-support': 'enabled',
      'x-service-config-version': String(await service.version()),
    });
    const body = (await response.json()) as Payload & { status: number };
    expect(Object.keys(body)).toEqual(['status', 'features', 'dateUpdated']);
    expect(body.status).toBe(200);
    expect(body.features[id]).toEqual({ defaultValue: false });
  });

  test('the experiments are absent unless their kinds are on, then present, if only empty [flags M67]', async () => {
    const members = async (more: object) => {
      const { key } = await newConnection(service.admin, more);
      return Object.entries(await payloadOf(service.url, key, await service.version()));
    };
    expect((await members({})).map(([name]) => name)).toEqual(['features', 'dateUpdated']);
    expect(await members({ includeVisualExperiments: true })).toContainEqual(['experiments', []]);
    expect(await members({ includeRedirectExperiments: true })).toContainEqual(['experiments', []]);
    expect((await members({ savedGroupReferencesEnabled: true })).map(([name]) => name)).toEqual([
      'features',
      'dateUpdated',
      'savedGroups',
    ]);
    expect(await members({ savedGroupReferencesEnabled: true })).toContainEqual(['savedGroups', {}]);
  });

  test('a connection whose projects the environment does not let in gets the empty payload, whole', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'In' } });
    const { project: out } = await admin.call(postProject, { body: { name: 'Out' } });
    await newEnvironment(admin, 'narrow', { projects: [project.id] });
    const plain = await newConnection(admin, { environment: 'narrow', projects: [out.id] });
    const payload = await payloadOf(service.url, plain.key, await service.version());
    expect(payload).toEqual({ features: {}, experiments: [], dateUpdated: payload.dateUpdated, savedGroups: {} });
    const secret = await newConnection(admin, { environment: 'narrow', projects: [out.id], encryptPayload: true });
    const encrypted = await payloadOf(service.url, secret.key, await service.version());
    expect(Object.keys(encrypted)).toEqual([
      'features',
      'experiments',
      'dateUpdated',
      'encryptedFeatures',
      'encryptedExperiments',
      'encryptedSavedGroups',
    ]);
  });

  test('an encrypted payload decrypts to the plain one; what is there changes only with it [flags M89]', async () => {
    const { admin } = service;
    const plain = await newConnection(admin, { savedGroupReferencesEnabled: true, includeVisualExperiments: true });
    const secret = await newConnection(admin, {
      savedGroupReferencesEnabled: true,
      includeVisualExperiments: true,
      encryptPayload: true,
    });
    const { id } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', condition: '{"name":"Zoë 日本 😀"}' }],
    });
    const second = await service.another();
    const version = await service.version();
    const read = (url: string) => payloadOf(url, secret.key, version);

    const encrypted = await read(service.url);
    const open = await payloadOf(service.url, plain.key, version);
    expect(encrypted.features).toEqual({});
    expect(encrypted.experiments).toEqual([]);
    expect(encrypted).not.toHaveProperty('savedGroups');
    const decrypt = (text: string | undefined) => decryptText(text ?? '', secret.encryptionKey);
    expect(decrypt(encrypted.encryptedFeatures)).toBe(JSON.stringify(open.features));
    expect(decrypt(encrypted.encryptedExperiments)).toBe('[]');
    expect(decrypt(encrypted.encryptedSavedGroups)).toBe('{}');
    const ivs = (payload: Payload) =>
      [payload.encryptedFeatures, payload.encryptedExperiments, payload.encryptedSavedGroups].map(
        (text) => text?.split('.')[0],
      );
    expect(new Set(ivs(encrypted)).size).toBe(3);

    expect(await read(service.url)).toEqual(encrypted);
    expect(await read(second.url)).toEqual(encrypted);
    const { version: later } = await admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    const after = await payloadOf(service.url, secret.key, later);
    expect(ivs(after).filter((iv) => ivs(encrypted).includes(iv))).toEqual([]);
    expect(await payloadOf(second.url, secret.key, later)).toEqual(after);
  });

  test('what was compiled on demand, in another process, is what refreshing gave, byte for byte [flags M91]', async () => {
    const { admin } = service;
    const connection = await newConnection(admin, {
      includeRuleIds: true,
      includeProjectIdInMetadata: true,
      includeTagsInMetadata: true,
      includeExperimentNames: true,
      includeExperimentScheduleInMetadata: true,
      includeDraftExperimentRefs: true,
      savedGroupReferencesEnabled: true,
    });
    const { project } = await admin.call(postProject, { body: { name: 'Meta' } });
    const { id } = await newFeature(service, {
      project: project.id,
      tags: ['xx'],
      rules: [{ type: 'force', value: 'true' }],
    });
    await admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
    const { version } = await admin.answer(toggleFeature, {
      params: { id },
      body: { environments: { production: true } },
    });
    // Of the plain body: the compressed ones follow when they are ready.
    const headers = { ...min(version), 'Accept-Encoding': 'identity' };
    const refreshed = await get(connection.key, headers);
    const second = await service.another();
    const onDemand = await fetchPayload(second.url, connection.key, headers);
    expect(onDemand.headers.get('etag')).toBe(refreshed.headers.get('etag'));
    expect(await onDemand.text()).toBe(await refreshed.text());
  });

  test('unknown keys are refused for good, with a reason; what is no key at all likewise [flags M93]', async () => {
    for (const [key, named] of [
      ['sdk-unknown', 'no SDK connection'],
      ['', 'missing'],
      ['secret_admin_abc', 'secret key'],
      ['a%2Fb', 'no SDK connection'],
      ['%zz', 'no SDK connection'],
      ['x'.repeat(5_000), 'no SDK connection'],
      ['__proto__', 'no SDK connection'],
    ]) {
      const response = await get(key ?? '');
      expect(response.status).toBe(400);
      expect(response.headers.get('x-unrecoverable')).toBe('1');
      expect(await response.json()).toEqual({ status: 400, error: expect.stringContaining(named ?? '') });
    }
  });

  test('a connection set to remote evaluation gives out no definitions, but proxies get them', async () => {
    const { key } = await newConnection(service.admin, { remoteEvalEnabled: true });
    const { id } = await newFeature(service);
    const response = await get(key);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-unrecoverable')).toBe('1');
    const headers = min(await service.version());
    const payload = await service.admin.answer(getSdkPayload, { params: { key }, headers });
    expect(payload.body).toMatchObject({ status: 200, features: { [id]: { defaultValue: false } } });
    expect(payload.headers.has('cache-control')).toBe(false);
    expect(payload.version).toBe(await service.version());
    await service.admin.refused(404, getSdkPayload, { params: { key: 'sdk-unknown' } });
    const stranger = await service.newOrganization('Stranger');
    await stranger.admin.refused(404, getSdkPayload, { params: { key } });
  });

  test('an edge learns which version changed a payload last, and may read what values are evaluated from', async () => {
    const organization = await service.newOrganization('Hashing');
    const { admin, id: organizationId } = organization;
    const change = { kind: settingsKind, id: settingsId, state: { secureAttributeSalt: 'salt' } };
    await service.recorder.publish(organizationId, { type: 'system' }, () => ({
      publication: { changes: [change], audit: [] },
      result: null,
    }));
    await admin.call(postAttribute, { body: { property: 'email', datatype: 'secureString' } });
    const { key } = await newConnection(admin, { hashSecureAttributes: true, encryptPayload: true });
    const { id } = await newFeature(organization, {
      rules: [{ type: 'force', value: 'true', condition: '{"email":"alice@example.com"}' }],
    });
    const changed = await service.version(organizationId);
    const { version } = await admin.answer(updateFeature, { params: { id }, body: { description: 'Elsewhere' } });

    const facts = (headers: Headers) => [
      headers.get('x-service-config-version'),
      headers.get('x-service-payload-version'),
      headers.get('x-service-payload-hashed'),
    ];
    const payload = await get(key, min(version));
    expect(facts(payload.headers)).toEqual([String(version), String(changed), 'true']);
    const inPart = await admin.answer(getSdkPayload, { params: { key } });
    expect(facts(inPart.headers)).toEqual(facts(payload.headers));
    const plain = await admin.answer(getSdkPayloadForEvaluation, { params: { key }, headers: min(version) });
    expect(facts(plain.headers)).toEqual(facts(payload.headers));
    expect(plain.body).toEqual({
      status: 200,
      features: { [id]: { defaultValue: false, rules: [{ condition: { email: 'alice@example.com' }, force: true }] } },
      dateUpdated: ((await payload.json()) as Payload).dateUpdated,
    });
    await admin.refused(404, getSdkPayloadForEvaluation, { params: { key: 'sdk-unknown' } });
    const unhashed = await newConnection(admin);
    expect(facts((await get(unhashed.key)).headers).at(-1)).toBeNull();
  });

  test('a tag that is still right answers 304, in every process, also after a landing elsewhere [flags M96]', async () => {
    const { admin } = service;
    await newEnvironment(admin, 'dev');
    const { key } = await newConnection(admin);
    const { id } = await newFeature(service);
    const first = await get(key, min(await service.version()));
    const etag = first.headers.get('etag') ?? '';
    const second = await service.another();
    for (const url of [service.url, second.url]) {
      const again = await fetchPayload(url, key, { 'If-None-Match': etag });
      expect(again.status).toBe(304);
      expect(again.headers.get('etag')).toBe(etag);
      expect(await again.text()).toBe('');
    }
    // Nothing of this payload: another environment, words for people, another feature that is off here.
    await admin.call(updateFeature, { params: { id }, body: { description: 'x' } });
    const { version } = await admin.answer(toggleFeature, { params: { id }, body: { environments: { dev: true } } });
    const unchanged = await fetchPayload(second.url, key, { 'If-None-Match': `"other", W/${etag}`, ...min(version) });
    expect(unchanged.status).toBe(304);
    expect(Number(unchanged.headers.get('x-service-config-version'))).toBeGreaterThanOrEqual(version);

    const { version: changed } = await admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'true' } });
    const fresh = await get(key, { 'If-None-Match': etag, ...min(changed) });
    expect(fresh.status).toBe(200);
    expect(fresh.headers.get('etag')).not.toBe(etag);

    const identity = await rawGet(`${service.url}/api/features/${key}`, {});
    const gzip = await compressed(key, 'gzip');
    const brotli = await compressed(key, 'br');
    const tags = [identity, gzip, brotli].map((answer) => answer.headers.etag);
    expect(new Set(tags).size).toBe(3);
    for (const answer of [identity, gzip, brotli]) expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(gunzipSync(gzip.bytes)).toEqual(identity.bytes);
    expect(brotliDecompressSync(brotli.bytes)).toEqual(identity.bytes);
    for (const tag of tags) {
      const known = await rawGet(`${service.url}/api/features/${key}`, { 'if-none-match': tag ?? '' });
      expect([known.status, known.headers.etag]).toEqual([304, tag]);
    }
  });

  test.each([
    ['gzip;q=0.5, br;q=0.1', 'gzip'],
    ['br, gzip', 'br'],
    ['*', 'br'],
    ['gzip;q=0', undefined],
    ['deflate', undefined],
    ['identity, gzip;q=0.5', undefined],
    [',;q=,gzip;q=x', undefined],
  ])('of what the client accepts (%s) the most wanted is sent', async (accepted, coding) => {
    const { key } = await newConnection(service.admin);
    await compressed(key, 'gzip');
    const answer = await rawGet(`${service.url}/api/features/${key}`, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(coding);
  });

  test('identical content keeps its date, whatever lands beside it', async () => {
    const { key } = await newConnection(service.admin);
    const { id } = await newFeature(service);
    const { dateUpdated } = await payloadOf(service.url, key, await service.version());
    await service.admin.call(putAttribute, { params: { property: 'url' }, body: { description: 'The address' } });
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body: { description: 'x' } });
    expect((await payloadOf(service.url, key, version)).dateUpdated).toBe(dateUpdated);
  });

  test('a version that does not come in time is 503, one that is no number 400', async () => {
    const { key } = await newConnection(service.admin);
    const early = await get(key, min((await service.version()) + 1_000));
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('1');
    expect(early.headers.get('cache-control')).toBe('no-store');
    expect(await early.json()).toMatchObject({ status: 503, error: expect.any(String) });
    for (const header of ['-1', 'x', '1.5', '']) {
      const wrong = await get(key, { 'X-Service-Min-Config-Version': header });
      expect(wrong.status).toBe(400);
      expect(wrong.headers.has('x-unrecoverable')).toBe(false);
    }
    await service.admin.refused(400, getSdkPayload, {
      params: { key },
      headers: { 'X-Service-Min-Config-Version': 'x' },
    });
  });

  test('pages of any origin may ask, with any header, and read what concerns them [flags M98]', async () => {
    const { key } = await newConnection(service.admin);
    const origin = 'https://app.example.com';
    for (const path of [
      `/api/features/${key}`,
      `/api/eval/${key}`,
      `/sub/${key}`,
      '/ofrep/v1/evaluate/flags',
      '/api/features/sdk-unknown',
    ]) {
      const preflight = await fetch(`${service.url}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-custom, x-service-min-config-version',
        },
      });
      expect(preflight.status).toBe(200);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-service-min-config-version');
    }
    const remote = await newConnection(service.admin, { remoteEvalEnabled: true });
    const evaluated = await fetch(`${service.url}/api/eval/${remote.key}`, { method: 'POST', headers: { origin } });
    const response = await get(key, { origin });
    for (const { status, headers } of [evaluated, response]) {
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.has('access-control-allow-credentials')).toBe(false);
      expect(headers.get('access-control-expose-headers')).toContain('X-Service-Config-Version');
    }
    const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
    expect(exposed).toEqual(
      expect.arrayContaining([
        'x-service-config-version',
        'x-service-min-config-version',
        'x-service-config-age',
        'x-sse-support',
        'etag',
        'retry-after',
      ]),
    );
  });

  test('a deleted connection’s key is invalid at once, in every process [flags M99]', async () => {
    const { id, key } = await newConnection(service.admin);
    const second = await service.another();
    expect((await fetchPayload(second.url, key)).status).toBe(200);
    await service.admin.call(deleteSdkConnection, { params: { id } });
    expect((await get(key)).status).toBe(400);
    await expect.poll(async () => (await fetchPayload(second.url, key)).status).toBe(400);
  });

  test('a changed connection serves what it now asks for', async () => {
    const { id, key } = await newConnection(service.admin);
    const feature = await newFeature(service, { rules: [{ type: 'force', value: 'true' }] });
    await payloadOf(service.url, key, await service.version());
    const { version } = await service.admin.answer(putSdkConnection, {
      params: { id },
      body: { includeRuleIds: true },
    });
    const { features } = await payloadOf(service.url, key, version);
    expect(features[feature.id]?.rules?.[0]).toMatchObject({ id: feature.rules[0]?.id });
  });

  test('that a connection is in use is written down beside the requests', async () => {
    const { id, key } = await newConnection(service.admin);
    const used = () =>
      service.db.selectFrom('connection_use').select('first_used').where('connection', '=', id).execute();
    await service.app.runJobs();
    expect(await used()).toEqual([]);
    await get(key);
    await service.app.runJobs();
    expect(await used()).toHaveLength(1);
  });

  test('HEAD says what GET would, without the body; other methods are none of its own', async () => {
    const { key } = await newConnection(service.admin);
    const head = await fetch(`${service.url}/api/features/${key}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(10);
    expect((await fetch(`${service.url}/api/features/${key}`, { method: 'POST' })).status).toBe(401);
  });
});
