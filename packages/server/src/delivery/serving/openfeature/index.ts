/** The OpenFeature Remote Evaluation Protocol, version 0.3, at `/ofrep/v1`. */
import type { Log } from '../../../platform/index.ts';
import type { PublicRoute } from '../public-route.ts';
import type { PayloadSource } from '../source.ts';
import type { streamRoute } from '../stream-route.ts';
import type { TimeBound } from '../time-bound.ts';
import { flagSubscribers } from './events.ts';
import { flagsRoute } from './flags-route.ts';

/** All routes of the protocol. */
export function flagRoutes(tools: {
  source: PayloadSource;
  timeBound: TimeBound;
  log: Log;
  streams: Pick<ReturnType<typeof streamRoute>, 'routeFor'>;
}): PublicRoute {
  const flags = flagsRoute(tools);
  const events = tools.streams.routeFor(flagSubscribers);
  return (request, response, url) => flags(request, response, url) || events(request, response, url);
}
