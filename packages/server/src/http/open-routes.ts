import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type OpenApiDocument, type Operation, openApiDocument } from '@halyard/contract';
import { stringify } from 'yaml';
import { type Presence, unavailable } from '../platform/index.ts';
import type { OpenRoute } from './serve.ts';

/** `/healthz` says that the process serves, `/readyz` and `/healthcheck` that the database does as well. */
export function healthRoutes({ presence }: { presence: Presence }): OpenRoute[] {
  const uncached = { 'Cache-Control': 'no-store' };
  const ready = (path: string, well: object): OpenRoute => ({
    path,
    answer: async (reply) => {
      reply.headers(uncached);
      if (!presence.answers) throw unavailable('The database is away. SDKs are served what was last known.', 5);
      return well;
    },
  });
  return [
    { path: '/healthz', answer: async (reply) => reply.headers(uncached).send({ healthy: true }) },
    ready('/readyz', { ready: true }),
    ready('/healthcheck', { status: 200, healthy: true }),
  ];
}

/** The interface description as JSON and YAML, and a page to read and try it. */
export function descriptionRoutes(operations: readonly Operation[], baseUrl: string): OpenRoute[] {
  let document: OpenApiDocument | undefined;
  const describe = () => (document ??= openApiDocument(operations, baseUrl));
  const yaml = async () => stringify(describe(), { aliasDuplicateObjects: false });
  const hour = { 'Cache-Control': 'max-age=3600' };
  return [
    file('/api/openapi.json', 'application/json', hour, async () => JSON.stringify(describe())),
    file('/v1/openapi.yaml', 'text/yaml', hour, yaml),
    file('/api/v1/openapi.yaml', 'text/yaml', hour, yaml),
    file('/api/docs', 'text/html', { 'Content-Security-Policy': pagePolicy }, async () => page),
    file('/api/docs/page.js', 'text/javascript', hour, async () => pageScript),
    file('/api/docs/swagger-ui.css', 'text/css', hour, viewerFile('swagger-ui.css')),
    file('/api/docs/swagger-ui-bundle.js', 'text/javascript', hour, viewerFile('swagger-ui-bundle.js')),
  ];
}

function file(
  path: string,
  type: string,
  headers: Readonly<Record<string, string>>,
  read: () => Promise<string | Buffer>,
): OpenRoute {
  return {
    path,
    answer: async (reply) =>
      reply
        .headers(headers)
        .type(`${type}; charset=utf-8`)
        .send(await read()),
  };
}

const viewerFile = (name: string) => () => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return readFile(join(folder, name));
};

/** The viewer brings its icons as data addresses and sets styles from script; nothing else is let in. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Halyard API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
</head>
<body>
<div id="description"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/page.js"></script>
</body>
</html>
`;

// "Try it out" calls the server that the page came from, whatever the public base address is.
const pageScript = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'none',
  displayRequestDuration: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    const below = pathname.search(/\\/v[12]\\//);
    request.url = location.origin + (below < 0 ? pathname : '/api' + pathname.slice(below)) + search;
    return request;
  },
});
`;
