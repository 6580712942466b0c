/**
 * The physical floor: a bare `node:http` server that sends one answer to everything. It reads the answer from standard
 * input as JSON and prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Answer } from './load.ts';

const { status, headers, body } = JSON.parse(await text(process.stdin)) as Answer;
const bytes = Buffer.from(body, 'base64');
const server = createServer((_request, response) => {
  response.writeHead(status, headers);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
