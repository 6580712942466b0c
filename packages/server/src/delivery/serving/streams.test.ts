import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { deleteSdkConnection, putSdkConnection, toggleFeature, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../../testing/delivery.ts';
import { newConnection, newEnvironment, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';
import { openStream, settledConnection } from '../../../testing/streams.ts';
import { newStream, payloadEvent, Streams, send } from './streams.ts';

describe('streams', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ SSE_LIFETIME_SECONDS: '600' });
    await newEnvironment(service.admin, 'dev');
  });
  afterAll(() => service.stop());

  const ready = () => settledConnection(service);

  test('HEAD is answered at once, with the headers of a stream alone', async () => {
    const { key } = await ready();
    const signal = AbortSignal.timeout(5_000);
    const response = await fetch(`${service.url}/sub/${key}`, { method: 'HEAD', signal });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(Number(response.headers.get('x-service-config-version'))).toBe(await service.version());
    expect(await response.text()).toBe('');
  });

  test('a change is one event that says what a fresh GET says; what changes nothing here is none [flags M97]', async () => {
    const { key, id, set } = await ready();
    const stream = await openStream(service.url, key);
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.response.headers.get('cache-control')).toBe('no-cache');
    const greeting = await stream.next();
    expect(stream.text().startsWith('retry: 10000\n')).toBe(true);

    // The newest event at once, since its change is young; then the change itself.
    const { version } = await set('one');
    const event = await stream.next();
    const fresh = await payloadOf(service.url, key, version);
    expect(event).toEqual({ event: 'features', id: String(version), data: JSON.stringify(fresh) });

    await service.admin.call(updateFeature, { params: { id }, body: { description: 'words' } });
    await service.admin.call(toggleFeature, { params: { id }, body: { environments: { dev: true } } });
    const { version: next } = await set('two');
    expect((await stream.next()).id).toBe(String(next));
    expect(stream.waiting()).toBe(0);
    stream.close();

    // Whoever was away gets the newest at once; whoever has it gets nothing.
    const late = await openStream(service.url, key, { 'Last-Event-ID': String(version) });
    expect((await late.next()).id).toBe(String(next));
    late.close();
    const current = await openStream(service.url, key, { 'Last-Event-ID': String(next) });
    const { version: last } = await set('three');
    expect((await current.next()).id).toBe(String(last));
    current.close();

    // A new subscriber gets it within 60 seconds of its change, and not later.
    const young = await openStream(service.url, key, { 'Last-Event-ID': 'not a number' });
    expect((await young.next()).id).toBe(String(last));
    young.close();
    service.clock.advance(60_000);
    const old = await openStream(service.url, key);
    const { version: latest } = await set('four');
    expect((await old.next()).id).toBe(String(latest));
    old.close();
    expect(Number(greeting.id)).toBeLessThan(version);
  });

  test('never an older event comes after a newer one', async () => {
    const { key, set } = await ready();
    const ahead = (await service.version()) + 2;
    const stream = await openStream(service.url, key, { 'Last-Event-ID': String(ahead) });
    await set('one');
    await set('two');
    const { version } = await set('three');
    expect((await stream.next()).id).toBe(String(version));
    stream.close();
  });

  test('a change in one process reaches the streams of every process', async () => {
    const { key, id } = await ready();
    const second = await service.another();
    const streams = await Promise.all([openStream(service.url, key), openStream(second.url, key)]);
    for (const stream of streams) await stream.next();
    for (const [admin, value] of [
      [service.admin, 'here'],
      [second.admin, 'there'],
    ] as const) {
      const { version } = await admin.answer(updateFeature, { params: { id }, body: { defaultValue: value } });
      const [one, other] = await Promise.all(streams.map((stream) => stream.next()));
      expect(one).toEqual(other);
      expect(one).toMatchObject({ id: String(version), data: expect.stringContaining(value) });
    }
    for (const stream of streams) stream.close();
  });

  test('a connection set to remote evaluation is told to ask again, without data', async () => {
    const { key } = await newConnection(service.admin, { remoteEvalEnabled: true });
    const { id } = await newFeature(service, { valueType: 'string', defaultValue: 'start' });
    const stream = await openStream(service.url, key);
    await stream.next();
    const { version } = await service.admin.answer(updateFeature, { params: { id }, body: { defaultValue: 'one' } });
    let event = await stream.next();
    while (event.id !== String(version)) event = await stream.next();
    expect(event).toEqual({ event: 'features-updated', id: String(version), data: '' });
    stream.close();
  });

  test('without a key it is 401, with an unknown one 400', async () => {
    const missing = await fetch(`${service.url}/sub/`);
    expect([missing.status, await missing.json()]).toEqual([401, { status: 401, error: expect.any(String) }]);
    const unknown = await fetch(`${service.url}/sub/sdk-unknown`);
    expect([unknown.status, unknown.headers.get('x-unrecoverable')]).toEqual([400, '1']);
  });

  test('the streams of a deleted or changed connection are closed', async () => {
    const { key, connection } = await ready();
    const stream = await openStream(service.url, key);
    await service.admin.call(putSdkConnection, { params: { id: connection }, body: { encryptPayload: true } });
    await stream.ended;
    const again = await openStream(service.url, key);
    expect((await again.next()).data).toContain('encryptedFeatures');
    await service.admin.call(deleteSdkConnection, { params: { id: connection } });
    await again.ended;
  });
});

describe('how many streams there may be, and for how long', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ SSE_LIFETIME_SECONDS: '2', SSE_MAX_CONNECTIONS: '2' });
  });
  afterAll(() => service.stop());

  test('above the cap they are asked to come back later; a place that is free is taken', async () => {
    const { key } = await newConnection(service.admin);
    const open = [await openStream(service.url, key), await openStream(service.url, key)];
    const full = await fetch(`${service.url}/sub/${key}`);
    expect(full.status).toBe(503);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
    open[0]?.close();
    await expect
      .poll(async () => {
        const stream = await openStream(service.url, key);
        stream.close();
        return stream.response.status;
      })
      .toBe(200);
    open[1]?.close();
  });

  test('the server ends them after their lifetime', async () => {
    const { key } = await newConnection(service.admin);
    const stream = await openStream(service.url, key);
    await stream.ended;
    expect(stream.text()).toContain('retry: 10000');
  });
});

describe('one process’s streams', () => {
  /** A server whose answer the test holds in its hands. */
  const answering = async (use: (response: http.ServerResponse) => void) => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      use(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  };

  test('are kept alive by an empty message every 30 seconds', async () => {
    const streams = new Streams();
    const server = await answering((response) => {
      response.flushHeaders();
      streams.add(newStream(response, 0, 0, 600));
      for (let second = 1; second <= 60; second++) streams.tick(second);
      streams.close();
    });
    const { port } = server.address() as AddressInfo;
    const text = await (await fetch(`http://127.0.0.1:${port}`)).text();
    expect(text).toBe('data:\n\ndata:\n\n');
    server.close();
  });

  test('who no longer reads is cut off, and nobody else', async () => {
    const streams = new Streams();
    const responses: http.ServerResponse[] = [];
    const server = await answering((response) => {
      response.flushHeaders();
      responses.push(response);
      streams.add(newStream(response, 0, 0, 600));
    });
    const { port } = server.address() as AddressInfo;
    const stuck = connect(port, '127.0.0.1');
    stuck.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
    stuck.pause();
    const reading = await fetch(`http://127.0.0.1:${port}`);
    const received = reading.body?.getReader();
    await expect.poll(() => responses.length).toBe(2);
    const members = Buffer.alloc(1_000_000, 'x');
    let read = 0;
    for (let id = 1; id <= 60 && streams.size === 2; id++) {
      streams.broadcast(payloadEvent(id, members));
      while (read < id * members.length) read += (await received?.read())?.value?.length ?? 0;
    }
    expect(streams.size).toBe(1);
    expect(responses.map((response) => response.destroyed).sort()).toEqual([false, true]);
    streams.close();
    stuck.destroy();
    await received?.cancel();
    server.close();
  });

  test('an event that a stream has, or a newer one, is not sent to it', async () => {
    const server = await answering((response) => {
      const stream = newStream(response, 5, 0, 600);
      for (const id of [4, 5, 7, 6]) send(stream, payloadEvent(id, Buffer.from('}')));
      response.end();
    });
    const { port } = server.address() as AddressInfo;
    const text = await (await fetch(`http://127.0.0.1:${port}`)).text();
    expect(text).toBe('event: features\nid: 7\ndata: {}\n\n');
    server.close();
  });
});
