import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** What cannot be read as a request at all, by the code of Node's parser. */
const known: ReadonlyMap<string, readonly [status: number, message: string]> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'The request did not arrive in time.']],
  ['HPE_HEADER_OVERFLOW', [431, 'The request line and headers are larger than 16 kB.']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions of the request body are too large.']],
]);

/** Answers where there is no request to answer to, in the form of all refusals, and closes the connection. */
export function answerProtocolError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code !== 'ECONNRESET' && socket.writable) {
    const [status, message] = known.get(error.code ?? '') ?? [400, 'What was sent is no HTTP request.'];
    const body = JSON.stringify({ message });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroy();
}
