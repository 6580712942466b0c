import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Payload } from '@halyard/evaluation';
import { afterEach, describe, expect, test } from 'vitest';
import { fetchPayload } from '../../../testing/delivery.ts';
import { endEdges, type FakeUpstream, fakeUpstream, startTestEdge, type TestEdge } from '../../../testing/edge.ts';
import { answerOf, payloadHash, payloadMembers } from '../serving/index.ts';

/** An edge whose upstream misbehaves, dies, or comes back. */

afterEach(endEdges);

const key = 'sdk-test';

/** What an upstream knows: a payload whose only feature has this value. */
interface Known {
  readonly version: number;
  readonly change: number;
  readonly value: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const textOf = (value: string) => ({
  features: JSON.stringify({ f: { defaultValue: value } }),
  experiments: undefined,
  savedGroups: undefined,
});
const instantOf = (change: number) => new Date(Date.UTC(2026, 0, 1) + change);

const isStream = ({ url = '' }: IncomingMessage) => url.startsWith('/sub/');

/** Answers as the service does, but waits for no version. */
function say(request: IncomingMessage, response: ServerResponse, { version, change, value, headers }: Known): void {
  if (isStream(request)) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 10000\n\n');
    return;
  }
  const tag = `"${payloadHash(textOf(value), null)}"`;
  const told = { etag: tag, 'x-service-config-version': version, 'x-service-payload-version': change, ...headers };
  if (request.headers['if-none-match'] === tag) response.writeHead(304, told).end();
  else response.writeHead(200, told).end(answerOf(payloadMembers(textOf(value), null, instantOf(change))));
}

/** An upstream that can be told what it knows; its streams are ended when it is told more, so that the edge asks again. */
async function upstreamOf(first: Known, port = 0): Promise<FakeUpstream & { knows(next: Known): void }> {
  let known = first;
  let streams: ServerResponse[] = [];
  const upstream = await fakeUpstream((request, response) => {
    if (isStream(request)) streams.push(response);
    say(request, response, known);
  }, port);
  return Object.assign(upstream, {
    knows(next: Known) {
      known = next;
      for (const stream of streams) stream.end();
      streams = [];
    },
  });
}

const follow = (
  upstream: FakeUpstream,
  more: Record<string, string> = {},
  patience?: { answer: number; silence: number },
) => startTestEdge({ HALYARD_UPSTREAM: upstream.url, HALYARD_EDGE_CLIENT_KEYS: key, ...more }, patience);

const within = { timeout: 10_000, interval: 20 };

async function served({ url }: TestEdge) {
  const { status, headers, ...response } = await fetchAll(url);
  const payload = response.body as Payload | undefined;
  const age = headers.get('x-service-config-age');
  return {
    status,
    version: Number(headers.get('x-service-config-version')),
    value: payload?.features?.f?.defaultValue,
    date: payload?.dateUpdated,
    age: age === null ? null : Number(age),
  };
}

async function fetchAll(url: string) {
  const response = await fetchPayload(url, key);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const serves = (edge: TestEdge, expected: Partial<Awaited<ReturnType<typeof served>>>) =>
  expect.poll(() => served(edge), within).toMatchObject(expected);

describe('never older after newer', () => {
  test('an upstream that answers with an older version is asked again, and not believed', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, value: 'ten', age: null });
    upstream.knows({ version: 9, change: 9, value: 'nine' });
    await expect.poll(() => edge.warnings.join(''), within).toContain('version 9, which is older than 10');
    expect(await served(edge)).toMatchObject({ version: 10, value: 'ten', age: expect.any(Number) });
    expect(upstream.requests.at(-1)?.headers['x-service-min-config-version']).toBe('10');
    upstream.knows({ version: 11, change: 11, value: 'eleven' });
    await serves(edge, { version: 11, value: 'eleven', age: null });
  });

  test('also not after the edge was started again, nor when its copy of the payload is lost', async () => {
    const upstream = await upstreamOf({ version: 10, change: 4, value: 'ten' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    await edge.stop();
    upstream.knows({ version: 9, change: 4, value: 'ten' });
    const again = await follow(upstream, { HALYARD_DATA_DIR: edge.dataDirectory });
    expect(await served(again)).toMatchObject({ version: 10, value: 'ten', age: expect.any(Number) });
    await again.stop();

    const copy = (await kept(edge)).find((path) => path.endsWith('.payload')) ?? '';
    await writeFile(copy, 'lost');
    const empty = await follow(upstream, { HALYARD_DATA_DIR: edge.dataDirectory });
    await expect.poll(() => empty.warnings.join(''), within).toContain('older than 10');
    expect((await served(empty)).status).toBe(400);
    upstream.knows({ version: 10, change: 4, value: 'ten' });
    await serves(empty, { version: 10, value: 'ten', age: null });
  });

  test('a payload that has gone and come back has the date of its last change', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'same' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, date: instantOf(10).toISOString() });
    upstream.knows({ version: 12, change: 12, value: 'same' });
    await serves(edge, { version: 12, value: 'same' });
    expect((await served(edge)).date).toBe(instantOf(12).toISOString());
  });

  test('a version without a change of this payload is taken by its tag alone', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'same' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10 });
    const tag = (await fetchPayload(edge.url, key)).headers.get('etag');
    upstream.knows({ version: 15, change: 10, value: 'same' });
    await serves(edge, { version: 15, date: instantOf(10).toISOString() });
    expect(upstream.requests.at(-1)?.headers['if-none-match'] ?? tag).toBe(tag);
  });
});

describe('an upstream that says nonsense', () => {
  const good = payloadMembers(textOf('new'), null, instantOf(11));
  const headers = { 'x-service-config-version': 11, 'x-service-payload-version': 11, etag: `"${'x'.repeat(27)}"` };
  test.each([
    ['another page', 200, { 'content-type': 'text/html' }, '<html>'],
    ['no versions', 200, {}, answerOf(good)],
    ['no payload', 200, headers, '{"status":200}'],
    ['half a payload', 200, headers, `{"status":200,${good.slice(0, 30)}}`],
    ['a payload without features', 200, headers, '{"status":200,"dateUpdated":"2026-01-01T00:00:00.000Z"}'],
    [
      'an encrypted payload without its tag',
      200,
      { ...headers, etag: '' },
      `{"status":200,${good},"encryptedFeatures":"x"}`,
    ],
    ['404', 404, {}, 'not here'],
    ['404 of another service', 404, {}, '{"message":"not here"}'],
    ['500', 500, {}, 'oh'],
    ['502 without a word', 502, {}, ''],
    ['a refusal that is not final', 400, {}, '{"status":400,"error":"Later."}'],
    ['a redirect', 302, { location: 'http://127.0.0.1:1/' }, ''],
  ])('%s: what it said before is served, with its age, until it makes sense again', async (_, status, more, body) => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'old' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    const { answer } = upstream;
    upstream.answer = (_request, response) => response.writeHead(status, more).end(body);
    upstream.knows({ version: 11, change: 11, value: 'new' });
    await serves(edge, { status: 200, version: 10, value: 'old', age: 0 });
    expect(edge.warnings).toHaveLength(1);
    upstream.answer = answer;
    await serves(edge, { version: 11, value: 'new', age: null });
  });

  test('it is asked again with growing pauses', async () => {
    const upstream = await fakeUpstream((_request, response) => response.writeHead(503).end());
    await follow(upstream);
    await expect.poll(() => upstream.requests.length, within).toBe(4);
    const begin = performance.now();
    await expect.poll(() => upstream.requests.length, within).toBe(5);
    // The fifth try comes 1 to 2 s after the fourth.
    expect(performance.now() - begin).toBeGreaterThan(500);
  });

  test('it is left alone for as long as it wants to be', async () => {
    const upstream = await fakeUpstream((_request, response) => response.writeHead(429, { 'retry-after': '60' }).end());
    const edge = await follow(upstream);
    await expect.poll(() => edge.warnings.length, within).toBe(1);
    for (let asked = 0; asked < 20; asked++) await fetchPayload(edge.url, `${key}-other`);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('an upstream that is away', () => {
  test('what it said last is served with its age, also after a start without it, and then what it says next', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const port = Number(new URL(upstream.url).port);
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    await upstream.stop();
    await serves(edge, { version: 10, value: 'ten', age: expect.any(Number) });
    edge.clock.advance(100_000);
    expect((await served(edge)).age).toBeGreaterThanOrEqual(100);
    await edge.stop();

    const cold = await follow(upstream, { HALYARD_DATA_DIR: edge.dataDirectory });
    expect(cold.app.ready).toBe(true);
    const begin = await served(cold);
    expect(begin).toMatchObject({ status: 200, version: 10, value: 'ten' });
    expect(begin.age).toBeLessThan(100);
    cold.clock.advance(3_600_000);
    expect((await served(cold)).age).toBeGreaterThanOrEqual(3_600);

    await upstreamOf({ version: 12, change: 12, value: 'twelve' }, port);
    await serves(cold, { version: 12, value: 'twelve', age: null });
  });

  test('one that does not know the newest itself passes its age on', async () => {
    const aged = { version: 10, change: 10, value: 'ten', headers: { 'x-service-config-age': '40' } };
    const upstream = await upstreamOf(aged);
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: 40 });
    upstream.knows({ version: 10, change: 10, value: 'ten' });
    await expect.poll(async () => (await served(edge)).age, within).toBeNull();
  });

  test('a stream that has fallen silent is noticed, and opened again', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const edge = await follow(upstream, {}, { answer: 2_000, silence: 200 });
    await expect.poll(() => upstream.requests.filter(isStream).length, within).toBeGreaterThan(2);
    expect(edge.warnings.join('')).toContain('fallen silent');
  });

  test('an answer that does not come is not waited for for ever', async () => {
    const upstream = await fakeUpstream(() => undefined);
    const edge = await follow(upstream, {}, { answer: 100, silence: 100 });
    await expect.poll(() => edge.warnings.join(''), within).toContain('The upstream is away');
    await expect.poll(() => upstream.requests.length, within).toBeGreaterThan(2);
    const response = await fetchPayload(edge.url, key);
    expect([response.status, response.headers.has('x-unrecoverable')]).toEqual([400, false]);
  });

  test('one that takes no more streams is read all the same', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const { answer } = upstream;
    upstream.answer = (request, response) =>
      isStream(request) ? response.writeHead(503, { 'retry-after': '1' }).end() : answer(request, response);
    const edge = await follow(upstream);
    await serves(edge, { version: 10, value: 'ten' });
    upstream.knows({ version: 11, change: 11, value: 'eleven' });
    await expect.poll(async () => (await served(edge)).value, within).toBe('eleven');
  });
});

/** The files that an edge keeps. */
async function kept({ dataDirectory }: TestEdge): Promise<string[]> {
  const folder = join(dataDirectory, 'edge');
  return (await readdir(folder)).map((name) => join(folder, name));
}

describe('the copy on disk', () => {
  /** The directory of an edge that has served a payload and is gone, as its upstream is. */
  async function leftBehind() {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    await edge.stop();
    await upstream.stop();
    const files = await kept(edge);
    const copy = files.find((path) => path.endsWith('.payload')) ?? '';
    const restart = (more = {}) => follow(upstream, { HALYARD_DATA_DIR: edge.dataDirectory, ...more });
    return { copy, restart, content: await readFile(copy) };
  }

  test.each([
    ['cut off', (whole: Buffer) => whole.subarray(0, whole.length - 20), 'cut off'],
    ['empty', () => Buffer.alloc(0), 'no file of Halyard'],
    ['with a bit that fell over', (whole: Buffer) => Buffer.from(whole.toString().replace('ten', 'tfn')), 'damaged'],
    ['foreign', () => Buffer.from('{"features":{"f":{"defaultValue":"evil"}}}'), 'no file of Halyard'],
  ])('%s is noticed, told once, and never served', async (_, damage, problem) => {
    const { copy, restart, content } = await leftBehind();
    await writeFile(copy, damage(content));
    const edge = await restart();
    expect(edge.warnings.filter((line) => line.includes(problem))).toHaveLength(1);
    const response = await fetchPayload(edge.url, key);
    expect([response.status, response.headers.has('x-unrecoverable')]).toEqual([400, false]);
    expect((await fetch(`${edge.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${edge.url}/healthz`)).status).toBe(200);
  });

  test('of another connection is not served under this key, whatever its file is called', async () => {
    const { copy, restart } = await leftBehind();
    const other = `${copy.slice(0, -'.payload'.length - 4)}0000.payload`;
    await copyFile(copy, other);
    const edge = await restart();
    expect(edge.warnings.filter((line) => line.includes('another client key'))).toHaveLength(1);
    expect(await served(edge)).toMatchObject({ status: 200, version: 10 });
  });

  test('that was read with a client key is not used with a secret key, of which more is known', async () => {
    const { restart } = await leftBehind();
    const edge = await restart({ HALYARD_EDGE_CLIENT_KEYS: '', HALYARD_EDGE_SECRET_KEY: 'secret_x' });
    expect((await fetchPayload(edge.url, key)).status).toBe(400);
  });

  test('is one edge’s alone: a second one is refused until the first has ended', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    const again = () => follow(upstream, { HALYARD_DATA_DIR: edge.dataDirectory });
    await expect(again()).rejects.toThrow(
      `The data directory ${edge.dataDirectory} is in use by a running Halyard edge: stop that one, or set ` +
        'HALYARD_DATA_DIR to another directory.',
    );
    await serves(edge, { version: 10, value: 'ten', age: null });
    await edge.stop();
    await serves(await again(), { version: 10, value: 'ten' });
  });

  test('is for its owner alone', async () => {
    const { copy } = await leftBehind();
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
  });

  test('may fail while the edge runs: it goes on serving, and says so once', async () => {
    const upstream = await upstreamOf({ version: 10, change: 10, value: 'ten' });
    const edge = await follow(upstream);
    await serves(edge, { version: 10, age: null });
    await rm(join(edge.dataDirectory, 'edge'), { recursive: true });
    for (const version of [11, 12]) {
      upstream.knows({ version, change: version, value: String(version) });
      await serves(edge, { version, value: String(version) });
    }
    expect(edge.warnings.filter((line) => line.includes('cannot be kept on disk'))).toHaveLength(1);
  });
});

describe('the list of connections', () => {
  const connection = (index: number) => ({
    id: `sdk_${index}`,
    key: `sdk-${index}`,
    encryptionKey: 'x',
    more: 'than we know',
  });

  /** Answers pages of a list, and the same payload to every key. */
  const withList = (list: (offset: number) => { connections: object[]; total: number }) =>
    fakeUpstream((request, response) => {
      const url = new URL(request.url ?? '', 'http://upstream');
      if (url.pathname === '/api/v1/sdk-connections') {
        response.end(JSON.stringify(list(Number(url.searchParams.get('offset')))));
      } else say(request, response, { version: 1, change: 1, value: 'x' });
    });
  const start = ({ url }: FakeUpstream) =>
    startTestEdge({ HALYARD_UPSTREAM: url, HALYARD_EDGE_SECRET_KEY: 'secret_readonly' });
  const asked = async ({ url }: TestEdge, name: string) => {
    const response = await fetchPayload(url, name);
    return [response.status, response.headers.get('x-unrecoverable')];
  };

  test('is read whole, page after page, and the key is told to nobody but the upstream', async () => {
    const all = Array.from({ length: 230 }, (_, index) => connection(index));
    const upstream = await withList((offset) => ({ connections: all.slice(offset, offset + 100), total: all.length }));
    const edge = await start(upstream);
    for (const index of [0, 100, 229]) {
      await expect.poll(() => asked(edge, `sdk-${index}`), within).toEqual([200, null]);
    }
    await expect.poll(() => asked(edge, 'sdk-230'), within).toEqual([400, '1']);
    const withKey = upstream.requests.filter(({ headers }) => headers.authorization !== undefined);
    expect(new Set(withKey.map(({ url }) => url?.split('?')[0]))).toEqual(new Set(['/api/v1/sdk-connections']));
    expect(withKey[0]?.headers.authorization).toBe('Bearer secret_readonly');
  });

  test('that moved while it was read is read again, and nothing is dropped for it', async () => {
    let readings = 0;
    const upstream = await withList((offset) => {
      if (offset === 0) readings++;
      const all = Array.from({ length: 101 }, (_, index) => connection(index));
      // At the first reading one is deleted between the pages.
      const shift = readings === 1 && offset > 0 ? 1 : 0;
      return { connections: all.slice(offset + shift, offset + shift + 100), total: all.length - shift };
    });
    const edge = await start(upstream);
    await expect.poll(() => asked(edge, 'sdk-100'), within).toEqual([200, null]);
    expect(readings).toBe(3);
    await expect.poll(() => asked(edge, 'sdk-99'), within).toEqual([200, null]);
  });

  test('is read again for a key that it does not have, which is refused for good only when it still does not', async () => {
    let all = [connection(0)];
    const upstream = await withList(() => ({ connections: all, total: all.length }));
    const edge = await start(upstream);
    await expect.poll(() => asked(edge, 'sdk-0'), within).toEqual([200, null]);
    all = [connection(0), connection(1)];
    const seen = new Set<string | null>();
    await expect
      .poll(async () => {
        const [status, unrecoverable] = await asked(edge, 'sdk-1');
        seen.add(String(unrecoverable));
        return status;
      }, within)
      .toBe(200);
    expect([...seen]).toEqual(['null']);

    const evaluate = () =>
      fetch(`${edge.url}/ofrep/v1/evaluate/flags`, {
        method: 'POST',
        headers: { authorization: 'Bearer sdk-2', 'content-type': 'application/json' },
        body: '{"context":{}}',
      });
    const first = await evaluate();
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1']);
    await expect.poll(async () => (await evaluate()).status, within).toBe(401);
    expect(await asked(edge, 'sdk-2')).toEqual([400, '1']);
  });

  test('is read every 2 s at most, however many unknown keys are asked for', async () => {
    const upstream = await withList(() => ({ connections: [], total: 0 }));
    const edge = await start(upstream);
    const readings = () => upstream.requests.filter(({ url }) => url?.startsWith('/api/v1/sdk-connections')).length;
    await expect.poll(readings, within).toBe(1);
    let index = 0;
    const begin = performance.now();
    await expect
      .poll(async () => {
        await asked(edge, `sdk-any-${index++}`);
        return readings();
      }, within)
      .toBe(3);
    expect(index).toBeGreaterThan(10);
    expect(performance.now() - begin).toBeGreaterThan(3_000);
  });

  test('says nothing about a key once the upstream is away', async () => {
    const upstream = await withList(() => ({ connections: [connection(0)], total: 1 }));
    const edge = await start(upstream);
    await expect.poll(() => asked(edge, 'sdk-any'), within).toEqual([400, '1']);
    await upstream.stop();
    await expect.poll(() => asked(edge, 'sdk-any'), within).toEqual([400, null]);
    expect(await asked(edge, 'sdk-other')).toEqual([400, null]);
    expect(await asked(edge, 'sdk-0')).toEqual([200, null]);
  });

  test('and all else is left alone for as long as an upstream wants that has had enough of the secret key', async () => {
    let limited = false;
    const upstream = await withList(() => ({ connections: [connection(0)], total: 1 }));
    const { answer } = upstream;
    upstream.answer = (request, response) =>
      limited && request.url?.startsWith('/api/v1/')
        ? response.writeHead(429, { 'retry-after': '4' }).end('{"message":"Wait."}')
        : answer(request, response);
    const edge = await start(upstream);
    await expect.poll(() => asked(edge, 'sdk-0'), within).toEqual([200, null]);
    limited = true;
    const before = upstream.requests.length;
    await expect
      .poll(async () => {
        await asked(edge, 'sdk-1');
        return edge.warnings.length;
      }, within)
      .toBe(1);
    for (let index = 0; index < 20; index++) await asked(edge, `sdk-any-${index}`);
    expect(upstream.requests).toHaveLength(before + 1);
    limited = false;
    await expect.poll(() => asked(edge, 'sdk-1'), within).toEqual([400, '1']);
  });

  test('until it has been read once, an unknown key may exist after all; from then on it does not', async () => {
    let known = false;
    const upstream = await fakeUpstream((request, response) => {
      if (!known) response.destroy();
      else if (request.url?.startsWith('/api/v1/sdk-connections')) response.end('{"connections":[],"total":0}');
    });
    const edge = await start(upstream);
    expect(await asked(edge, 'sdk-a')).toEqual([400, null]);
    expect(edge.app.ready).toBe(false);
    known = true;
    await expect.poll(() => asked(edge, 'sdk-a'), within).toEqual([400, '1']);
    expect(edge.app.ready).toBe(true);
  });

  test('that is refused or makes no sense is told in the log without the key, and tried again', async () => {
    for (const [status, body] of [
      [401, '{"message":"The key is not known."}'],
      [200, '[]'],
      [302, ''],
    ] as const) {
      const elsewhere = await fakeUpstream((_request, response) => response.end());
      const upstream = await fakeUpstream((_request, response) =>
        response.writeHead(status, { location: `${elsewhere.url}/` }).end(body),
      );
      const edge = await start(upstream);
      await expect.poll(() => upstream.requests.length, within).toBeGreaterThan(1);
      expect(edge.warnings).toHaveLength(1);
      expect(edge.warnings[0]).not.toContain('secret_readonly');
      expect(elsewhere.requests).toHaveLength(0);
      await edge.stop();
    }
  });
});
