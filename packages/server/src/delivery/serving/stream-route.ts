import type { IncomingMessage, ServerResponse } from 'node:http';
import { anyOrigin } from '../../http/index.ts';
import type { Clock, Log, Settings } from '../../platform/index.ts';
import { type Reached, reach } from './min-version.ts';
import {
  failed,
  noKey,
  openToAll,
  type PublicRoute,
  reading,
  refuse,
  type SdkRefusal,
  whyUnknown,
} from './public-route.ts';
import type { PayloadSource, ServedConnection } from './source.ts';
import { type Dialect, newStream, sdkDialect, send } from './streams.ts';

/** One kind of subscriber: where they come in, and in which words they are told events and refused. */
export interface Subscribers {
  readonly path: RegExp;
  dialect(connection: ServedConnection): Dialect;
  refuse(response: ServerResponse, refusal: SdkRefusal): void;
}

const sdks: Subscribers = {
  path: /^(?:\/api)?\/sub(?:\/([^/?]*))?\/?(?:\?|$)/,
  dialect: () => sdkDialect,
  refuse,
};
/** A change that is younger than this is told to a new subscriber: it may have come between its GET and its subscription. */
const newsworthyFor = 60_000;

/** Written with `writeHead` alone: headers that are set one by one stay in memory as long as the stream is open. */
const streamHeaders = [
  ...anyOrigin,
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache',
  'Connection',
  'keep-alive',
  'X-Accel-Buffering',
  'no',
] as const;

/** There are as many streams as there may be. */
export const noMoreStreams: SdkRefusal = {
  status: 503,
  error: 'No more streams are taken at the moment. Ask again later.',
};

/**
 * `GET /sub/{clientKey}`: tells each change of a payload as it comes. Other kinds of subscribers share the cap, the life
 * and the heartbeat of their streams with it. `HEAD` is answered with the headers alone.
 */
export function streamRoute(tools: { source: PayloadSource; settings: Settings; clock: Clock; log: Log }): {
  route: PublicRoute;
  /** The same for another kind of subscribers. */
  routeFor(subscribers: Subscribers): PublicRoute;
  /** Ends all streams and takes no more. */
  stop(): void;
} {
  const { source, settings, clock, log } = tools;
  let second = 0;
  let open = 0;
  let stopped = false;
  const timer = setInterval(() => {
    second++;
    for (const { streams } of source.connections()) streams.tick(second);
  }, 1_000);
  timer.unref();
  const most = settings.SSE_MAX_CONNECTIONS ?? Number.POSITIVE_INFINITY;
  const countDown = () => {
    open--;
  };

  const subscribe = (
    request: IncomingMessage,
    response: ServerResponse,
    { connection, served }: Reached<ServedConnection>,
    subscribers: Subscribers,
  ) => {
    const lastId = lastEventId(request);
    const isNews = clock.now().getTime() - served.change.instant.getTime() < newsworthyFor;
    // Without an id the newest event is news only while it is young; with one, whatever is newer than it.
    const from = lastId ?? (isNews ? -1 : served.event.id);
    response.writeHead(200, [...streamHeaders, 'X-Service-Config-Version', String(connection.version)]);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.write('retry: 10000\n\n');
    const stream = newStream(response, from, second, settings.SSE_LIFETIME_SECONDS, subscribers.dialect(connection));
    connection.streams.add(stream);
    send(stream, served.event);
  };

  const routeFor = (subscribers: Subscribers): PublicRoute =>
    openToAll(subscribers.path, reading, (request, response, key) => {
      const refuse = (refusal: SdkRefusal) => subscribers.refuse(response, refusal);
      if (key === '') return refuse({ ...noKey, status: 401 });
      const connection = source.use(key);
      if (connection === undefined) return refuse(whyUnknown(key, source));
      if (stopped || open >= most) {
        response.setHeader('Retry-After', String(5 + Math.floor(Math.random() * 25)));
        return refuse(noMoreStreams);
      }
      open++;
      response.on('close', countDown);
      const { served } = connection;
      if (served !== null) return subscribe(request, response, { connection, served }, subscribers);
      reach(source, key, 0).then(
        (reached) => {
          if (reached === 'unknown') refuse(whyUnknown(key, source));
          else if (reached === 'late' || reached === 'nothing') refuse(failed);
          else subscribe(request, response, reached, subscribers);
        },
        (error: unknown) => {
          log.error({ err: error, connection: connection.id }, 'A stream could not be opened');
          refuse(failed);
        },
      );
    });

  return {
    route: routeFor(sdks),
    routeFor,
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const { streams } of source.connections()) streams.close();
    },
  };
}

/** The id of the last event that a client says it has; null: none, or nothing that could be one. */
function lastEventId(request: IncomingMessage): number | null {
  const header = request.headers['last-event-id'];
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
