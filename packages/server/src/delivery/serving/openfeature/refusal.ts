import type { ServerResponse } from 'node:http';
import { allowAnyOrigin } from '../../../http/index.ts';

/** Why a request of the protocol is not answered with flags. */
export interface FlagRefusal {
  readonly status: 400 | 401 | 404 | 429 | 503;
  readonly errorCode?: 'PARSE_ERROR' | 'INVALID_CONTEXT' | 'FLAG_NOT_FOUND' | 'GENERAL';
  readonly errorDetails: string;
}

/** @param key of the one flag that was asked for */
export function refuseFlags(response: ServerResponse, refusal: FlagRefusal, key?: string): void {
  const { status, errorCode, errorDetails } = refusal;
  allowAnyOrigin(response);
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '1');
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(status);
  response.end(JSON.stringify(errorCode === undefined ? { errorDetails } : { key, errorCode, errorDetails }));
}
