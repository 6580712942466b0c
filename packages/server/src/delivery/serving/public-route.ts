import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowAnyOrigin, answerPreflight } from '../../http/index.ts';
import { Refusal } from '../../platform/index.ts';
import { minVersionHeader } from './min-version.ts';
import type { PayloadSource } from './source.ts';

/** Answers a request if it is one of its own. */
export type PublicRoute = (request: IncomingMessage, response: ServerResponse, url: string) => boolean;

/** Why a public route does not answer with a payload. An SDK gives up on what is unrecoverable. */
export interface SdkRefusal {
  readonly status: 400 | 401 | 503;
  readonly error: string;
  readonly unrecoverable?: true;
}

export const noKey: SdkRefusal = { status: 400, error: 'The client key is missing in the path.', unrecoverable: true };
const unknownKey: SdkRefusal = {
  status: 400,
  error: 'There is no SDK connection of this client key.',
  unrecoverable: true,
};
const secretKey: SdkRefusal = {
  status: 400,
  error: 'This is a secret key. SDKs are given the client key of an SDK connection, which begins with "sdk-".',
  unrecoverable: true,
};
export const failed: SdkRefusal = { status: 400, error: 'The payload cannot be delivered at the moment.' };
export const badMinVersion: SdkRefusal = {
  status: 400,
  error: `${minVersionHeader} must be a whole number of at least 0.`,
};
export const notYet: SdkRefusal = { status: 503, error: 'That configuration version is not here yet. Ask again.' };

/** Why there is no connection for a key. A key that may exist after all gets the refusal after which SDKs ask again. */
export function whyUnknown(key: string, source: PayloadSource): SdkRefusal {
  if (key === '') return noKey;
  if (key.startsWith('secret_')) return secretKey;
  return source.isNoKey(key) ? unknownKey : failed;
}

/**
 * Serves a route to any origin: preflights first, then its own methods; others are not its own.
 *
 * @param path whose first group is the client key
 */
export function openToAll(
  path: RegExp,
  methods: ReadonlySet<string>,
  answer: (request: IncomingMessage, response: ServerResponse, key: string) => void,
): PublicRoute {
  return (request, response, url) => {
    const match = path.exec(url);
    if (match === null) return false;
    if (request.method === 'OPTIONS') allowAnyOrigin(response);
    if (answerPreflight(request, response, 200)) return true;
    if (!methods.has(request.method ?? '')) return false;
    answer(request, response, decodeKey(match[1] ?? ''));
    return true;
  };
}

export const reading: ReadonlySet<string> = new Set(['GET', 'HEAD']);
export const writing: ReadonlySet<string> = new Set(['POST']);

function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Where a body was refused for its size, its rest is still on the way: it ends with the connection. */
export function closeAfter(response: ServerResponse, error: unknown): void {
  if (error instanceof Refusal && error.kind === 'tooLarge') response.setHeader('Connection', 'close');
}

export function refuse(response: ServerResponse, { status, error, unrecoverable }: SdkRefusal): void {
  allowAnyOrigin(response);
  if (unrecoverable) response.setHeader('x-unrecoverable', '1');
  if (status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '1');
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(status).end(JSON.stringify({ status, error }));
}
