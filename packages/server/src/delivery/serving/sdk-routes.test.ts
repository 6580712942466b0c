import { type SdkRoute, sdkRoutes } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newConnection, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

describe.each(sdkRoutes)('$method $path of the interface description', (route: SdkRoute) => {
  let service: TestService;
  let id: string;
  beforeAll(async () => {
    service = await startService();
    ({ id } = await newFeature(service));
  });
  afterAll(() => service.stop());

  const ask = (key: string): Promise<Response> =>
    fetch(`${service.url}${route.path.replace('{clientKey}', key).replace('{key}', id)}`, {
      method: route.method,
      headers: route.path.includes('{clientKey}') ? {} : { 'X-API-Key': key },
      ...(route.body === undefined ? {} : { body: JSON.stringify({ context: {} }) }),
    });
  const remoteEvalEnabled = route.id === 'evaluateSdkFeatures';

  test.each([false, true])('answers a client key in the declared shape (encrypted: %s)', async (encryptPayload) => {
    const { key } = await newConnection(service.admin, { encryptPayload, remoteEvalEnabled });
    const response = await ask(key);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, route.response.type]);
    if (route.response.type === 'application/json') route.response.schema.parse(await response.json());
    else await response.body?.cancel();
  });

  test('refuses an unknown client key in the declared shape', async () => {
    const response = await ask('sdk-unknown');
    expect([400, 401]).toContain(response.status);
    route.refusal.parse(await response.json());
  });
});
