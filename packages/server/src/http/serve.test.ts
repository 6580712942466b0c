import http from 'node:http';
import { connect } from 'node:net';
import {
  getFeature,
  getProject,
  getVersion,
  listArchetypes,
  listAttributes,
  listEnvironments,
  listFeatures,
  listMembers,
  listProjects,
  type Operation,
  operations,
  postAttribute,
  postEnvironment,
  postFeature,
  postProject,
  putProject,
  sdkRoutes,
  toggleFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freshId, newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('serving the interface', () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startService();
    ({ key } = await service.withKey({}));
  });
  afterAll(() => service.stop());

  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${service.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  const post = (path: string, body: string | URLSearchParams, type = 'application/json') =>
    send(path, { method: 'POST', body, headers: { 'content-type': type } });
  /** A request as it stands, past what `fetch` would mend. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(service.url);
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });

  describe('addresses', () => {
    test('every operation answers under the host and under /api of it', async () => {
      const answers = async (path: string, { method, body }: Operation) => {
        const nonsense = body === undefined ? {} : { body: '{"nonsense":1}' };
        const response = await send(path, { method, ...nonsense });
        return [response.status, ((await response.json()) as { message?: string }).message];
      };
      for (const operation of operations) {
        const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
        const [status, message] = await answers(path, operation);
        expect([path, message ?? '']).toEqual([path, expect.not.stringContaining('There is nothing at')]);
        expect([path, ...(await answers(`/api${path}`, operation))]).toEqual([path, status, message]);
      }
    });

    test('the index tells what this is, at its four addresses', async () => {
      for (const path of ['/api', '/api/', '/v1/', '/api/v1/']) {
        expect(await (await send(path)).json()).toMatchObject({
          name: 'Halyard',
          apiVersion: 1,
          build: { version: 'test' },
        });
        expect((await fetch(`${service.url}${path}`)).status).toBe(401);
      }
    });

    test('below the guarded paths an unknown address is 401 without a key and 404 with one, elsewhere 404', async () => {
      for (const path of [
        '/api/nothing',
        '/v1/nothing',
        '/v2/nothing',
        '/ofrep/v1/nothing',
        '/v1',
        '/api//v1/environments',
        '/api/v1/../v1/environments;x',
      ]) {
        expect((await fetch(`${service.url}${path}`)).status).toBe(401);
        expect((await send(path)).status).toBe(404);
      }
      const elsewhere = await fetch(`${service.url}/nothing`);
      expect([elsewhere.status, await elsewhere.json()]).toEqual([
        404,
        { message: 'There is nothing at GET /nothing.' },
      ]);
    });

    test('an address that is not normal is no way past the credential', async () => {
      for (const path of [
        '//api/v1/members',
        '/api/%2e%2e/v1/members',
        '/./api/v1/members',
        '/healthz/../api/v1/members',
        '/api/v1/members%00',
        '/API/v1/members',
        '/v1/members/',
        '/v1/members;jsessionid=1',
      ]) {
        const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`);
        expect(answer).toMatch(/^HTTP\/1\.1 40[014] /);
        expect(answer).not.toContain('members"');
      }
    });

    test('a broken escape in the path is 400', async () => {
      const answer = await raw(
        `GET /v1/projects/%zz HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"message"');
    });

    test('a method that an address does not have is 404', async () => {
      expect((await send('/v1/version', { method: 'DELETE' })).status).toBe(404);
      expect((await send('/v1/version', { method: 'PATCH' })).status).toBe(404);
    });
  });

  describe('without a credential', () => {
    test('health, the interface description and its page are served', async () => {
      expect(await (await fetch(`${service.url}/healthz`)).json()).toEqual({ healthy: true });
      expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ ready: true });
      expect(await (await fetch(`${service.url}/healthcheck`)).json()).toEqual({ status: 200, healthy: true });

      const json = await fetch(`${service.url}/api/openapi.json`);
      const description = (await json.json()) as {
        openapi: string;
        info: { version: string };
        paths: Record<string, object>;
      };
      expect(description).toMatchObject({ openapi: '3.1.0', info: { version: '5.0.0' } });
      const described = Object.values(description.paths).flatMap((path) => Object.keys(path));
      expect(described).toHaveLength(operations.length + sdkRoutes.length);
      for (const path of ['/v1/openapi.yaml', '/api/v1/openapi.yaml']) {
        const yaml = await fetch(`${service.url}${path}`);
        expect(yaml.headers.get('content-type')).toContain('text/yaml');
        expect(yaml.headers.get('cache-control')).toBe('max-age=3600');
        expect(parse(await yaml.text())).toEqual(description);
      }

      const page = await fetch(`${service.url}/api/docs`);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      const html = await page.text();
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
      expect(assets).toHaveLength(3);
      for (const address of assets) {
        const asset = await fetch(`${service.url}${address}`);
        expect(asset.status).toBe(200);
        expect((await asset.text()).length).toBeGreaterThan(100);
      }
    });

    test('no operation answers', async () => {
      for (const [index, operation] of operations.entries()) {
        // Failures are counted by the minute, and too many are refused before anybody looks.
        if (index % 50 === 0) service.clock.advance(60_000);
        const params = Object.fromEntries(Object.keys(operation.params?.shape ?? {}).map((name) => [name, 'x']));
        const { headers } = await service.anonymous.refused(401, operation, { params });
        expect(headers.get('www-authenticate')).toBe('Bearer');
      }
    });
  });

  describe('bodies', () => {
    const name = () => `P ${freshId()}`;

    test('a form and JSON of the same content give the same result [tenancy M16]', async () => {
      const fields = { name: name(), description: 'Both ways', settings: { confidenceLevel: 0.9 } };
      const form = new URLSearchParams({
        name: fields.name,
        description: fields.description,
        'settings[confidenceLevel]': '0.9',
      });
      const asForm = (await (await post('/v1/projects', form, 'application/x-www-form-urlencoded')).json()) as {
        project: object;
      };
      const asJson = (await (await post('/v1/projects', JSON.stringify(fields))).json()) as { project: object };
      const differing = { id: '', publicId: '', dateCreated: '', dateUpdated: '' };
      expect({ ...asForm.project, ...differing }).toEqual({ ...asJson.project, ...differing });

      const malformed = await post('/v1/projects', '{"name":');
      expect(malformed.status).toBe(400);
      expect(await malformed.json()).toMatchObject({ status: 400, message: expect.stringContaining('cannot be read') });
    });

    test('a form says everything that JSON can: lists, maps, switches, numbers, rules', async () => {
      const id = freshId();
      const form = new URLSearchParams([
        ['id', id],
        ['valueType', 'number'],
        ['defaultValue', '1'],
        ['owner', service.owner.id],
        ['tags[]', 'aa'],
        ['tags[]', '11'],
        ['environments[production][enabled]', 'false'],
        ['rules[0][type]', 'rollout'],
        ['rules[0][value]', '2'],
        ['rules[0][coverage]', '0.25'],
        ['rules[0][hashAttribute]', 'id'],
        ['rules[0][hashVersion]', '1'],
        ['rules[0][enabled]', '1'],
        ['rules[1][type]', 'force'],
        ['rules[1][value]', '3'],
        ['rules[1][environments]', '["production"]'],
        ['rules[1][scheduleRules][0][timestamp]', '2030-01-01T00:00:00.000Z'],
        ['rules[1][scheduleRules][0][enabled]', 'true'],
        ['rules[1][scheduleRules][1][timestamp]', 'null'],
        ['rules[1][scheduleRules][1][enabled]', 'false'],
      ]);
      const created = await post('/v2/features', form, 'application/x-www-form-urlencoded');
      expect(created.status).toBe(200);
      const { feature } = await service.admin.call(getFeature, { params: { id } });
      expect(feature).toMatchObject({
        valueType: 'number',
        tags: ['aa', '11'],
        environments: { production: { enabled: false } },
        rules: [
          { type: 'rollout', value: '2', coverage: 0.25, hashVersion: 1, enabled: true },
          {
            type: 'force',
            value: '3',
            environments: ['production'],
            scheduleRules: [{ enabled: true }, { timestamp: null, enabled: false }],
          },
        ],
      });
      const toggle = await post(
        `/v2/features/${id}/toggle`,
        'environments[production]=1',
        'application/x-www-form-urlencoded',
      );
      expect(toggle.status).toBe(200);
      expect(((await toggle.json()) as { feature: { environments: object } }).feature.environments).toMatchObject({
        production: { enabled: true },
      });
    });

    test.each([
      ['5,000 levels', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
      ['60,000 values', `{"a":[${'1,'.repeat(60_000)}1]}`],
      ['NUL', '{"a":"\\u0000"}'],
      ['NUL in a key', '{"\\u0000":1}'],
      ['half a character', '{"a":"\\ud800"}'],
      ['__proto__', '{"__proto__":{"admin":true}}'],
      ['a number beyond all', '{"a":1e400}'],
    ])('JSON of %s is refused also as a text in a form', async (_, attributes) => {
      const form = new URLSearchParams({ name: name(), isPublic: 'true', attributes });
      const response = await post('/v1/archetypes', form, 'application/x-www-form-urlencoded');
      expect(response.status).toBe(400);
      expect(((await response.json()) as { message: string }).message).toMatch(
        /^The request holds|^The request is nested/,
      );
      expect((await service.admin.call(listArchetypes)).archetypes).toEqual([]);
    });

    test('what is no request is refused in the form of all refusals', async () => {
      for (const [text, status] of [
        ['NONSENSE\r\n\r\n', '400 Bad Request'],
        [`GET / HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, '431 Request Header Fields Too Large'],
      ] as const) {
        const answer = await raw(text);
        expect(answer).toContain(`HTTP/1.1 ${status}\r\n`);
        const [, body = ''] = answer.split('\r\n\r\n');
        expect(JSON.parse(body)).toEqual({ message: expect.any(String) });
      }
    });

    test('a path that cannot be read is refused without being repeated', async () => {
      for (const path of [`/v1/projects/${'x'.repeat(7_000)}`, `/v1/projects/${'x'.repeat(900)}%zz`]) {
        const response = await send(path);
        expect(response.status).toBe(400);
        const { message } = (await response.json()) as { message: string };
        expect(message).toMatch(/path/);
        expect(message.length).toBeLessThan(200);
      }
    });

    test('JSON needs no content type', async () => {
      const response = await send('/v1/projects', {
        method: 'POST',
        body: new Blob([JSON.stringify({ name: name() })]),
      });
      expect(response.status).toBe(200);
    });

    test.each([
      ['another content type', 'name=x', 'text/plain'],
      ['XML', '<name>x</name>', 'application/xml'],
      ['another charset', '{"name":"x"}', 'application/json; charset=utf-16'],
      ['no JSON', 'name', 'application/json'],
      ['a list', '[]', 'application/json'],
      ['null', 'null', 'application/json'],
      ['a text', '"x"', 'application/json'],
      ['nothing', '', 'application/json'],
      ['__proto__', '{"name":"x","__proto__":{"admin":true}}', 'application/json'],
      ['__proto__ in escapes', '{"name":"x","\\u005f_proto__":{}}', 'application/json'],
      ['__proto__ in a form', 'name=x&__proto__[admin]=1', 'application/x-www-form-urlencoded'],
      ['NUL', '{"name":"a\\u0000b"}', 'application/json'],
      ['NUL in a form', 'name=a%00b', 'application/x-www-form-urlencoded'],
      ['half a character', '{"name":"\\ud800"}', 'application/json'],
      ['a number beyond all', '{"name":"x","settings":{"confidenceLevel":1e400}}', 'application/json'],
      ['NUL in a key', '{"name":"x","\\u0000":1}', 'application/json'],
      ['5,000 levels of lists', `{"name":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'application/json'],
      ['5,000 levels of objects', `${'{"name":'.repeat(5000)}1${'}'.repeat(5000)}`, 'application/json'],
      ['5,000 levels in a form', `name${'[a]'.repeat(5000)}=1`, 'application/x-www-form-urlencoded'],
      [
        '200,000 keys',
        `{"name":"x"${Array.from({ length: 200_000 }, (_, i) => `,"k${i.toString(36)}":1`).join('')}}`,
        'application/json',
      ],
      [
        '200,000 keys in a form',
        Array.from({ length: 200_000 }, (_, i) => `k${i}=1`).join('&'),
        'application/x-www-form-urlencoded',
      ],
      ['60,000 numbers in a list', `{"name":"x","list":[${'0,'.repeat(60_000)}0]}`, 'application/json'],
      ['a million brackets', '['.repeat(1_000_000), 'application/json'],
    ])('a body of %s is 400, quickly and with a short message, and stores nothing', async (_, body, type) => {
      const { total } = await service.admin.call(listProjects);
      const response = await post('/v1/projects', body, type);
      expect(response.status).toBe(400);
      const { message } = (await response.json()) as { message: string };
      expect(message.length).toBeGreaterThan(10);
      expect(message.length).toBeLessThan(2_500);
      expect((await service.admin.call(listProjects)).total).toBe(total);
    });

    test('2 MB are read, one byte more is 413', async () => {
      const limit = 2 * 1024 * 1024;
      const padded = (length: number) => {
        const start = `{"name":"${name()}","nonsense":"`;
        return `${start}${'x'.repeat(length - start.length - 2)}"}`;
      };
      expect((await post('/v1/projects', padded(limit))).status).toBe(400);
      const over = await post('/v1/projects', padded(limit + 1));
      expect([over.status, await over.json()]).toEqual([413, { message: expect.stringContaining('2097152') }]);
    });

    test('a compressed body is not taken', async () => {
      const response = await send('/v1/projects', {
        method: 'POST',
        body: '{"name":"x"}',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      });
      expect(response.status).toBe(400);
    });

    test('an operation that defines no body ignores what is sent', async () => {
      const { project } = await service.admin.call(postProject, { body: { name: name() } });
      const response = await send(`/v1/projects/${project.id}`, {
        method: 'DELETE',
        body: '{broken',
        headers: { 'content-type': 'application/json' },
      });
      expect(response.status).toBe(200);
    });
  });

  describe('shapes', () => {
    test('all problems of path, query and body are told at once, each with its place', async () => {
      const { message } = await service.admin.refused(400, postFeature, {
        query: { colour: 'red', ignoreWarnings: 'perhaps' },
        body: {
          id: 1,
          valueType: 'colour',
          description: 'x'.repeat(10_001),
          rules: [{ type: 'rollout', value: 'true', coverage: 1.5, hashAttribute: 'id' }],
          shape: 'round',
        },
      });
      const [query, body, ...rest] = message.split('\n');
      expect(rest).toEqual([]);
      expect(query).toBe('Query: [ignoreWarnings] must be true, false, 1 or 0, [colour] is not known here');
      expect(body).toMatch(/^Body: /);
      for (const problem of [
        '[id] must be text',
        '[valueType] must be one of "boolean", "string", "number", "json"',
        '[defaultValue] is required',
        '[description] must be at most 10000 characters long',
        '[rules.0.coverage] must be from 0 to 1',
        '[shape] is not known here',
      ]) {
        expect(body).toContain(problem);
      }
    });

    test.each([
      ['coverage above 1', { rules: [{ type: 'rollout', value: 'true', coverage: 1.01, hashAttribute: 'id' }] }],
      ['coverage below 0', { rules: [{ type: 'rollout', value: 'true', coverage: -0.01, hashAttribute: 'id' }] }],
      ['a rollout without coverage', { rules: [{ type: 'rollout', value: 'true', hashAttribute: 'id' }] }],
      [
        'hash version 3',
        { rules: [{ type: 'rollout', value: 'true', coverage: 1, hashAttribute: 'id', hashVersion: 3 }] },
      ],
      ['a rule without a type', { rules: [{ value: 'true' }] }],
      ['a rule that is a text', { rules: ['force'] }],
      ['rules that are an object', { rules: {} }],
      ['a null description', { description: null }],
      ['tags that are a text', { tags: 'a' }],
      ['environments that are a list', { environments: [] }],
      ['an environment that is a switch', { environments: { production: true } }],
      ['a long rule description', { rules: [{ type: 'force', value: 'true', description: 'x'.repeat(10_001) }] }],
      [
        'a match type of its own',
        { rules: [{ type: 'force', value: 'true', savedGroups: [{ match: 'some', ids: [] }] }] },
      ],
    ])('%s is 400', async (_, more) => {
      await service.admin.refused(400, postFeature, {
        body: { id: freshId(), defaultValue: 'false', owner: service.owner.id, ...more },
      });
    });

    test('query keys are known or refused, also where an operation has none; a key sent twice is refused [flags M17]', async () => {
      expect((await service.admin.refused(400, getVersion, { query: { verbose: 1 } })).message).toContain('[verbose]');
      const twice = await send('/v2/features?limit=1&limit=2');
      expect(twice.status).toBe(400);
      expect(await twice.json()).toEqual({ message: 'Query: [limit] was sent more than once' });
      expect((await send('/v2/features?limit[]=1')).status).toBe(400);
      expect((await send('/v1/members?skipPagination=true')).status).toBe(400);
      expect((await send('/v2/features?projectId=a%00b')).status).toBe(400);
    });

    test('every operation refuses unknown query keys and, where it has a body, unknown body keys [tenancy M15]', async () => {
      const { id } = await newFeature(service);
      for (const operation of operations) {
        const params = Object.fromEntries(Object.keys(operation.params?.shape ?? {}).map((name) => [name, id]));
        const { message } = await service.admin.refused(400, operation, {
          params,
          query: { surprising: 'x' },
          ...(operation.body === undefined ? {} : { body: { surprising: 'x' } }),
        });
        expect(message).toMatch(/^Query: .*\[surprising\] is not known here/);
        const namesTheBodyToo = /\nBody: .*\[surprising\] is not known here/.test(message);
        expect(namesTheBodyToo).toBe(operation.body !== undefined);
      }
    });
  });

  describe('answers', () => {
    test('an unknown id in the path is 404, in a body 400, in a filter nothing [tenancy M13]', async () => {
      const { message } = await service.admin.refused(404, getProject, { params: { id: 'prj_x' } });
      expect(message).toBe('There is no project "prj_x".');
      const stranger = await service.newOrganization('Stranger');
      const { project } = await stranger.admin.call(postProject, { body: { name: 'Theirs' } });
      expect((await service.admin.refused(404, getProject, { params: { id: project.id } })).message).toBe(
        `There is no project "${project.id}".`,
      );
      for (const more of [
        { project: project.id },
        { owner: 'u_x' },
        { rules: [{ type: 'force', value: 'true', savedGroups: [{ match: 'all', ids: ['grp_x'] }] }] },
      ]) {
        await service.admin.refused(400, postFeature, {
          body: { id: freshId(), defaultValue: 'false', owner: service.owner.id, ...more },
        });
      }
      expect(await service.admin.call(listFeatures, { query: { projectId: project.id } })).toMatchObject({ total: 0 });
      await service.admin.refused(400, listFeatures, { query: { clientKey: 'sdk-x' } });
    });

    test('every answer has a request id of its own', async () => {
      const ids = await Promise.all(
        [send('/v1/version'), send('/nothing'), send('/v1/version')].map(async (one) =>
          (await one).headers.get('x-request-id'),
        ),
      );
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) expect(id).toMatch(/^req_/);
    });

    test('pages of any origin may call the API, without cookies', async () => {
      const preflight = await fetch(`${service.url}/v2/features`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': expect.stringContaining('Authorization'),
        'access-control-max-age': '86400',
      });
      const response = await send('/v1/version', { headers: { origin: 'https://app.example.com' } });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
      const exposed = response.headers.get('access-control-expose-headers') ?? '';
      for (const header of [
        'Location',
        'Retry-After',
        'X-Service-Key-Expires-At',
        'RateLimit-Limit',
        'X-Service-Config-Version',
      ]) {
        expect(exposed).toContain(header);
      }
    });

    test('a landing says which configuration version it made, a read and a no-op do not', async () => {
      const { headers, version } = await service.admin.answer(postProject, { body: { name: 'Landing' } });
      expect(headers.has('x-service-config-version')).toBe(true);
      expect(version).toBe(await service.version());
      const { body } = await service.admin.answer(listProjects);
      const project = body.projects.find(({ name }) => name === 'Landing');
      const unchanged = await service.admin.answer(putProject, {
        params: { id: project?.id ?? '' },
        body: { name: 'Landing' },
      });
      expect(unchanged.headers.has('x-service-config-version')).toBe(false);
    });

    test('lists say everything a client needs to go on', async () => {
      for (const operation of [listEnvironments, listAttributes, listMembers, listProjects]) {
        await service.admin.call(operation);
      }
      await newEnvironment(service.admin, 'second');
      await service.admin.call(postAttribute, { body: { property: 'plan', datatype: 'string' } });
      await service.admin.refused(400, postEnvironment, { body: { id: 'second' } });
      await service.admin.refused(404, toggleFeature, { params: { id: 'none' }, body: { environments: {} } });
    });
  });
});

describe('the rate limit', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ API_RATE_LIMIT_MAX: '60' });
  });
  afterAll(() => service.stop());

  test('the 61st request of a key within a minute is 429; another key is not affected [tenancy M12]', async () => {
    service.clock.advance(60_000 - (service.clock.now().getTime() % 60_000));
    const key = await service.withKey({});
    const first = await key.answer(getVersion);
    expect(Object.fromEntries(first.headers)).toMatchObject({ 'ratelimit-limit': '60', 'ratelimit-remaining': '59' });
    expect(Number(first.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    for (let index = 2; index <= 60; index++) await key.call(getVersion);
    const { message, headers } = await key.refused(429, getVersion);
    expect(message).toContain('60 requests');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit-remaining')).toBe('0');
    // Also where nothing is found: whoever is over the limit learns nothing.
    await key.refused(429, getProject, { params: { id: 'x' } });
    await (await service.withKey({})).call(getVersion);
    service.clock.advance(60_000);
    await key.call(getVersion);
  });

  test('processes count together', async () => {
    service.clock.advance(60_000 - (service.clock.now().getTime() % 60_000));
    const second = await service.another();
    const { key } = await service.withKey({});
    const ask = (url: string) => fetch(`${url}/v1/version`, { headers: { authorization: `Bearer ${key}` } });
    for (let index = 0; index < 40; index++) await ask(service.url);
    await expect
      .poll(async () => (await ask(second.url)).headers.get('ratelimit-remaining'), { timeout: 5_000, interval: 400 })
      .toMatch(/^1?\d$/);
  });

  test('with the database away it goes on by what this process counts', async () => {
    const key = await service.withKey({});
    await key.call(getVersion);
    await service.db.schema.dropTable('request_count').execute();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await key.call(getVersion)).toHaveProperty('version');
  });

  test('failed attempts are limited by source address; a valid key still passes', async () => {
    service.clock.advance(60_000 - (service.clock.now().getTime() % 60_000));
    const guess = (index: number) =>
      fetch(`${service.url}/v1/version`, { headers: { authorization: `Bearer wrong${index}` } });
    for (let index = 0; index < 60; index++) expect((await guess(index)).status).toBe(401);
    const limited = await guess(61);
    expect(limited.status).toBe(429);
    expect(limited.headers.has('retry-after')).toBe(true);
    await (await service.withKey({})).call(getVersion);
  });
});

describe('stopping', () => {
  test('lets a request that is under way end, closes streams, and takes no more', async () => {
    const service = await startService();
    const { key } = await service.withKey({});
    const agent = new http.Agent({ keepAlive: true });
    const slow = http.request(`${service.url}/v1/projects`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    const answered = new Promise<number>((resolve, reject) => {
      slow.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      slow.on('error', reject);
    });
    slow.write('{"name":');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopped = service.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    slow.end('"Last one"}');
    expect(await answered).toBe(200);
    await stopped;
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed');
    agent.destroy();
  });
});
