import { deleteSdkConnection, putSdkConnection } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchPayload } from '../../../testing/delivery.ts';
import { newConnection, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

const minVersion = 'X-Service-Min-Config-Version';

describe('a version that is asked for in another process, at once', () => {
  let service: TestService;
  let other: string;
  beforeAll(async () => {
    service = await startService();
    other = (await service.another()).url;
    await newFeature(service);
  });
  afterAll(() => service.stop());

  /** A connection that both processes serve. */
  const served = async (body: object = {}) => {
    const connection = await newConnection(service.admin, body);
    const headers = { [minVersion]: String(await service.version()) };
    for (const url of [service.url, other]) await fetchPayload(url, connection.key, headers);
    return connection;
  };
  const ask = (key: string, version: number) => fetchPayload(other, key, { [minVersion]: String(version) });

  test('has the definitions no longer that the version has closed', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, key } = await served();
      const body = { remoteEvalEnabled: true };
      const { version } = await service.admin.answer(putSdkConnection, { params: { id }, body });
      const { status, headers } = await ask(key, version);
      expect([status, headers.get('x-service-config-version')]).toEqual([400, null]);
    }
  });

  test('has the definitions that the version has opened', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, key } = await served({ remoteEvalEnabled: true });
      const body = { remoteEvalEnabled: false };
      const { version } = await service.admin.answer(putSdkConnection, { params: { id }, body });
      const { status, headers } = await ask(key, version);
      expect([status, Number(headers.get('x-service-config-version'))]).toEqual([200, version]);
    }
  });

  test('has no connection any more that the version has deleted', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, key } = await served();
      const { version } = await service.admin.answer(deleteSdkConnection, { params: { id } });
      expect((await ask(key, version)).status).toBe(400);
      const flags = await fetch(`${other}/ofrep/v1/evaluate/flags`, {
        method: 'POST',
        headers: { 'X-API-Key': key, [minVersion]: String(version) },
        body: '{"context":{}}',
      });
      expect(flags.status).toBe(401);
    }
  });

  test('has the connection that the version has made', async () => {
    for (let round = 0; round < 20; round++) {
      const { key } = await newConnection(service.admin);
      expect((await ask(key, await service.version())).status).toBe(200);
    }
  });

  test('of a key that there is not is refused once everything new is here', async () => {
    const { status, headers } = await ask('sdk-nobody', await service.version());
    expect([status, headers.get('x-unrecoverable')]).toEqual([400, '1']);
  });
});
