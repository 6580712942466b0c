import { getProject, listEnvironments, listProjects, type Operation } from '@halyard/contract';
import { describe, expect, test } from 'vitest';
import { createLog, systemClock } from '../platform/index.ts';
import { readerOf } from '../record/index.ts';
import { demand, type Requester, visible } from '../requester/index.ts';
import { type Call, createHttp } from './index.ts';

const requester: Requester = {
  organization: 'org_test',
  actor: { type: 'system' },
  may: () => true,
  maySee: () => true,
  states: readerOf({ organization: 'org_test', at: { version: 1, instant: new Date(0) }, kinds: new Map() }),
  members: { emailOf: () => undefined, idOf: () => undefined },
};

/** Status of what an operation answers that is handled like this. */
async function statusOf(operation: Operation, handler: (call: Call) => object, path: string): Promise<number> {
  const credential = { id: 'key_1', expiresAt: null };
  const http = createHttp({
    routes: [{ operation, handler: async (call) => handler(call) }],
    openRoutes: [],
    index: () => ({}),
    intercept: () => false,
    authenticator: { authenticate: async () => ({ credential, admit: async () => requester }) },
    rateLimiter: null,
    clock: systemClock,
    newId: (prefix) => `${prefix}1`,
    log: createLog({ LOG_LEVEL: 'silent' }),
  });
  try {
    const response = await fetch((await http.listen({ port: 0 })) + path, { method: operation.method });
    return response.status;
  } finally {
    await http.close();
  }
}

describe('an operation that needs readData', () => {
  test.each([
    ['whether something is seen', (call: Call) => ({ seen: call.requester.maySee(['prj_a']) })],
    ['what is visible of nothing', (call: Call) => visible(call.requester, [], () => null)],
    [
      'for the permission by name',
      ({ requester }: Call) => ({ asked: demand(requester, 'readData', { projects: [] }) }),
    ],
  ])('is answered once its handler has asked %s', async (_, handler) => {
    expect(await statusOf(getProject, handler, '/v1/projects/x')).toBe(200);
  });

  test.each([
    ['nothing', () => ({})],
    ['for another permission', (call: Call) => ({ may: call.requester.may('manageProjects', { projects: [] }) })],
  ])('is not answered by a handler that has asked %s', async (_, handler) => {
    for (const operation of [listProjects, listEnvironments]) {
      expect(await statusOf(operation, handler, operation.path)).toBe(500);
    }
  });
});
