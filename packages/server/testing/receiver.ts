import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a receiver of webhooks got it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** How a receiver answers; 'never': not at all. */
type Reply = number | 'never' | { readonly status: number; readonly body: string };

/** A server that webhooks are sent to. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** How it answers from now on; 200 at first. */
  reply: Reply | ((request: Received) => Reply);
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = http.createServer(async (incoming, response) => {
    const chunks: Buffer[] = await incoming.toArray();
    const request: Received = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(request);
    const reply = typeof receiver.reply === 'function' ? receiver.reply(request) : receiver.reply;
    if (reply === 'never') return;
    const { status, body } = typeof reply === 'number' ? { status: reply, body: '' } : reply;
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    reply: 200,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
