/** The public routes: payloads and streams, served from memory to whoever has a client key. */
import type { Interceptor } from '../../http/index.ts';
import type { Clock, Log, Settings } from '../../platform/index.ts';
import { payloadRoute } from './payload-route.ts';
import type { PayloadSource } from './source.ts';
import { streamRoute } from './stream-route.ts';

export { Bodies } from './bodies.ts';
export { minVersionHeader, readMinVersion, servedSince } from './min-version.ts';
export { type Ciphertexts, encrypted, type PayloadText, payloadHash, payloadMembers } from './payload-text.ts';
export type { PayloadSource, Served, ServedConnection } from './source.ts';
export { askAgainEvent, payloadEvent, Streams } from './streams.ts';

export interface PublicRouteTools {
  readonly source: PayloadSource;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** All public routes, to be asked before every other route: their path is hot. */
export function publicRoutes(tools: PublicRouteTools): Interceptor & { stop(): void } {
  const payload = payloadRoute(tools);
  const streams = streamRoute(tools);
  const intercept: Interceptor = (request, response) => {
    const url = request.url ?? '';
    const route = url.startsWith('/api/features') ? payload : url.includes('/sub') ? streams.route : null;
    return route?.(request, response, url) ?? false;
  };
  return Object.assign(intercept, { stop: streams.stop });
}
