import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Operation, Permission } from '@halyard/contract';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { type Clock, type Log, type NewId, Refusal, withMaskedKeys } from '../platform/index.ts';
import type { Requester } from '../requester/index.ts';
import { type Admit, admission } from './admission.ts';
import { answerText } from './answer-text.ts';
import type { Authenticator } from './authenticator.ts';
import { bodyLimit, decodeBody, refuseHarm } from './body.ts';
import { allowAnyOrigin, answerPreflight } from './cors.ts';
import { fitForm } from './form.ts';
import { answerProtocolError } from './protocol-error.ts';
import type { RateLimiter } from './rate-limit.ts';
import { longestPathParameter, refusalOf } from './refusals.ts';
import { type Call, JsonText, type Route } from './route.ts';
import { checkShape } from './shape.ts';

/** Takes a request before everything else and answers it alone; false: it is not one of its own. */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Something that is served without a credential and is no operation: health, the interface description. */
export interface OpenRoute {
  readonly path: string;
  answer(reply: FastifyReply): Promise<unknown>;
}

export interface HttpOptions {
  readonly routes: readonly Route[];
  readonly openRoutes: readonly OpenRoute[];
  /** Answers the index of the API. */
  readonly index: () => object;
  /** The public SDK routes, whose path is hot. */
  readonly intercept: Interceptor;
  readonly authenticator: Authenticator;
  /** Null: no limit. */
  readonly rateLimiter: RateLimiter | null;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/** Below these, nothing is told to a caller without a credential, not even what there is. */
const guarded = /^\/(api|v1|v2|ofrep)([/?]|$)/;
const prefixes = ['', '/api'];
const indexPaths = ['/api', '/api/', '/v1/', '/api/v1/'];

/** The HTTP server of the service, not yet listening. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { log, intercept } = options;
  const app = Fastify({
    serverFactory: (handle) =>
      createServer((request, response) => {
        if (!intercept(request, response)) handle(request, response);
      }),
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    genReqId: () => options.newId('req_'),
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: longestPathParameter },
    clientErrorHandler: answerProtocolError,
    frameworkErrors: (error, _request, reply) => refuse(reply, error, log),
  });

  // Bodies are only collected here and decoded once the operation is known: one that defines no body ignores what is sent.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    allowAnyOrigin(reply.raw);
    if (answerPreflight(request.raw, reply.raw, 204)) reply.hijack();
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id } = request;
    log.info(
      { request: id, method, path: pathOf(request), status: reply.statusCode, ms: reply.elapsedTime },
      'Answered',
    );
    done();
  });
  app.setErrorHandler((error, _request, reply) => refuse(reply, error, log));

  const admit = admission(options.authenticator, options.rateLimiter, options.clock);
  for (const route of options.routes) serveOperation(app, route, admit);
  for (const path of indexPaths) {
    app.get(path, async (request, reply) => {
      await admit(request, reply);
      return options.index();
    });
  }
  for (const { path, answer } of options.openRoutes) app.get(path, (_request, reply) => answer(reply));
  app.setNotFoundHandler(async (request, reply) => {
    if (guarded.test(request.url)) await admit(request, reply);
    throw new Refusal('notFound', `There is nothing at ${request.method} ${pathOf(request)}.`);
  });
  return app;
}

function serveOperation(app: FastifyInstance, route: Route, admit: Admit): void {
  const { operation } = route;
  for (const prefix of prefixes) {
    app.route({
      method: operation.method,
      url: prefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      // Before anything can be refused: every answer says it.
      onRequest: (_request, reply, done) => {
        if (operation.deprecated) reply.header('Deprecation', 'true');
        done();
      },
      handler: async (request, reply) => {
        const body = bodyOf(operation, request);
        const requester = await admit(request, reply);
        refuseHarm([request.params, request.query]);
        const shape = checkShape(operation, {
          params: request.params,
          query: request.query,
          body: body.form ? fitForm(operation, body.value) : body.value,
        });
        const call = callOf(operation, requester, shape as Shape, request, reply);
        const answer = await route.handler(call);
        call.assertAsked();
        const text = answer instanceof JsonText ? answer.bytes : answerText(answer, operation);
        return reply.type('application/json; charset=utf-8').send(text);
      },
    });
  }
}

const bodyOf = (operation: Operation, request: FastifyRequest) =>
  operation.body === undefined
    ? { value: undefined, form: false }
    : decodeBody(request.body as Buffer | undefined, {
        contentType: request.headers['content-type'],
        contentEncoding: request.headers['content-encoding'],
      });

type Shape = Pick<Call, 'params' | 'query' | 'body'>;

function callOf(
  operation: Operation,
  requester: Requester,
  shape: Shape,
  request: FastifyRequest,
  reply: FastifyReply,
): Call & { assertAsked(): void } {
  const watched = watch(operation, requester);
  return {
    ...shape,
    requester: watched.requester,
    landed({ landed, result }) {
      if (landed !== null) reply.header('X-Service-Config-Version', landed.version);
      return result;
    },
    requestHeader(name) {
      return request.raw.headersDistinct[name.toLowerCase()]?.join(',');
    },
    header(name, value) {
      reply.header(name, value);
    },
    assertAsked: watched.assertAsked,
  };
}

/** The requester of a call, who notes whether the permission of the operation has been asked for. */
function watch(operation: Operation, requester: Requester): { requester: Requester; assertAsked(): void } {
  const needed = new Set(typeof operation.permission === 'string' ? [operation.permission] : operation.permission);
  let asked = needed.has('anyCredential');
  const ask = (permission: Permission) => {
    asked ||= needed.has(permission);
  };
  return {
    requester: {
      ...requester,
      may(permission, scope) {
        ask(permission);
        return requester.may(permission, scope);
      },
      maySee(projects) {
        ask('readData');
        return requester.maySee(projects);
      },
    },
    assertAsked() {
      if (!asked) throw new Error(`${operation.id} answered without asking for its permission.`);
    },
  };
}

/** The path without its query, which may hold what does not belong into a log, and without keys that got into it. */
const pathOf = (request: FastifyRequest): string => withMaskedKeys(request.url.split('?', 1)[0] ?? '').slice(0, 500);

function refuse(reply: FastifyReply, error: unknown, log: Log): void {
  const refusal = refusalOf(error);
  const { status, message, body, headers } = refusal;
  const { request } = reply;
  if (request.raw.destroyed && !request.raw.complete) {
    log.info({ request: request.id }, 'Given up by the client');
  } else if (refusal !== error && status >= 500) {
    // What is refused on purpose is no news; what became a 5xx by itself is worth a look.
    log.error({ request: request.id, err: error }, 'Failed');
  }
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer');
  reply
    .code(status)
    .headers(headers)
    .send({ message, ...body });
}
