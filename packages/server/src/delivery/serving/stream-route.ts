import type { IncomingMessage, ServerResponse } from 'node:http';
import { anyOrigin } from '../../http/index.ts';
import type { Clock, Log, Settings } from '../../platform/index.ts';
import { servedSince } from './min-version.ts';
import { failed, noKey, openToAll, type PublicRoute, reading, refuse, whyUnknown } from './public-route.ts';
import type { PayloadSource, Served, ServedConnection } from './source.ts';
import { newStream, send } from './streams.ts';

const path = /^(?:\/api)?\/sub(?:\/([^/?]*))?\/?(?:\?|$)/;
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

/** `GET /sub/{clientKey}`: tells each change of a payload as it comes. `HEAD` is answered with the headers alone. */
export function streamRoute(tools: { source: PayloadSource; settings: Settings; clock: Clock; log: Log }): {
  route: PublicRoute;
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
    connection: ServedConnection,
    served: Served,
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
    const stream = newStream(response, from, second, settings.SSE_LIFETIME_SECONDS);
    connection.streams.add(stream);
    send(stream, served.event);
  };

  const route = openToAll(path, reading, (request, response, key) => {
    if (key === '') return refuse(response, { ...noKey, status: 401 });
    const connection = source.use(key);
    if (connection === undefined) return refuse(response, whyUnknown(key, source));
    if (stopped || open >= most) {
      response.setHeader('Retry-After', String(5 + Math.floor(Math.random() * 25)));
      return refuse(response, { status: 503, error: 'No more streams are taken at the moment. Ask again later.' });
    }
    open++;
    response.on('close', countDown);
    if (connection.served !== null) return subscribe(request, response, connection, connection.served);
    servedSince(connection, 0).then(
      (served) => (served === null ? refuse(response, failed) : subscribe(request, response, connection, served)),
      (error: unknown) => {
        log.error({ err: error, connection: connection.id }, 'A stream could not be opened');
        refuse(response, failed);
      },
    );
  });

  return {
    route,
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
