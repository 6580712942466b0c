import http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Outcome, type OutgoingRequest, objectionToHeaders, outgoingRequests, type Resolve } from './outgoing.ts';
import { isPublicAddress } from './public-host.ts';

const servers: http.Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on 127.0.0.1. */
async function serve(answer: http.RequestListener): Promise<{ port: number; requests: http.IncomingMessage[] }> {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, requests };
}

const request = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  url,
  method: 'POST',
  headers: new Headers({ 'content-type': 'text/plain' }),
  body: 'hello',
  ...more,
});

const anywhere = outgoingRequests({ allowPrivate: true });
const ok: http.RequestListener = (_, response) => void response.end('thank you');

describe('an outgoing request', () => {
  test('arrives as it was meant, and its answer is told', async () => {
    const bodies: string[] = [];
    const { port, requests } = await serve(async (incoming, response) => {
      bodies.push((await incoming.toArray()).join(''));
      response.writeHead(202).end('thank you');
    });
    const headers = new Headers({ 'content-type': 'text/plain', 'x-mine': 'yes' });
    const outcome = await anywhere.send(request(`http://127.0.0.1:${port}/hook?a=b`, { method: 'PURGE', headers }));
    expect(outcome).toEqual({ answered: true, status: 202, text: 'thank you' });
    expect(bodies).toEqual(['hello']);
    expect(requests[0]).toMatchObject({ method: 'PURGE', url: '/hook?a=b' });
    expect(requests[0]?.headers).toMatchObject({ 'x-mine': 'yes', 'content-length': '5', connection: 'close' });
  });

  test('without a body sends none', async () => {
    const { port, requests } = await serve(ok);
    const { body: _, ...bare } = request(`http://127.0.0.1:${port}/`, { method: 'GET' });
    await anywhere.send(bare);
    expect(requests[0]?.headers).not.toHaveProperty('content-length');
    expect(requests[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('resolves a name once and goes to the address that was checked, under its own name', async () => {
    const { port, requests } = await serve(ok);
    const resolve = vi.fn<Resolve>(async () => [{ address: '127.0.0.1', family: 4 }]);
    const outgoing = outgoingRequests({ allowPrivate: true, resolve });
    expect(await outgoing.send(request(`http://hooks.example.com:${port}/`))).toMatchObject({ status: 200 });
    expect(resolve.mock.calls).toEqual([['hooks.example.com']]);
    expect(requests[0]?.headers.host).toBe(`hooks.example.com:${port}`);
  });

  test('is not sent where any of the addresses of its name is private; a name that changes its mind gets nowhere', async () => {
    const { port, requests } = await serve(ok);
    const answers = [
      [{ address: '127.0.0.1', family: 4 }],
      [
        { address: '93.184.215.14', family: 4 },
        { address: '::ffff:127.0.0.1', family: 6 },
      ],
      [],
    ];
    for (const addresses of answers) {
      const outgoing = outgoingRequests({ allowPrivate: false, resolve: async () => addresses });
      expect(await outgoing.send(request(`http://hooks.example.com:${port}/`))).toMatchObject({ answered: false });
    }
    // Public when it is checked, private a moment later: what was checked is what is connected to.
    const asked: string[] = [];
    const rebinding: Resolve = async (name) => {
      asked.push(name);
      return asked.length === 1 ? [{ address: '2000::1', family: 6 }] : [{ address: '127.0.0.1', family: 4 }];
    };
    const outgoing = outgoingRequests({ allowPrivate: false, resolve: rebinding });
    await outgoing.send(request(`http://hooks.example.com:${port}/`, { within: 200 }));
    expect(asked).toHaveLength(1);
    expect(requests).toEqual([]);
  });

  test('does not follow a redirect', async () => {
    const { port, requests } = await serve((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    });
    expect(await anywhere.send(request(`http://127.0.0.1:${port}/`))).toEqual({
      answered: true,
      status: 302,
      text: '',
    });
    expect(requests).toHaveLength(1);
  });

  test('reads the first 1000 bytes of an answer that does not end, and no half characters', async () => {
    const { port } = await serve((_, response) => {
      const more = () => {
        while (response.write('é\0'.repeat(10_000)) && !response.destroyed);
      };
      response.on('drain', more);
      more();
    });
    const outcome = await anywhere.send(request(`http://127.0.0.1:${port}/`));
    expect(outcome).toMatchObject({ status: 200, text: 'é\ufffd'.repeat(333) });
  });

  test('that gets no answer is given up after 30 s', async () => {
    const { port, requests } = await serve(() => undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sent = anywhere.send(request(`http://127.0.0.1:${port}/`));
    const early: Outcome[] = [];
    void sent.then((outcome) => early.push(outcome));
    while (requests.length === 0) await new Promise(setImmediate);
    vi.advanceTimersByTime(29_999);
    await new Promise(setImmediate);
    expect(early).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await sent).toEqual({ answered: false, reason: 'There was no answer within 30 s.' });
  });

  test('gives up as well on an answer that drips, and on a name that is not resolved', async () => {
    const { port } = await serve((_, response) => {
      response.writeHead(200).flushHeaders();
    });
    const late = { answered: false, reason: 'There was no answer within 0.1 s.' };
    expect(await anywhere.send(request(`http://127.0.0.1:${port}/`, { within: 100 }))).toEqual(late);
    const outgoing = outgoingRequests({ allowPrivate: true, resolve: () => new Promise(() => undefined) });
    expect(await outgoing.send(request('http://hooks.example.com/', { within: 100 }))).toEqual(late);
  });

  test('tells in its own words why it failed, without a part of the address', async () => {
    const { port } = await serve((incoming) => void incoming.destroy());
    const reasons = await Promise.all(
      [
        `http://127.0.0.1:${port}/secret`,
        'http://127.0.0.1:1/secret',
        'ftp://127.0.0.1/secret',
        'secret',
        'http://secret.invalid/',
      ].map((url) => anywhere.send(request(url))),
    );
    expect(reasons.slice(0, 4)).toEqual([
      { answered: false, reason: 'The connection was lost before there was an answer.' },
      { answered: false, reason: 'The connection was refused.' },
      { answered: false, reason: 'Only http and https addresses are sent to.' },
      { answered: false, reason: 'The address is none.' },
    ]);
    for (const outcome of reasons) expect(JSON.stringify(outcome)).not.toContain('secret');
  });
});

describe('addresses', () => {
  const strict = outgoingRequests({ allowPrivate: false });

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[2001:db8::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://intranet/',
    'http://１２７.0.0.1/',
  ])('%s is refused before anything is sent, when it is saved and when it is sent', async (url) => {
    expect(strict.objectionTo(url)).toMatch(/private network/);
    expect(await strict.send(request(url))).toMatchObject({ answered: false, reason: /private network/ });
    expect(anywhere.objectionTo(url)).toBeNull();
  });

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'example.com',
    '',
    'http://',
    'https://user:pass@example.com/',
  ])('%s is none that can be saved', (url) => {
    expect(anywhere.objectionTo(url)).toMatch(/must/);
  });

  test.each([
    'https://example.com/hook',
    'http://93.184.215.14:8080/',
    'https://[2606:4700::6810:84e5]/',
    'https://a.b/',
  ])('%s may be sent to', (url) => {
    expect(strict.objectionTo(url)).toBeNull();
  });

  test('of IPv6 that carry an IPv4 address are never public, whatever they carry', () => {
    const ipv4 = fc.tuple(...Array.from({ length: 4 }, () => fc.nat(255))).map((bytes) => bytes.join('.'));
    fc.assert(
      fc.property(
        ipv4,
        fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'),
        (address, prefix) => {
          expect(isPublicAddress(prefix + address)).toBe(false);
        },
      ),
    );
  });
});

describe('headers that somebody configures', () => {
  test('may be any but those of the connection, and hold what headers can hold', () => {
    expect(objectionToHeaders({ Authorization: 'Bearer {{ TOKEN }}', 'X-A': '' })).toBeNull();
    for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'a b', '', 'a:b', 'x\r\ny']) {
      expect(objectionToHeaders({ [name]: '1' })).not.toBeNull();
    }
    for (const value of ['a\r\nb', 'ä', '\0']) expect(objectionToHeaders({ 'X-A': value })).not.toBeNull();
  });
});
