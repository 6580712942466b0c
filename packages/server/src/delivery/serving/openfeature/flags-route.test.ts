import http from 'node:http';
import { deleteSdkConnection, postProject, toggleFeature, updateFeature } from '@halyard/contract';
import type { JsonValue } from '@halyard/evaluation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newExperiment } from '../../../../testing/flags/experiments.ts';
import { newConnection, newFeature } from '../../../../testing/objects.ts';
import { startService, type TestService } from '../../../../testing/service.ts';

interface AnsweredFlag {
  readonly key: string;
  readonly value?: JsonValue;
  readonly reason?: string;
  readonly variant?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly errorCode?: string;
}

const route = '/ofrep/v1/evaluate/flags';

describe('the flags of OpenFeature', () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startService();
    ({ key } = await newConnection(service.admin, { includeRuleIds: true }));
  });
  afterAll(() => service.stop());

  const min = async () => ({ 'X-Service-Min-Config-Version': String(await service.version()) });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}, url = service.url) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const one = async (id: string, context: object = {}, status = 200): Promise<AnsweredFlag> => {
    const response = await post(`${route}/${encodeURIComponent(id)}`, { context }, await min());
    const text = await response.text();
    if (response.status !== status) throw new Error(`The flag answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const all = async (context: object = {}, clientKey = key): Promise<AnsweredFlag[]> => {
    const response = await post(route, { context }, { ...(await min()), authorization: `Bearer ${clientKey}` });
    return ((await response.json()) as { flags: AnsweredFlag[] }).flags;
  };
  const make = (valueType: 'boolean' | 'string' | 'number' | 'json', defaultValue: string, more: object = {}) =>
    newFeature(service, { valueType, defaultValue, ...more });

  test.each<['boolean' | 'string' | 'number' | 'json', string, JsonValue]>([
    ['boolean', 'false', false],
    ['boolean', 'true', true],
    ['string', '', ''],
    ['string', 'a "text"', 'a "text"'],
    ['number', '0', 0],
    ['number', '-1.5', -1.5],
    ['json', '{"a":[1,null]}', { a: [1, null] }],
    ['json', '[]', []],
    ['json', '[1,"a"]', [1, 'a']],
  ])('a %s of %s is sent as it is', async (valueType, stored, value) => {
    const { id, revision } = await make(valueType, stored);
    expect(revision.version).toBe(1);
    const metadata = { configVersion: await service.version(), source: 'defaultValue', valueType };
    const answer = { key: id, value, reason: 'STATIC', metadata };
    expect(await one(id)).toEqual(answer);
    expect((await all()).find((flag) => flag.key === id)).toEqual(answer);
  });

  test('a null has no value: the provider takes the default of the code', async () => {
    const { id } = await make('json', 'null');
    expect(await one(id)).toEqual({
      key: id,
      reason: 'STATIC',
      metadata: { configVersion: await service.version(), source: 'defaultValue', valueType: 'json' },
    });
  });

  test('each kind of rule says its reason, and which rule or variation it was', async () => {
    const parent = await make('boolean', 'false', {
      rules: [{ type: 'force', value: 'true', condition: '{"country":"DE"}' }],
    });
    const gated = await make('string', 'open', { prerequisites: [parent.id] });
    const { id, rules } = await make('string', 'default', {
      rules: [
        { type: 'force', value: 'german', condition: '{"country":"DE"}' },
        { type: 'rollout', value: 'most', coverage: 0.9999, hashAttribute: 'id', condition: '{"country":"FR"}' },
        { type: 'rollout', value: 'everybody', coverage: 1, hashAttribute: 'id', condition: '{"country":"IT"}' },
      ],
    });
    const experiment = await newExperiment(service);
    const user = (country: string) => ({ targetingKey: 'u1', country });
    const [german, most, everybody] = rules.map((rule) => rule.id);
    const expected = { value: 'german', reason: 'TARGETING_MATCH', variant: german };
    expect(await one(id, user('DE'))).toMatchObject(expected);
    expect(await one(id, user('FR'))).toMatchObject({ value: 'most', reason: 'SPLIT', variant: most });
    const full = { value: 'everybody', reason: 'TARGETING_MATCH', variant: everybody };
    expect(await one(id, user('IT'))).toMatchObject(full);
    expect(await one(id, { country: 'XX' })).toMatchObject({ value: 'default', reason: 'STATIC' });
    expect(await one(experiment.id, user('DE'))).toMatchObject({ value: 'red', reason: 'SPLIT', variant: '1' });
    expect(await one(experiment.id, user('FR'))).toMatchObject({ value: 'none', reason: 'STATIC' });
    expect(await one(gated.id, user('DE'))).toMatchObject({ value: 'open', reason: 'STATIC' });
    const blocked = await one(gated.id, user('FR'));
    expect(blocked).toMatchObject({ reason: 'STATIC', metadata: { source: 'prerequisite' } });
    expect(blocked).not.toHaveProperty('value');
    expect(blocked).not.toHaveProperty('variant');

    // Without rule ids on the connection, rules have none here.
    const plain = await newConnection(service.admin);
    const flag = (await all(user('DE'), plain.key)).find((answer) => answer.key === id);
    expect(flag).toMatchObject({ value: 'german', reason: 'TARGETING_MATCH' });
    expect(flag).not.toHaveProperty('variant');
  });

  test('the targeting key is the attribute id, unless the context has one of its own', async () => {
    const { id } = await make('string', 'nobody', {
      rules: ['a', 'b'].map((name) => ({ type: 'force', value: name, condition: `{"id":"${name}"}` })),
    });
    expect(await one(id, { targetingKey: 'a' })).toMatchObject({ value: 'a' });
    expect(await one(id, { targetingKey: 'a', id: 'b' })).toMatchObject({ value: 'b' });
    expect(await one(id, { id: 'b' })).toMatchObject({ value: 'b' });
    expect(await one(id)).toMatchObject({ value: 'nobody' });
  });

  test('all flags come in the order of their keys, of one version, with where changes are told', async () => {
    await make('string', 'x');
    const response = await post(route, { context: {} }, await min());
    const answer = (await response.json()) as { flags: AnsweredFlag[]; metadata: object; eventStreams: object[] };
    const version = await service.version();
    expect(Object.keys(answer)).toEqual(['flags', 'metadata', 'eventStreams']);
    expect(answer.metadata).toEqual({ configVersion: version });
    const endpoint = { requestUri: `/ofrep/v1/events/${key}` };
    expect(answer.eventStreams).toEqual([{ type: 'sse', endpoint, inactivityDelaySec: 120 }]);
    const keys = answer.flags.map((flag) => flag.key);
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(answer.flags.map(({ metadata }) => metadata?.['configVersion']))).toEqual(new Set([version]));
    expect(response.headers.get('x-service-config-version')).toBe(String(version));
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('an answer that the client has is 304, in every process, until this user’s answer changes', async () => {
    const { id } = await make('string', 'one');
    const context = { targetingKey: 'u1' };
    const first = await post(route, { context }, await min());
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]+"$/);
    const second = await service.another();
    for (const url of [service.url, second.url]) {
      for (const known of [tag, `"other", ${tag}`, `W/${tag}`]) {
        const same = await post(route, { context }, { ...(await min()), 'If-None-Match': known }, url);
        expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', tag]);
        expect(same.headers.get('x-service-config-version')).toBe(String(await service.version()));
      }
    }
    // A landing that leaves this payload alone leaves the answer alone.
    await service.admin.call(updateFeature, { params: { id }, body: { description: 'words' } });
    expect((await post(route, { context }, { ...(await min()), 'If-None-Match': tag })).status).toBe(304);
    const other = await post(route, { context: { targetingKey: 'u2' } }, { 'If-None-Match': '"other"' });
    expect(other.status).toBe(200);
    await service.admin.call(updateFeature, { params: { id }, body: { defaultValue: 'two' } });
    const changed = await post(route, { context }, { ...(await min()), 'If-None-Match': tag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  test('the client key comes as a bearer or in X-API-Key; whoever has none, or another one, is told how', async () => {
    const ask = (headers: Record<string, string>, path = route) =>
      fetch(`${service.url}${path}`, { method: 'POST', headers, body: '{"context":{}}' });
    expect((await ask({ 'X-API-Key': key })).status).toBe(200);
    expect((await ask({ authorization: `bearer ${key}` })).status).toBe(200);
    expect((await ask({ authorization: 'Basic abc', 'X-API-Key': key })).status).toBe(200);
    for (const [headers, named] of [
      [{}, 'missing'],
      [{ 'X-API-Key': '' }, 'missing'],
      [{ authorization: 'Bearer sdk-unknown' }, 'no SDK connection'],
      [{ 'X-API-Key': '__proto__' }, 'no SDK connection'],
      [{ authorization: 'Bearer secret_admin_abc' }, 'secret key'],
    ] as const) {
      for (const path of [route, `${route}/any`]) {
        const refused = await ask(headers, path);
        expect(refused.status).toBe(401);
        expect(refused.headers.get('www-authenticate')).toBe('Bearer');
        expect(await refused.json()).toEqual({ errorDetails: expect.stringContaining(named) });
      }
    }
  });

  test('any connection will do: encrypted ones, and ones that give out no definitions', async () => {
    const { id } = await make('string', 'x');
    for (const more of [{ encryptPayload: true }, { remoteEvalEnabled: true }]) {
      const connection = await newConnection(service.admin, more);
      expect((await all({}, connection.key)).find((flag) => flag.key === id)).toMatchObject({ value: 'x' });
    }
  });

  test.each<[string, string, string]>([
    ['no JSON', '{"context":', 'PARSE_ERROR'],
    ['empty', '', 'PARSE_ERROR'],
    ['__proto__', '{"context":{"__proto__":{}}}', 'PARSE_ERROR'],
    ['without a context', '{}', 'INVALID_CONTEXT'],
    ['a context that is null', '{"context":null}', 'INVALID_CONTEXT'],
    ['a context that is a list', '{"context":[]}', 'INVALID_CONTEXT'],
    ['a context that is a text', '{"context":"u1"}', 'INVALID_CONTEXT'],
    ['a list', '[]', 'INVALID_CONTEXT'],
    ['null', 'null', 'INVALID_CONTEXT'],
  ])('a body that is, or has, %s is refused', async (_, body, errorCode) => {
    const single = await post(`${route}/some-flag`, body);
    expect([single.status, await single.json()]).toEqual([
      400,
      { key: 'some-flag', errorCode, errorDetails: expect.any(String) },
    ]);
    const bulk = await post(route, body);
    expect([bulk.status, await bulk.json()]).toEqual([400, { errorCode, errorDetails: expect.any(String) }]);
  });

  test('members beside the context are ignored, and so is the content type', async () => {
    const response = await post(route, '{"context":{},"future":1}', { 'content-type': 'text/plain' });
    expect(response.status).toBe(200);
  });

  test('a flag that this connection does not serve is not found, and not among all', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Elsewhere' } });
    const off = await make('boolean', 'true');
    await service.admin.call(toggleFeature, { params: { id: off.id }, body: { environments: { production: false } } });
    const archived = await make('boolean', 'true');
    await service.admin.call(updateFeature, { params: { id: archived.id }, body: { archived: true } });
    const narrow = await newConnection(service.admin, { projects: [project.id] });
    const inProject = await make('boolean', 'true', { project: project.id });
    const unprojected = await make('boolean', 'true');

    for (const id of [off.id, archived.id, 'unknown', '$holdout:x', 'constructor', 'a/b', 'x'.repeat(300)]) {
      const errorDetails = expect.stringContaining('There is no flag');
      expect(await one(id, {}, 404)).toEqual({ key: id, errorCode: 'FLAG_NOT_FOUND', errorDetails });
    }
    const served = (await all()).map((flag) => flag.key);
    expect(served).not.toContain(off.id);
    expect(served).not.toContain(archived.id);
    const keys = (await all({}, narrow.key)).map((flag) => flag.key);
    expect(keys).toEqual([inProject.id]);
    expect(keys).not.toContain(unprojected.id);
    const stranger = await service.newOrganization('Stranger to flags');
    const theirs = await newConnection(stranger.admin);
    const answer = await post(route, { context: {} }, { authorization: `Bearer ${theirs.key}` });
    expect(await answer.json()).toMatchObject({ flags: [] });
  });

  test('the tag of an event, or its time, is waited for; both malformed are ignored', async () => {
    const { id } = await make('number', '1');
    const second = await service.another();
    const ask = (query: string, url = service.url) => post(`${route}?${query}`, { context: {} }, {}, url);
    for (const value of [2, 0]) {
      const { version } = await service.admin.answer(updateFeature, {
        params: { id },
        body: { defaultValue: String(value) },
      });
      const answer = (await (await ask(`flagConfigEtag=v${version}`, second.url)).json()) as { flags: AnsweredFlag[] };
      expect(answer.flags.find((flag) => flag.key === id)?.value).toBe(value);
    }
    const late = await ask(`flagConfigEtag=${encodeURIComponent('"v999999"')}`);
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await late.json()).toEqual({ errorDetails: expect.any(String) });
    const future = service.clock.now().getTime() + 3_600_000;
    expect((await ask(`flagConfigLastModified=${Math.floor(future / 1_000)}`)).status).toBe(503);
    expect((await ask(`flagConfigLastModified=${new Date(future).toISOString()}`)).status).toBe(503);
    for (const query of [
      'flagConfigEtag=nonsense&flagConfigLastModified=nonsense',
      'flagConfigEtag=%22v1%22&flagConfigLastModified=9999999999',
      'flagConfigLastModified=1&flagConfigEtag=',
      'flagConfigLastModified=2020-01-01T00:00:00.000Z',
      'flagConfigLastModified=2020-99-99',
    ]) {
      expect((await ask(query)).status).toBe(200);
    }
  });

  test('a version that is asked for is waited for; what is none is refused', async () => {
    const wrong = await post(`${route}/x`, { context: {} }, { 'X-Service-Min-Config-Version': 'x' });
    expect(await wrong.json()).toEqual({ key: 'x', errorCode: 'GENERAL', errorDetails: expect.any(String) });
    expect(wrong.status).toBe(400);
    const early = await post(route, { context: {} }, { 'X-Service-Min-Config-Version': '999999' });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('a body beyond the limit is refused, and its connection closed', async () => {
    const refused = await new Promise<{ status: number | undefined; body: string; connection: string | undefined }>(
      (resolve, reject) => {
        const headers = { 'X-API-Key': key };
        const request = http.request(`${service.url}${route}`, { method: 'POST', headers }, async (response) => {
          const body = Buffer.concat(await response.toArray()).toString();
          resolve({ status: response.statusCode, body, connection: response.headers.connection });
        });
        request.on('error', reject);
        request.write(Buffer.alloc(2 * 1024 * 1024 + 1, ' '));
      },
    );
    expect(refused).toMatchObject({ status: 400, connection: 'close', body: expect.stringContaining('larger than') });
  });

  test('pages of any origin may ask, and read what concerns them', async () => {
    for (const path of [route, `${route}/x`, `/ofrep/v1/events/${key}`]) {
      const preflight = await fetch(`${service.url}${path}`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example.com', 'access-control-request-headers': 'authorization, x-api-key' },
      });
      expect(preflight.status).toBe(200);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-api-key');
    }
    for (const response of [await post(route, { context: {} }), await post(`${route}/unknown`, { context: {} })]) {
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('X-Service-Config-Version');
    }
  });

  test('what is no path or method of the protocol stays guarded', async () => {
    const ask = async (method: string, path: string) =>
      (await fetch(`${service.url}${path}`, { method, headers: { authorization: `Bearer ${key}` } })).status;
    expect(await ask('GET', route)).toBe(401);
    expect(await ask('POST', '/ofrep/v1/evaluate')).toBe(401);
    expect(await ask('GET', '/ofrep/v1/configuration')).toBe(401);
    expect(await ask('POST', `/ofrep/v1/events/${key}`)).toBe(401);
  });

  test('a deleted connection’s key is invalid at once', async () => {
    const connection = await newConnection(service.admin);
    await service.admin.call(deleteSdkConnection, { params: { id: connection.id } });
    const response = await post(route, { context: {} }, { authorization: `Bearer ${connection.key}` });
    expect(response.status).toBe(401);
  });

  test('a flag whose expression takes too long fails alone', async () => {
    const { id } = await make('boolean', 'false', {
      rules: [{ type: 'force', value: 'true', condition: '{"name":{"$regex":".*foo.*foo.*bar"}}' }],
    });
    const { id: after } = await make('boolean', 'false', {
      rules: [{ type: 'force', value: 'true', condition: '{"name":{"$regex":"^foo"}}' }],
    });
    const context = { name: 'foo'.repeat(10_000) };
    const failed = { key: id, errorCode: 'GENERAL', errorDetails: expect.stringContaining('too long') };
    expect(await one(id, context, 400)).toEqual(failed);
    expect(await one(id, { name: 'foofoobar' })).toMatchObject({ value: true });
    service.clock.advance(2_000);
    const flags = await all(context);
    expect(flags.find(({ key: of }) => of === id)).toEqual(failed);
    expect(flags.find(({ key: of }) => of === after)).toMatchObject({ value: true });
  });
});
