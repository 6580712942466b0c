/**
 * The physical floor of streams: a bare `node:http` server that keeps every GET open and, told so by a POST, writes the same
 * bytes to all of them. It reads the bytes from standard input as base64 and prints its address.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const bytes = Buffer.from(await text(process.stdin), 'base64');
const open = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    response.writeHead(200).end();
    for (const stream of open) stream.write(bytes);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write('retry: 10000\n\n');
  open.add(response);
  response.on('close', () => open.delete(response));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
