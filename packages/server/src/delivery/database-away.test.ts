import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteSdkConnection, getFeature, type SdkConnection, updateFeature } from '@halyard/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DatabaseProxy, proxyOf } from '../../testing/database-proxy.ts';
import { fetchPayload, payloadOf } from '../../testing/delivery.ts';
import { newConnection, newFeature } from '../../testing/objects.ts';
import { startService } from '../../testing/service.ts';
import { openStream } from '../../testing/streams.ts';
import { featureKind } from '../flags/index.ts';

const patience = { timeout: 20_000, interval: 50 };
const hour = 3_600_000;
const minVersion = 'X-Service-Min-Config-Version';
const errorOf = async (response: Response) => ((await response.json()) as { error: string }).error;
const age = (response: Response) => response.headers.get('x-service-config-age');

/** A service behind a network that can fail, with a feature and connections of every sort. */
async function startBehindProxy() {
  let proxy: DatabaseProxy | undefined;
  const service = await startService({ SSE_LIFETIME_SECONDS: '600' }, async (address) => {
    proxy = await proxyOf(address);
    return proxy.address;
  });
  if (proxy === undefined) throw new Error('The service was started without its proxy.');
  const feature = await newFeature(service, {
    valueType: 'string',
    defaultValue: 'one',
    rules: [{ type: 'rollout', value: 'some', coverage: 0.5, hashAttribute: 'id' }],
  });
  const plain = await newConnection(service.admin);
  const encrypted = await newConnection(service.admin, { encryptPayload: true });
  return { service, proxy, feature, plain, encrypted };
}

const bodyOf = async (url: string, { key }: SdkConnection) => {
  const response = await fetchPayload(url, key, { 'Accept-Encoding': 'identity' });
  return { status: response.status, etag: response.headers.get('etag'), body: await response.text() };
};

describe.each(['refuse', 'swallow'] as const)('while connections to the database %s', (failure) => {
  let parts: Awaited<ReturnType<typeof startBehindProxy>>;
  beforeAll(async () => {
    parts = await startBehindProxy();
  });
  afterAll(async () => {
    await parts.service.stop();
    await parts.proxy.stop();
  });
  const setDefault = (defaultValue: string) =>
    parts.service.admin.answer(updateFeature, { params: { id: parts.feature.id }, body: { defaultValue } });
  const admin = () => parts.service.admin.request(getFeature, { params: { id: parts.feature.id } });

  test('SDKs get right values and are told their age; the rest answers 503; all of it comes back by itself', async () => {
    const { service, proxy, plain, encrypted, feature } = parts;
    const unused = await newConnection(service.admin);
    const before = [await bodyOf(service.url, plain), await bodyOf(service.url, encrypted)];
    expect(before.map(({ status }) => status)).toEqual([200, 200]);
    expect(age(await fetchPayload(service.url, plain.key))).toBeNull();
    const stream = await openStream(service.url, plain.key);
    await stream.next();
    const version = await service.version();

    proxy[failure]();
    await expect.poll(async () => age(await fetchPayload(service.url, plain.key)), patience).not.toBeNull();
    expect([await bodyOf(service.url, plain), await bodyOf(service.url, encrypted)]).toEqual(before);
    const seen = await fetchPayload(service.url, plain.key);
    expect([seen.headers.get('x-service-config-version'), Number(age(seen)) < 30]).toEqual([String(version), true]);
    const compiledNow = await fetchPayload(service.url, unused.key);
    expect(await compiledNow.json()).toMatchObject({ features: { [feature.id]: { defaultValue: 'one' } } });
    const known = await fetchPayload(service.url, plain.key, { 'If-None-Match': seen.headers.get('etag') ?? '' });
    expect([known.status, age(known)]).toEqual([304, expect.stringMatching(/^\d+$/)]);

    const unknown = await fetchPayload(service.url, 'sdk-nobody');
    // It may be the key of a connection that was made since.
    expect([unknown.status, unknown.headers.get('x-unrecoverable')]).toEqual([400, null]);
    const later = await fetchPayload(service.url, plain.key, { [minVersion]: String(version + 1) });
    expect([later.status, later.headers.get('retry-after')]).toEqual([503, '1']);
    const second = await openStream(service.url, plain.key);
    expect((await second.next()).data).toContain('"defaultValue":"one"');

    const refused = await admin();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toEqual({ message: expect.stringMatching(/database is away/) });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

    proxy.pass();
    await expect.poll(async () => (await admin()).status, patience).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(age(await fetchPayload(service.url, plain.key))).toBeNull();
    await setDefault('two');
    for (const one of [stream, second]) {
      expect(JSON.parse((await one.next()).data).features[feature.id].defaultValue).toBe('two');
      one.close();
    }
  });

  test('what other processes publish meanwhile is here once the database is', async () => {
    const { service, proxy, plain, feature } = parts;
    await payloadOf(service.url, plain.key, await service.version());
    proxy[failure]();
    await expect.poll(async () => age(await fetchPayload(service.url, plain.key)), patience).not.toBeNull();
    // As another process would, whose network is well.
    await service.recorder.publish(service.id, { type: 'system', subtype: 'test' }, (states) => {
      const live = states.get(featureKind, feature.id);
      if (live === null) throw new Error('There is no feature.');
      const state = { ...live.state, defaultValue: 'three' };
      return { publication: { changes: [{ kind: featureKind, id: feature.id, state }], audit: [] }, result: null };
    });
    proxy.pass();
    await expect
      .poll(async () => (await payloadOf(service.url, plain.key, 0)).features[feature.id]?.defaultValue, patience)
      .toBe('three');
  });
});

test('a slow database delays changes and nothing else', async () => {
  const { service, proxy, feature, plain } = await startBehindProxy();
  await payloadOf(service.url, plain.key, await service.version());
  proxy.delay(100);
  const statuses = new Set<number>();
  let version: number | null = null;
  const change = service.admin.answer(updateFeature, { params: { id: feature.id }, body: { defaultValue: 'slow' } });
  const changed = change.then((answer) => {
    version = answer.version;
    return answer.version;
  });
  await vi.waitUntil(
    async () => {
      statuses.add((await fetchPayload(service.url, plain.key)).status);
      return version !== null;
    },
    { timeout: 20_000, interval: 1 },
  );
  expect([...statuses]).toEqual([200]);
  expect((await payloadOf(service.url, plain.key, await changed)).features[feature.id]?.defaultValue).toBe('slow');
  proxy.pass();
  await service.stop();
  await proxy.stop();
});

describe('a start without the database', () => {
  let parts: Awaited<ReturnType<typeof startBehindProxy>>;
  beforeEach(async () => {
    parts = await startBehindProxy();
  });
  afterEach(async () => {
    await parts.service.stop();
    await parts.proxy.stop();
  });
  /** The first process has served, and is gone. */
  const serveAndStop = async () => {
    const { service, plain, encrypted, proxy } = parts;
    const before = [await bodyOf(service.url, plain), await bodyOf(service.url, encrypted)];
    await service.app.stop();
    proxy.refuse();
    return before;
  };

  test('serves what was last known, byte for byte, also encrypted, until the database is back [flags M91]', async () => {
    const { service, plain, encrypted, feature, proxy } = parts;
    const remote = await newConnection(service.admin, { remoteEvalEnabled: true });
    const unused = await newConnection(service.admin);
    const before = await serveAndStop();
    service.clock.advance(hour);
    const { url, admin } = await service.another();
    expect([await bodyOf(url, plain), await bodyOf(url, encrypted)]).toEqual(before);
    const seconds = Number(age(await fetchPayload(url, plain.key)));
    expect(seconds).toBeGreaterThanOrEqual(3_600);
    expect(seconds).toBeLessThan(3_700);
    expect((await fetchPayload(url, unused.key)).status).toBe(200);
    expect(await errorOf(await fetchPayload(url, remote.key))).toMatch(/remote evaluation/);
    const request = () => admin.request(getFeature, { params: { id: feature.id } });
    expect([(await request()).status, (await fetch(`${url}/readyz`)).status]).toEqual([503, 503]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    const stream = await openStream(url, plain.key);
    proxy.pass();
    await expect.poll(async () => (await request()).status, patience).toBe(200);
    expect(age(await fetchPayload(url, plain.key))).toBeNull();
    expect([await bodyOf(url, plain), await bodyOf(url, encrypted)]).toEqual(before);
    await admin.call(updateFeature, { params: { id: feature.id }, body: { defaultValue: 'two' } });
    expect(JSON.parse((await stream.next()).data).features[feature.id].defaultValue).toBe('two');
    stream.close();
  });

  test('does not tell SDKs to give up on a key that may exist, until it has read all keys [flags M93]', async () => {
    const { service, proxy } = parts;
    await serveAndStop();
    const { url } = await service.another();
    const unknown = () => fetchPayload(url, 'sdk-unknown');
    const first = await unknown();
    expect([first.status, first.headers.get('x-unrecoverable')]).toEqual([400, null]);
    expect(await first.json()).toEqual({ status: 400, error: expect.any(String) });
    proxy.pass();
    await expect.poll(async () => (await unknown()).headers.get('x-unrecoverable'), patience).toBe('1');
  });

  test('does not serve a connection that was deleted, and keeps nothing of it on disk', async () => {
    const { service, plain, encrypted } = parts;
    await bodyOf(service.url, encrypted);
    await service.admin.call(deleteSdkConnection, { params: { id: encrypted.id } });
    const directory = join(service.dataDirectory, 'last-known-good', '1');
    const onDisk = async () => {
      const names = await readdir(directory);
      const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
      return texts.join('');
    };
    await expect.poll(onDisk, patience).not.toContain(encrypted.id);
    expect(await onDisk()).toContain(plain.key);
    await serveAndStop();
    const { url } = await service.another();
    expect([(await bodyOf(url, plain)).status, (await bodyOf(url, encrypted)).status]).toEqual([200, 400]);
  });

  test('does not serve a copy that is damaged, cut off or of another installation', async () => {
    const { service, plain, proxy } = parts;
    const directory = join(service.dataDirectory, 'last-known-good', '1');
    const [good] = await serveAndStop();
    expect((await stat(join(directory, 'states'))).mode & 0o077).toBe(0);
    const files = ['states', 'known'].map((name) => join(directory, name));
    const originals = await Promise.all(files.map((file) => readFile(file)));
    const start = async (more: Record<string, string> = {}) => {
      const { app, url } = await service.another(more);
      const answer = await bodyOf(url, plain);
      await app.stop();
      return answer;
    };
    for (const [index, file] of files.entries()) {
      const original = originals[index] ?? Buffer.alloc(0);
      const flipped = Buffer.from(original);
      flipped[original.length >> 1] = (flipped[original.length >> 1] ?? 0) ^ 1;
      for (const damaged of [
        flipped,
        original.subarray(0, original.length >> 1),
        Buffer.from('{"foreign":true}\n'),
        null,
      ]) {
        if (damaged === null) await rm(file);
        else await writeFile(file, damaged);
        expect(await start()).toMatchObject({ status: 400 });
      }
      await writeFile(file, original);
    }
    expect(await start({ DATA_ENCRYPTION_KEY: '11'.repeat(32) })).toMatchObject({ status: 400 });
    expect(await start()).toEqual(good);
    proxy.pass();
  });

  test('serves the states without the dates of their changes where those alone are damaged', async () => {
    const { service, plain, encrypted } = parts;
    const [good] = await serveAndStop();
    await writeFile(join(service.dataDirectory, 'last-known-good', '1', 'payload-changes'), 'damaged');
    const { url } = await service.another();
    expect(await bodyOf(url, plain)).toMatchObject({ status: 200, etag: good?.etag });
    expect(await bodyOf(url, encrypted)).toMatchObject({ status: 200 });
  });

  test('does not serve a copy that ends before what was known', async () => {
    const { service, plain, feature } = parts;
    const directory = join(service.dataDirectory, 'last-known-good', '1');
    const states = join(directory, 'states');
    const older = await readFile(states);
    await service.admin.call(updateFeature, { params: { id: feature.id }, body: { defaultValue: 'newer' } });
    await serveAndStop();
    await writeFile(states, older);
    const { url } = await service.another();
    expect((await bodyOf(url, plain)).status).toBe(400);
  });

  test('gives way to what the database says, also when that is less', async () => {
    const { service, plain, proxy } = parts;
    await serveAndStop();
    // The database was restored from a backup that knows nothing of the connection.
    await service.db.deleteFrom('live_state').where('id', '=', plain.id).execute();
    const { url } = await service.another();
    expect((await bodyOf(url, plain)).status).toBe(200);
    proxy.pass();
    await expect.poll(async () => (await bodyOf(url, plain)).status, patience).toBe(400);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
