import { createHash } from 'node:crypto';
import http from 'node:http';
import { getSdkPayload, postAttribute, postProject, updateFeature } from '@halyard/contract';
import type { Payload } from '@halyard/evaluation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload } from '../../../testing/delivery.ts';
import { newExperiment } from '../../../testing/flags/experiments.ts';
import { newConnection, newFeature, newSavedGroup, ruleFor } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

describe('the evaluation route', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const remote = (more: object = {}) => newConnection(service.admin, { remoteEvalEnabled: true, ...more });
  const min = async () => ({ 'X-Service-Min-Config-Version': String(await service.version()) });
  const post = (key: string, body: unknown, headers: Record<string, string> = {}, url = service.url) =>
    fetch(`${url}/api/eval/${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  /** The answer to a request, not older than what has been written. */
  const evaluated = async (key: string, body: unknown): Promise<Payload> => {
    const response = await post(key, body, await min());
    const text = await response.text();
    if (response.status !== 200) throw new Error(`The evaluation route answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const german = { attributes: { id: 'u1', country: 'DE' } };

  test('answers with the values of one user and nothing else [flags M95]', async () => {
    const { key } = await remote({ includeRuleIds: true, savedGroupReferencesEnabled: true });
    const { id } = await newExperiment(service);
    const group = await newSavedGroup(service.admin, { values: ['u1', 'u2 of others'] });
    const plain = await newFeature(service, {
      valueType: 'json',
      defaultValue: '{"secret":"of others"}',
      rules: [{ ...ruleFor(group.id), value: '[0]', condition: '{"country":"DE"}' }],
    });
    const response = await post(key, german, await min());
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-sse-support')).toBe('enabled');
    expect(response.headers.get('x-service-config-version')).toBe(String(await service.version()));
    const text = await response.text();
    const answer: Payload = JSON.parse(text);
    expect(Object.keys(answer)).toEqual(['features', 'dateUpdated']);
    expect(answer.features[plain.id]).toEqual({ defaultValue: [0] });
    expect(answer.features[id]).toMatchObject({
      defaultValue: 'red',
      rules: [
        {
          force: 'red',
          tracks: [{ experiment: { variations: [null, 'red', null] }, result: { key: '1', featureId: id } }],
        },
      ],
    });
    for (const secret of ['condition', 'savedGroups', group.id, 'control', 'blue', 'others', 'fr_']) {
      expect(text).not.toContain(secret);
    }

    const attributes = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`a${index}`, index]));
    expect((await post(key, { attributes })).status).toBe(400);
    const { a0: _, ...thousand } = attributes;
    expect((await post(key, { attributes: thousand })).status).toBe(200);

    const assigned = { attributeName: 'id', attributeValue: 'u1', assignments: { [`experiment-${id}__0`]: '2' } };
    const stickyBucketAssignmentDocs = { 'id||u1': assigned };
    const before = await evaluated(key, german);
    expect((await evaluated(key, { ...german, stickyBucketAssignmentDocs })).features[id]?.defaultValue).toBe('blue');
    expect(await evaluated(key, german)).toEqual(before);
    expect(before.features[id]?.defaultValue).toBe('red');
  });

  test('values are for connections set to remote evaluation, definitions for the others [flags M94]', async () => {
    const { id } = await newFeature(service);
    const [values, definitions] = [await remote(), await newConnection(service.admin)];
    expect((await fetchPayload(service.url, values.key)).status).toBe(400);
    expect((await post(values.key, {})).status).toBe(200);
    expect((await fetchPayload(service.url, definitions.key)).status).toBe(200);
    const refused = await post(definitions.key, {});
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ status: 400, error: expect.stringContaining('remote evaluation') });
    for (const { key } of [values, definitions]) {
      const { body } = await service.admin.answer(getSdkPayload, { params: { key }, headers: await min() });
      expect(body).toMatchObject({ status: 200, features: { [id]: { defaultValue: false } } });
    }
  });

  test('an encrypted connection answers plain; auto-run experiments are there where the payload has them', async () => {
    const { key } = await remote({ encryptPayload: true, includeVisualExperiments: true });
    const { id } = await newFeature(service);
    const answer = await evaluated(key, {});
    expect(Object.keys(answer)).toEqual(['features', 'experiments', 'dateUpdated']);
    expect(answer.features[id]).toEqual({ defaultValue: false });
    expect(answer.experiments).toEqual([]);
  });

  test('forced values, forced variations and the address count', async () => {
    const { key } = await remote();
    const { id } = await newExperiment(service);
    const valueOf = async (more: object) => (await evaluated(key, { ...german, ...more })).features[id];
    expect(await valueOf({ forcedFeatures: [[id, '']] })).toEqual({ defaultValue: '' });
    expect(await valueOf({ forcedVariations: { [`experiment-${id}`]: 0 } })).toEqual({ defaultValue: 'control' });
    expect(await valueOf({ url: `https://example.com/?experiment-${id}=2` })).toEqual({ defaultValue: 'blue' });
  });

  test('secure attributes come hashed where the connection hashes them, as SDKs hold them against downloaded payloads', async () => {
    await service.setSettings({ secureAttributeSalt: 'salt' });
    await service.admin.call(postAttribute, { body: { property: 'email', datatype: 'secureString' } });
    const { key } = await remote({ hashSecureAttributes: true });
    const { id } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', condition: '{"email":"a@example.com"}' }],
    });
    const valueFor = async (email: string) => (await evaluated(key, { attributes: { email } })).features[id];
    expect(await valueFor(createHash('sha256').update('salta@example.com').digest('hex'))).toEqual({
      defaultValue: true,
    });
    expect(await valueFor('a@example.com')).toEqual({ defaultValue: false });
  });

  test.each<[string, unknown, string]>([
    ['a list', [], 'must be an object'],
    ['a text', '"x"', 'must be an object'],
    ['no JSON', '{"attributes":', 'cannot be read'],
    ['a form', 'attributes[id]=1', 'cannot be read'],
    ['attributes that are a list', { attributes: [] }, '[attributes] must be an object'],
    ['attributes that are a text', { attributes: 'x' }, '[attributes] must be an object'],
    ['variations that are a list', { forcedVariations: [1] }, '[forcedVariations] must be an object'],
    ['a variation that is a text', { forcedVariations: { a: '1' } }, '[forcedVariations.a] must be a number'],
    ['features that are an object', { forcedFeatures: { a: 1 } }, '[forcedFeatures] must be a list'],
    ['a feature without a name', { forcedFeatures: [[1, 2]] }, '[forcedFeatures.0.0] must be text'],
    ['an address that is a number', { url: 1 }, '[url] must be text'],
    ['documents that are a list', { stickyBucketAssignmentDocs: [] }, '[stickyBucketAssignmentDocs] must be an object'],
    ['a document without assignments', { stickyBucketAssignmentDocs: { a: { attributeName: 'a' } } }, 'assignments'],
    ['too many features', { forcedFeatures: Array.from({ length: 1_001 }, () => ['a', 1]) }, 'at most 1000 entries'],
    ['__proto__', '{"attributes":{"__proto__":{"id":1}}}', 'cannot be read'],
    ['too deep', `{"attributes":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`, 'nested deeper'],
  ])('a body that is, or has, %s is refused', async (_, body, error) => {
    const { key } = await remote();
    const response = await post(key, body);
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: 400, error: expect.stringContaining(error) },
    ]);
    expect(response.headers.has('x-unrecoverable')).toBe(false);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('SDKs may leave out anything, write null for it, say more, and name another content type', async () => {
    const { key } = await remote();
    const { id } = await newFeature(service);
    for (const body of ['', {}, { attributes: null, url: null, forcedFeatures: null }, { future: true }]) {
      expect((await evaluated(key, body)).features[id]).toEqual({ defaultValue: false });
    }
    const response = await post(key, german, { 'content-type': 'text/plain;charset=UTF-8' });
    expect(response.status).toBe(200);
  });

  test('texts that could not be stored are attributes like others', async () => {
    const { key } = await remote();
    const { id } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', condition: '{"name":{"$exists":true}}' }],
    });
    for (const name of ['half of a \\ud83d', 'a \\u0000']) {
      const answer = await evaluated(key, `{"attributes":{"name":"${name}"}}`);
      expect(answer.features[id]).toEqual({ defaultValue: true });
    }
  });

  test('a body beyond the limit is refused, and its connection closed', async () => {
    const { key } = await remote();
    const refused = await new Promise<{ status: number | undefined; body: string; connection: string | undefined }>(
      (resolve, reject) => {
        const request = http.request(`${service.url}/api/eval/${key}`, { method: 'POST' }, async (response) => {
          const body = Buffer.concat(await response.toArray()).toString();
          resolve({ status: response.statusCode, body, connection: response.headers.connection });
        });
        request.on('error', reject);
        request.write(Buffer.alloc(2 * 1024 * 1024 + 1, ' '));
      },
    );
    expect(refused).toMatchObject({ status: 400, connection: 'close', body: expect.stringContaining('larger than') });
  });

  test('unknown and secret keys are refused for good', async () => {
    for (const [key, named] of [
      ['sdk-unknown', 'no SDK connection'],
      ['secret_admin_abc', 'secret key'],
      ['', 'missing'],
    ] as const) {
      const response = await post(key, {});
      expect(response.status).toBe(400);
      expect(response.headers.get('x-unrecoverable')).toBe('1');
      expect(await response.json()).toEqual({ status: 400, error: expect.stringContaining(named) });
    }
  });

  test('asks for a version are honoured: 503 in time, 400 for none', async () => {
    const { key } = await remote();
    const version = await service.version();
    const early = await post(key, {}, { 'X-Service-Min-Config-Version': String(version + 1_000) });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await post(key, {}, { 'X-Service-Min-Config-Version': 'x' })).status).toBe(400);
    const { id } = await newFeature(service, { valueType: 'number', defaultValue: '1' });
    const second = await service.another();
    for (const value of [2, 3, 0]) {
      const { version: landed } = await service.admin.answer(updateFeature, {
        params: { id },
        body: { defaultValue: String(value) },
      });
      const response = await post(key, {}, { 'X-Service-Min-Config-Version': String(landed) }, second.url);
      const answer = (await response.json()) as Payload;
      expect(answer.features[id]).toEqual({ defaultValue: value });
    }
  });

  test('nothing of another project or organization is in an answer', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Here' } });
    const mine = await newFeature(service, { project: project.id });
    const other = await newFeature(service);
    const { key } = await remote({ projects: [project.id] });
    const answer = await evaluated(key, german);
    expect(answer.features).toHaveProperty(mine.id);
    expect(answer.features).not.toHaveProperty(other.id);
    const stranger = await service.newOrganization('Stranger to values');
    const theirs = await newConnection(stranger.admin, { remoteEvalEnabled: true });
    expect(await (await post(theirs.key, german)).json()).toMatchObject({ features: {} });
  });

  test('the same request gets the same bytes, in every process', async () => {
    const { key } = await remote();
    await newExperiment(service);
    const second = await service.another();
    const [one, other] = await Promise.all(
      [service.url, second.url].map(async (url) => (await post(key, german, await min(), url)).text()),
    );
    expect(one).toBe(other);
  });

  test('an expression that takes too long over a long text ends with a refusal, and the next user is served', async () => {
    const { key } = await remote();
    await newFeature(service, {
      rules: [{ type: 'force', value: 'true', condition: '{"name":{"$regex":".*foo.*foo.*bar"}}' }],
    });
    const slow = await post(key, { attributes: { name: 'foo'.repeat(10_000) } }, await min());
    expect([slow.status, await slow.json()]).toEqual([
      400,
      { status: 400, error: expect.stringContaining('too long') },
    ]);
    service.clock.advance(2_000);
    const long = await evaluated(key, { attributes: { name: `${'x'.repeat(1_000)}foofoobar` } });
    expect(Object.values(long.features).at(-1)).toEqual({ defaultValue: true });
  });

  test('other methods are none of its own', async () => {
    const { key } = await remote();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await fetch(`${service.url}/api/eval/${key}`, { method })).status).toBe(401);
    }
  });
});
