import type { ServerResponse } from 'node:http';
import { anyOrigin } from '../../http/index.ts';
import type { PayloadSource, ServedConnection } from './source.ts';

/**
 * Sends an answer that is about one user: nobody keeps it for another.
 *
 * @param text null: the client has it already
 * @param more headers, names and values in turn
 */
export function answerUser(
  response: ServerResponse,
  { status, text, more = [] }: { status: number; text: string | null; more?: readonly string[] },
  connection: ServedConnection,
  source: PayloadSource,
): void {
  const bytes = text === null ? null : Buffer.from(text);
  const age = source.age(connection);
  response.writeHead(status, [
    ...anyOrigin,
    'Cache-Control',
    'no-store',
    'X-Service-Config-Version',
    String(connection.version),
    ...(age === null ? [] : ['X-Service-Config-Age', String(age)]),
    ...(bytes === null ? [] : ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)]),
    ...more,
  ]);
  response.end(bytes ?? undefined);
}
