import { once } from 'node:events';
import { connect } from 'node:net';
import { getProject, lookupSdkConnectionByKey, postProject } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, notFound, systemClock } from '../platform/index.ts';
import { readerOf } from '../record/index.ts';
import { createHttp } from './index.ts';

/** A line of the log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly path?: string;
}

describe('the log of requests', () => {
  const lines: Line[] = [];
  const http = createHttp({
    routes: [getProject, postProject, lookupSdkConnectionByKey].map((operation) => ({
      operation,
      handler: async ({ params }) => {
        throw notFound('thing', Object.values(params as Record<string, string>).join());
      },
    })),
    openRoutes: [],
    index: () => ({}),
    intercept: () => false,
    authenticator: {
      authenticate: async () => ({
        credential: { id: 'key_1', expiresAt: null },
        admit: async () => ({
          organization: 'org_test',
          actor: { type: 'system' },
          may: () => true,
          maySee: () => true,
          states: readerOf({ organization: 'org_test', at: { version: 1, instant: new Date(0) }, kinds: new Map() }),
          members: { emailOf: () => undefined, idOf: () => undefined },
        }),
      }),
    },
    rateLimiter: null,
    clock: systemClock,
    newId: (prefix) => `${prefix}1`,
    log: createLog({ LOG_LEVEL: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Line) }),
  });
  let url: string;
  beforeAll(async () => {
    url = await http.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());

  test('has no secret key that came in a path, nor has the answer', async () => {
    const key = `secret_admin_${'x'.repeat(43)}`;
    for (const path of ['/v1/sdk-connections/lookup', '/api/v1/sdk-connections/lookup', '/v1/nothing']) {
      const response = await fetch(`${url}${path}/${key}`);
      expect(response.status).toBe(404);
      expect(await response.text()).not.toContain(key);
    }
    await expect.poll(() => lines.map(({ path }) => path)).toContain('/v1/sdk-connections/lookup/secret_…');
    expect(JSON.stringify(lines)).not.toContain(key);
    await fetch(`${url}/v1/projects/secret_sauce`);
    await expect.poll(() => lines.map(({ path }) => path)).toContain('/v1/projects/secret_sauce');
  });

  test('takes a client that goes away in the middle of its request for no failure', async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"name":');
    const before = lines.length;
    setImmediate(() => socket.destroy());
    await expect.poll(() => lines.slice(before).map(({ msg }) => msg)).toContain('Given up by the client');
    expect(lines.slice(before).filter(({ level }) => level > 30)).toEqual([]);
  });
});
