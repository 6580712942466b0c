import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of ours that a page of another origin may read. */
const exposedHeaders = [
  'Location',
  'Retry-After',
  'ETag',
  'Deprecation',
  'X-Request-Id',
  'X-Service-Key-Expires-At',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Service-Config-Version',
  'X-Service-Min-Config-Version',
  'X-Service-Config-Age',
  'x-sse-support',
].join(', ');

const allowedHeaders =
  'Authorization, Content-Type, X-Organization, X-Service-Requested-By, X-Service-Min-Config-Version, Last-Event-ID, If-None-Match';

/** The headers that `allowAnyOrigin` sets, for answers that are written with a list of all their headers. */
export const anyOrigin = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposedHeaders] as const;

/** Lets any page read the answer, without its cookies: the credential is a header that the page itself must hold. */
export function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', exposedHeaders);
}

/**
 * Answers a preflight.
 *
 * @returns false when the request is none
 */
export function answerPreflight(request: IncomingMessage, response: ServerResponse, status: 200 | 204): boolean {
  if (request.method !== 'OPTIONS') return false;
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS');
  response.setHeader(
    'Access-Control-Allow-Headers',
    request.headers['access-control-request-headers'] ?? allowedHeaders,
  );
  response.setHeader('Access-Control-Max-Age', '86400');
  response.setHeader('Vary', 'Access-Control-Request-Headers');
  response.setHeader('Content-Length', '0');
  response.writeHead(status).end();
  return true;
}
