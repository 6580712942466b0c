import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes, User } from '@halyard/evaluation';
import { readJson } from '../../../http/index.ts';
import { invalid, type Log, quoted, Refusal } from '../../../platform/index.ts';
import { minVersionOf, reach } from '../min-version.ts';
import { badMinVersion, closeAfter, notYet, openToAll, type PublicRoute, writing } from '../public-route.ts';
import { flagEvaluationOf } from '../served-evaluation.ts';
import type { PayloadSource, Served, ServedConnection } from '../source.ts';
import type { TimeBound } from '../time-bound.ts';
import { answerUser } from '../user-answer.ts';
import { eventsPath, secondsOf, versionOf } from './events.ts';
import { type FlagRefusal, refuseFlags } from './refusal.ts';

const path = /^\/ofrep\/v1\/evaluate\/flags(?:\/([^/?]*))?\/?(?:\?|$)/;
const inactivityDelaySec = 120;

/** Said of a flag in a bulk answer. */
const tooSlow =
  'The regular expressions of this flag take too long for this context. Send shorter texts in its attributes.';

/** A request that gets another answer than flags. */
class NoFlags extends Error {
  readonly refusal: FlagRefusal;

  constructor(refusal: FlagRefusal) {
    super(refusal.errorDetails);
    this.refusal = refusal;
  }
}

interface Asked {
  readonly clientKey: string;
  readonly connection: ServedConnection;
  readonly served: Served;
  readonly user: User;
}

/** `POST /ofrep/v1/evaluate/flags/{key}` and `POST /ofrep/v1/evaluate/flags`: one flag, or all of a connection's. */
export function flagsRoute({
  source,
  timeBound,
  log,
}: {
  source: PayloadSource;
  timeBound: TimeBound;
  log: Log;
}): PublicRoute {
  const ask = async (request: IncomingMessage): Promise<Asked> => {
    const clientKey = clientKeyOf(request);
    const isKnown = source.use(clientKey) !== undefined;
    if (!isKnown && minVersionOf(request) === 0) throw noConnection(source, clientKey);
    const { least, isFreshEnough } = freshness(request);
    const user = { attributes: attributesOf(await bodyOf(request)) };
    const reached = await reach(source, clientKey, least, isFreshEnough);
    if (reached === 'unknown') throw noConnection(source, clientKey);
    if (reached === 'late' || reached === 'nothing') throw new NoFlags({ status: 503, errorDetails: notYet.error });
    return { ...reached, clientKey, user };
  };

  const answerOne = ({ connection, served, user }: Asked, key: string, response: ServerResponse): void => {
    const evaluation = flagEvaluationOf(served);
    const flag = timeBound.whole(connection, () => evaluation.one(key, user));
    if (flag === undefined) {
      const errorDetails = `There is no flag ${quoted(key)} on this SDK connection.`;
      throw new NoFlags({ status: 404, errorCode: 'FLAG_NOT_FOUND', errorDetails });
    }
    answerUser(response, { status: flag.failed ? 400 : 200, text: flag.text }, connection, source);
  };

  const answerAll = (
    { clientKey, connection, served, user }: Asked,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    const { keys, one, failed } = flagEvaluationOf(served);
    const flags = timeBound.each(
      connection,
      keys,
      (key) => one(key, user)?.text ?? '',
      (key) => failed(key, tooSlow).text,
    );
    const text = bulkText(flags, served.change.version, clientKey);
    const tag = `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
    const isKnown = tagsOf(request.headers['if-none-match']).includes(tag);
    const answer = isKnown ? { status: 304, text: null } : { status: 200, text };
    answerUser(response, { ...answer, more: ['ETag', tag] }, connection, source);
  };

  return openToAll(path, writing, (request, response, encodedKey) => {
    const key = encodedKey === '' ? undefined : encodedKey;
    ask(request)
      .then((asked) => (key === undefined ? answerAll(asked, request, response) : answerOne(asked, key, response)))
      .catch((error: unknown) => {
        if (request.errored !== null) return;
        closeAfter(response, error);
        if (error instanceof NoFlags) return refuseFlags(response, error.refusal, key);
        if (error instanceof Refusal && error.kind === 'tooMany') {
          for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
          return refuseFlags(response, { status: 429, errorDetails: error.message }, key);
        }
        if (!(error instanceof Refusal)) log.error({ err: error }, 'Flags could not be evaluated');
        const errorDetails =
          error instanceof Refusal ? error.message : 'Flags cannot be evaluated at the moment. Ask again.';
        refuseFlags(response, { status: 400, errorCode: 'GENERAL', errorDetails }, key);
      });
  });
}

/** @param flags their texts */
function bulkText(flags: readonly string[], configVersion: number, clientKey: string): string {
  const rest = {
    metadata: { configVersion },
    eventStreams: [{ type: 'sse', endpoint: { requestUri: eventsPath(clientKey) }, inactivityDelaySec }],
  };
  return `{"flags":[${flags.join(',')}],${JSON.stringify(rest).slice(1)}`;
}

const how = 'Send the client key of an SDK connection as "Authorization: Bearer sdk-…" or "X-API-Key: sdk-…".';

/** The client key that is the credential of a request. */
function clientKeyOf(request: IncomingMessage): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  const clientKey = bearer ?? request.headers['x-api-key'];
  if (typeof clientKey !== 'string' || clientKey === '') {
    throw new NoFlags({ status: 401, errorDetails: `The client key is missing. ${how}` });
  }
  if (clientKey.startsWith('secret_')) {
    throw new NoFlags({
      status: 401,
      errorDetails: `This is a secret key, which must not be given to clients. ${how}`,
    });
  }
  return clientKey;
}

const noConnection = (source: PayloadSource, clientKey: string): NoFlags =>
  source.isNoKey(clientKey)
    ? new NoFlags({ status: 401, errorDetails: `There is no SDK connection of this client key. ${how}` })
    : new NoFlags({ status: 503, errorDetails: 'This client key is not known here yet. Ask again.' });

/** How new an answer must be: as its headers say, and as an event said that made the client ask. */
function freshness(request: IncomingMessage): {
  least: number;
  isFreshEnough: (served: Served, connection: ServedConnection) => boolean;
} {
  const wanted = minVersionOf(request);
  if (wanted === null) throw new NoFlags({ status: 400, errorCode: 'GENERAL', errorDetails: badMinVersion.error });
  const query = new URLSearchParams(request.url?.split('?')[1]);
  const version = versionOf(query.get('flagConfigEtag') ?? '');
  const since = version === null ? readSeconds(query.get('flagConfigLastModified') ?? '') : null;
  const least = Math.max(wanted, version ?? 0);
  return {
    least,
    isFreshEnough: ({ change }, { version: reached }) =>
      reached >= least && (since === null || secondsOf(change.instant) >= since),
  };
}

/** Unix seconds or ISO 8601, in whole seconds; null: it is neither. */
function readSeconds(text: string): number | null {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const instant = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : null;
  return instant === null || Number.isNaN(instant.getTime()) ? null : secondsOf(instant);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  try {
    const body = await readJson(request);
    if (body === undefined) throw invalid('The request body is empty. Send {"context": {…}}.');
    return body;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw error.kind === 'tooLarge'
      ? error
      : new NoFlags({ status: 400, errorCode: 'PARSE_ERROR', errorDetails: error.message });
  }
}

/** The user of a context: the targeting key is the attribute `id`, unless the context has one of its own. */
function attributesOf(body: unknown): Attributes {
  const context = isObject(body) ? body['context'] : undefined;
  if (!isObject(context)) {
    const errorDetails = 'The member "context" of the request body must be an object.';
    throw new NoFlags({ status: 400, errorCode: 'INVALID_CONTEXT', errorDetails });
  }
  const { targetingKey, ...attributes } = context;
  return targetingKey === undefined || Object.hasOwn(attributes, 'id')
    ? attributes
    : { ...attributes, id: targetingKey };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const tagsOf = (header: string | undefined): string[] =>
  header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
