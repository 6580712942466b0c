import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Edge, type EdgeOptions, publicRoutes } from './delivery/index.ts';
import { allowAnyOrigin, answerPreflight } from './http/index.ts';
import { type Clock, inDataDirectory, type Log, SettingError, type Settings } from './platform/index.ts';

export interface EdgeAppOptions extends Pick<EdgeOptions, 'patience'> {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** A running edge. */
export interface EdgeApp {
  /** Where it listens. */
  readonly url: string;
  /** The Halyard that it follows. */
  readonly upstream: string;
  /** Whether it has something to serve. */
  readonly ready: boolean;
  /** Lets requests end, closes streams and gives everything back. */
  stop(): Promise<void>;
}

const requestWithin = 60_000;
const drainWithin = 10_000;

/**
 * Starts an edge: the public routes of the service over payloads that come from another Halyard. It needs no database.
 *
 * @throws SettingError | DataDirectoryError
 */
export async function startEdge({ settings, clock, log, ...patience }: EdgeAppOptions): Promise<EdgeApp> {
  const upstream = settings.HALYARD_UPSTREAM;
  if (upstream === undefined) {
    throw new SettingError(
      'HALYARD_UPSTREAM',
      'an edge needs the address of the Halyard it follows, such as https://flags.example.com.',
    );
  }
  const credentials = credentialsIn(settings);
  const dataDirectory = settings.HALYARD_DATA_DIR;
  const edge = await inDataDirectory(dataDirectory, () =>
    Edge.start({ address: upstream, credentials, dataDirectory, clock, log, ...patience }),
  );
  const publicly = publicRoutes({ source: edge, settings, clock, log });
  const server = createServer({ requestTimeout: requestWithin }, (request, response) => {
    if (!publicly(request, response)) answerOther(request, response, { edge, upstream });
  });
  const stop = async () => {
    publicly.stop();
    await drained(server);
    await edge.stop();
  };
  try {
    await listening(server, settings);
  } catch (error) {
    await stop();
    throw error;
  }
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    upstream,
    get ready() {
      return edge.ready;
    },
    stop,
  };
}

function credentialsIn({ HALYARD_EDGE_CLIENT_KEYS: clientKeys, HALYARD_EDGE_SECRET_KEY: secretKey }: Settings) {
  if (clientKeys !== undefined && secretKey !== undefined) {
    throw new SettingError(
      'HALYARD_EDGE_CLIENT_KEYS',
      'must not be set beside HALYARD_EDGE_SECRET_KEY: set one of them.',
    );
  }
  if (clientKeys !== undefined) return { clientKeys };
  if (secretKey !== undefined) return { secretKey };
  throw new SettingError(
    'HALYARD_EDGE_CLIENT_KEYS',
    'an edge needs client keys (for plain SDK connections), or a readonly key in HALYARD_EDGE_SECRET_KEY (for all).',
  );
}

/** What is no public route: health, and for all else where it is to be found. */
function answerOther(
  request: IncomingMessage,
  response: ServerResponse,
  { edge, upstream }: { edge: Edge; upstream: string },
): void {
  allowAnyOrigin(response);
  if (answerPreflight(request, response, 204)) return;
  const [path = ''] = (request.url ?? '').split('?', 1);
  const answer = (status: number, body: object) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(status).end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  };
  const reading = request.method === 'GET' || request.method === 'HEAD';
  const ready = (well: object) => {
    if (edge.ready) return answer(200, well);
    response.setHeader('Retry-After', '1');
    return answer(503, { message: `This edge has nothing to serve yet: it has not read from ${upstream}.` });
  };
  if (reading && path === '/healthz') answer(200, { healthy: true });
  else if (reading && path === '/readyz') ready({ ready: true });
  else if (reading && path === '/healthcheck') ready({ status: 200, healthy: true });
  else {
    answer(404, {
      message: `This is an edge: it serves SDKs and nothing else. Everything else is at its upstream, ${upstream}.`,
    });
  }
}

const listening = (server: Server, { HOST: host, PORT: port }: Settings): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** Takes no more connections, lets the requests that are under way end, and then cuts what is left. */
async function drained(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), drainWithin);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
