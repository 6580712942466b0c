import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowAnyOrigin, answerPreflight, type Interceptor } from '../http/index.ts';
import type { Clock, Log, Settings } from '../platform/index.ts';
import { acceptedCodings } from './bodies.ts';
import type { DeliveredConnection, Served } from './delivered-connection.ts';
import type { Delivery } from './delivery.ts';
import { minVersionHeader, readMinVersion, servedSince } from './min-version.ts';
import { PayloadHeaders } from './payload-headers.ts';
import { newStream, send } from './streams.ts';

/** What the public routes work with. */
export interface SdkRouteTools {
  readonly delivery: Delivery;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** Notes that a connection is in use. */
  readonly noteUse: (connection: DeliveredConnection) => void;
}

/** As Node names it; several of them come joined by commas. */
const minVersionHeaderKey = minVersionHeader.toLowerCase();
const featuresPath = /^\/api\/features(?:\/([^/?]*))?\/?(?:\?|$)/;
const streamPath = /^(?:\/api)?\/sub(?:\/([^/?]*))?\/?(?:\?|$)/;
/** A change that is younger than this is told to a new subscriber: it may have come between its GET and its subscription. */
const newsworthyFor = 60_000;

/** Why a public route does not answer with a payload. An SDK gives up on what is unrecoverable. */
interface SdkRefusal {
  readonly status: 400 | 401 | 503;
  readonly error: string;
  readonly unrecoverable?: true;
}

const noKey: SdkRefusal = { status: 400, error: 'The client key is missing in the path.', unrecoverable: true };
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
const remoteOnly: SdkRefusal = {
  status: 400,
  error: 'This SDK connection is set to remote evaluation: its definitions cannot be downloaded.',
  unrecoverable: true,
};
const failed: SdkRefusal = { status: 400, error: 'The payload cannot be delivered at the moment.' };
const badMinVersion: SdkRefusal = { status: 400, error: `${minVersionHeader} must be a whole number of at least 0.` };
const notYet: SdkRefusal = { status: 503, error: 'That configuration version is not here yet. Ask again.' };

/** The public SDK routes: payloads and streams, served from memory. */
export function sdkRoutes(tools: SdkRouteTools): Interceptor & { stop(): void } {
  const payload = payloadRoute(tools);
  const streams = streamRoute(tools);
  const intercept = (request: IncomingMessage, response: ServerResponse): boolean => {
    const url = request.url ?? '';
    const route = url.startsWith('/api/features') ? payload : url.includes('/sub') ? streams.route : null;
    return route?.(request, response, url) ?? false;
  };
  return Object.assign(intercept, { stop: streams.stop });
}

type SdkRoute = (request: IncomingMessage, response: ServerResponse, url: string) => boolean;

/** Serves a route to any origin: preflights first, then `GET` and `HEAD`; other methods are not its own. */
function openToAll(
  path: RegExp,
  answer: (request: IncomingMessage, response: ServerResponse, key: string) => void,
): SdkRoute {
  return (request, response, url) => {
    const match = path.exec(url);
    if (match === null) return false;
    if (request.method === 'OPTIONS') allowAnyOrigin(response);
    if (answerPreflight(request, response, 200)) return true;
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    answer(request, response, decodeKey(match[1] ?? ''));
    return true;
  };
}

function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function refuse(response: ServerResponse, { status, error, unrecoverable }: SdkRefusal): void {
  allowAnyOrigin(response);
  if (unrecoverable) response.setHeader('x-unrecoverable', '1');
  if (status === 503 && !response.hasHeader('Retry-After')) response.setHeader('Retry-After', '1');
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(status).end(JSON.stringify({ status, error }));
}

function payloadRoute({ delivery, settings, log, noteUse }: SdkRouteTools): SdkRoute {
  const headers = new PayloadHeaders(
    `public, max-age=${settings.CACHE_CONTROL_MAX_AGE}, ` +
      `stale-while-revalidate=${settings.CACHE_CONTROL_STALE_WHILE_REVALIDATE}, ` +
      `stale-if-error=${settings.CACHE_CONTROL_STALE_IF_ERROR}`,
  );

  const deliver = (
    request: IncomingMessage,
    response: ServerResponse,
    connection: DeliveredConnection,
    { bodies }: Served,
  ) => {
    const ifNoneMatch = request.headers['if-none-match'];
    const known = ifNoneMatch === undefined ? null : bodies.matching(ifNoneMatch);
    if (known !== null) {
      response.writeHead(304, headers.notModified(bodies, known, connection.version)).end();
      return;
    }
    const body = bodies.best(acceptedCodings(request.headers['accept-encoding'] as string | undefined));
    response.writeHead(200, headers.whole(bodies, body, connection.version));
    response.end(request.method === 'HEAD' ? undefined : body.bytes);
  };

  return openToAll(featuresPath, (request, response, key) => {
    const connection = delivery.find(key);
    if (connection === undefined) return refuse(response, whyUnknown(key));
    noteUse(connection);
    if (connection.live.state.remoteEvalEnabled === true) return refuse(response, remoteOnly);
    const least = readMinVersion(request.headers[minVersionHeaderKey] as string | undefined);
    if (least === null) return refuse(response, badMinVersion);
    const { served } = connection;
    if (served !== null && connection.version >= least) return deliver(request, response, connection, served);
    servedSince(connection, least).then(
      (caughtUp) => {
        if (caughtUp === null) refuse(response, notYet);
        else deliver(request, response, connection, caughtUp);
      },
      (error: unknown) => {
        log.error({ err: error, connection: connection.live.id }, 'A payload could not be delivered');
        refuse(response, failed);
      },
    );
  });
}

const whyUnknown = (key: string): SdkRefusal => {
  if (key === '') return noKey;
  return key.startsWith('secret_') ? secretKey : unknownKey;
};

function streamRoute({ delivery, settings, clock, log, noteUse }: SdkRouteTools): { route: SdkRoute; stop(): void } {
  let second = 0;
  let open = 0;
  let stopped = false;
  const timer = setInterval(() => {
    second++;
    for (const { streams } of delivery.connections()) streams.tick(second);
  }, 1_000);
  timer.unref();
  const most = settings.SSE_MAX_CONNECTIONS ?? Number.POSITIVE_INFINITY;

  const subscribe = (
    request: IncomingMessage,
    response: ServerResponse,
    connection: DeliveredConnection,
    served: Served,
  ) => {
    const lastId = lastEventId(request);
    const isNews = clock.now().getTime() - served.change.instant.getTime() < newsworthyFor;
    // Without an id the newest event is news only while it is young; with one, whatever is newer than it.
    const from = lastId ?? (isNews ? -1 : served.event.id);
    allowAnyOrigin(response);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
      'X-Service-Config-Version': connection.version,
    });
    response.write('retry: 10000\n\n');
    const stream = newStream(response, from, second, settings.SSE_LIFETIME_SECONDS);
    connection.streams.add(stream);
    send(stream, served.event);
  };

  const route = openToAll(streamPath, (request, response, key) => {
    if (key === '') return refuse(response, { ...noKey, status: 401 });
    const connection = delivery.find(key);
    if (connection === undefined) return refuse(response, whyUnknown(key));
    noteUse(connection);
    if (stopped || open >= most) {
      response.setHeader('Retry-After', String(5 + Math.floor(Math.random() * 25)));
      return refuse(response, { status: 503, error: 'No more streams are taken at the moment. Ask again later.' });
    }
    open++;
    response.on('close', () => open--);
    servedSince(connection, 0).then(
      (served) => (served === null ? refuse(response, failed) : subscribe(request, response, connection, served)),
      (error: unknown) => {
        log.error({ err: error, connection: connection.live.id }, 'A stream could not be opened');
        refuse(response, failed);
      },
    );
  });

  return {
    route,
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const { streams } of delivery.connections()) streams.close();
    },
  };
}

/** The id of the last event that a client says it has; null: none, or nothing that could be one. */
function lastEventId(request: IncomingMessage): number | null {
  const header = request.headers['last-event-id'];
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
