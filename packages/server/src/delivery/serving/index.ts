/** The public routes: payloads, evaluated users and streams, served from memory to whoever has a client key. */
import type { Interceptor } from '../../http/index.ts';
import type { Clock, Log, Settings } from '../../platform/index.ts';
import { evaluationRoute } from './evaluation-route.ts';
import { flagRoutes } from './openfeature/index.ts';
import { payloadRoute } from './payload-route.ts';
import type { PayloadSource } from './source.ts';
import { streamRoute } from './stream-route.ts';
import { timeBound } from './time-bound.ts';

export { answerOf, Bodies, membersOf } from './bodies.ts';
export { boundedEvaluation } from './bounded-evaluation.ts';
export { minVersionHeader, reach, readMinVersion } from './min-version.ts';
export { payloadFacts, payloadHashedHeader, payloadVersionHeader } from './payload-headers.ts';
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
  const bound = timeBound(tools);
  const evaluation = evaluationRoute({ ...tools, timeBound: bound });
  const flags = flagRoutes({ ...tools, timeBound: bound, streams });
  const routeOf = (url: string) => {
    if (url.startsWith('/api/features')) return payload;
    if (url.startsWith('/api/eval')) return evaluation;
    if (url.startsWith('/ofrep/')) return flags;
    return url.includes('/sub') ? streams.route : null;
  };
  const intercept: Interceptor = (request, response) => {
    const url = request.url ?? '';
    return routeOf(url)?.(request, response, url) ?? false;
  };
  return Object.assign(intercept, { stop: streams.stop });
}
