import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log, Settings } from '../../platform/index.ts';
import { acceptedCodings } from './bodies.ts';
import { minVersionOf, type Reached, reach } from './min-version.ts';
import { PayloadHeaders } from './payload-headers.ts';
import {
  badMinVersion,
  failed,
  notYet,
  openToAll,
  type PublicRoute,
  reading,
  refuse,
  type SdkRefusal,
  whyUnknown,
} from './public-route.ts';
import type { PayloadSource, ServedConnection } from './source.ts';

const path = /^\/api\/features(?:\/([^/?]*))?\/?(?:\?|$)/;

const remoteOnly: SdkRefusal = {
  status: 400,
  error: 'This SDK connection is set to remote evaluation: its definitions cannot be downloaded.',
  unrecoverable: true,
};

/** `GET /api/features/{clientKey}`: the payload of a connection, from memory. */
export function payloadRoute(tools: { source: PayloadSource; settings: Settings; log: Log }): PublicRoute {
  const { source, settings, log } = tools;
  const headers = new PayloadHeaders(
    `public, max-age=${settings.CACHE_CONTROL_MAX_AGE}, ` +
      `stale-while-revalidate=${settings.CACHE_CONTROL_STALE_WHILE_REVALIDATE}, ` +
      `stale-if-error=${settings.CACHE_CONTROL_STALE_IF_ERROR}`,
  );

  const deliver = (
    request: IncomingMessage,
    response: ServerResponse,
    { connection, served }: Reached<ServedConnection>,
  ) => {
    if (connection.remoteOnly) return refuse(response, remoteOnly);
    const { bodies } = served;
    const { version } = connection;
    const ifNoneMatch = request.headers['if-none-match'];
    const known = ifNoneMatch === undefined ? null : bodies.matching(ifNoneMatch);
    const age = source.age(connection);
    if (known !== null) {
      response.writeHead(304, headers.notModified(served, known, version, age)).end();
      return;
    }
    const body = bodies.best(acceptedCodings(request.headers['accept-encoding'] as string | undefined));
    response.writeHead(200, headers.whole(served, body, version, age));
    response.end(request.method === 'HEAD' ? undefined : body.bytes);
  };

  return openToAll(path, reading, (request, response, key) => {
    const connection = source.use(key);
    const least = minVersionOf(request);
    if (least === null) return refuse(response, connection === undefined ? whyUnknown(key, source) : badMinVersion);
    const served = connection?.served ?? null;
    if (connection !== undefined && served !== null && connection.version >= least) {
      return deliver(request, response, { connection, served });
    }
    reach(source, key, least).then(
      (reached) => {
        if (reached === 'unknown') refuse(response, whyUnknown(key, source));
        else if (reached === 'late') refuse(response, notYet);
        else if (reached === 'nothing') refuse(response, failed);
        else deliver(request, response, reached);
      },
      (error: unknown) => {
        log.error({ err: error, connection: connection?.id }, 'A payload could not be delivered');
        refuse(response, failed);
      },
    );
  });
}
