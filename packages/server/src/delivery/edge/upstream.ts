import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { membersOf, minVersionHeader, payloadHashedHeader, payloadVersionHeader } from '../serving/index.ts';
import { EventReader, type StreamNews } from './event-reader.ts';

/** The upstream does not answer, or not in a way that could be used. It is asked again. */
export class UpstreamAway extends Error {
  /** How long it wants to be left alone. */
  readonly retryAfterSeconds: number;

  constructor(message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    this.retryAfterSeconds = options.retryAfterSeconds ?? 0;
  }
}

/** Milliseconds that the upstream wants to be left alone after this error, spread out. */
export function restAfter(error: unknown): number {
  if (!(error instanceof UpstreamAway)) return 0;
  return Math.min(error.retryAfterSeconds * 1_000, longestRest) * (1 + Math.random() / 2);
}

/** The upstream says that there is nothing to be had, and that asking again will not help. */
export class UpstreamRefusal extends Error {}

/** A connection as an edge knows it. */
export interface ConnectionFacts {
  /** For the log. */
  readonly id: string;
  readonly key: string;
  /** Its payload may not be downloaded with the client key. */
  readonly remoteOnly: boolean;
  /** Null: not known. */
  readonly encryptionKey: string | null;
}

export interface UpstreamPayload {
  /** Up to which the payload is right. */
  readonly version: number;
  /** The version that changed it last. */
  readonly change: number;
  /** Seconds since the upstream itself knew that to be the newest; null: it does. */
  readonly age: number | null;
  readonly hashed: boolean;
  /** Null: it is the one that the question named. */
  readonly members: string | null;
  /** What its tag says; null: it has none. */
  readonly hash: string | null;
}

interface Question {
  /** The least version that will do. */
  readonly least: number;
  /** Of the payload that is here already. */
  readonly hash: string | null;
}

/** Milliseconds. */
export interface Patience {
  /** For an answer, whole. */
  readonly answer: number;
  /** For the next word of a stream, whose heartbeat comes every 30 s. */
  readonly silence: number;
}

const usualPatience: Patience = { answer: 20_000, silence: 45_000 };
const payloadsPath = '/api/v1/sdk-payload/';
const mostBytes = 64 * 2 ** 20;
const mostRefusalBytes = 10_000;
const longestRest = 60_000;
const connectionsAtOnce = 100;
const mostReadings = 5;

/** Of the connections, what an edge needs; a newer upstream may say more. */
const connectionPage = z.object({
  connections: z.array(
    z.object({
      id: z.string(),
      key: z.string(),
      encryptionKey: z.string(),
      remoteEvalEnabled: z.boolean().optional(),
    }),
  ),
  total: z.int(),
});

/** The service that an edge follows, over its own interface. */
export class Upstream {
  readonly #base: string;
  readonly #secretKey: string | null;
  readonly #patience: Patience;
  readonly #stopping = new AbortController();
  /** Until when the secret key, whose requests are counted together, has none left. */
  #limited = { until: 0, reason: '' };

  /**
   * @param address of the service, with or without `/api`
   * @param secretKey null: there are only client keys
   */
  constructor(address: string, secretKey: string | null, patience = usualPatience) {
    this.#base = address.replace(/\/api$/, '');
    this.#secretKey = secretKey;
    this.#patience = patience;
  }

  /** Whether more is known of connections than their client keys. */
  get hasSecretKey(): boolean {
    return this.#secretKey !== null;
  }

  /**
   * The payload of a connection.
   *
   * @throws UpstreamRefusal when there is none with this key
   * @throws UpstreamAway
   */
  payload({ key, remoteOnly }: ConnectionFacts, question: Question): Promise<UpstreamPayload> {
    const name = encodeURIComponent(key);
    return this.#ask(remoteOnly ? `${payloadsPath}${name}` : `/api/features/${name}`, question);
  }

  /** The plain payload with unhashed operands; only with a secret key. */
  plainPayload({ key }: ConnectionFacts, least: number): Promise<UpstreamPayload> {
    return this.#ask(`${payloadsPath}${encodeURIComponent(key)}/evaluation`, { least, hash: null });
  }

  /** All connections that the secret key can see. Of several pages two readings must agree: they may move in between. */
  async connections(): Promise<readonly ConnectionFacts[]> {
    let before: readonly ConnectionFacts[] = [];
    for (let reading = 1; reading <= mostReadings; reading++) {
      const { facts, pages } = await this.#connectionPages();
      if (pages === 1 || isDeepStrictEqual(facts, before)) return facts;
      before = facts;
    }
    throw new UpstreamAway('The SDK connections change faster than they can be read');
  }

  /**
   * The stream of a connection, until the upstream ends it.
   *
   * @param lastId the version that is here: only what is newer is told
   * @throws UpstreamAway also when it has fallen silent
   */
  async *follow({ key }: ConnectionFacts, lastId: number, stop: AbortSignal): AsyncGenerator<StreamNews> {
    const silent = new AbortController();
    const { answer, silence } = this.#patience;
    const alarm = () => silent.abort(new Error('its stream has fallen silent'));
    let watch = setTimeout(alarm, answer);
    try {
      const response = await this.#fetch(
        `/sub/${encodeURIComponent(key)}`,
        { accept: 'text/event-stream', 'accept-encoding': 'identity', 'last-event-id': String(lastId) },
        AbortSignal.any([silent.signal, stop]),
      );
      if (response.status !== 200) throw await refusalOf(response);
      if (response.body === null) return;
      const reader = new EventReader();
      for await (const chunk of response.body) {
        clearTimeout(watch);
        watch = setTimeout(alarm, silence);
        yield* reader.take(chunk);
      }
    } catch (error) {
      throw silent.signal.aborted ? lost(silent.signal.reason) : lost(error);
    } finally {
      clearTimeout(watch);
      // Whoever no longer listens ends the stream.
      silent.abort();
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #connectionPages(): Promise<{ facts: readonly ConnectionFacts[]; pages: number }> {
    const facts: ConnectionFacts[] = [];
    let pages = 0;
    for (let total = 1; pages * connectionsAtOnce < total; pages++) {
      const offset = pages * connectionsAtOnce;
      const response = await this.#fetch(`/api/v1/sdk-connections?limit=${connectionsAtOnce}&offset=${offset}`, {});
      if (response.status !== 200) throw await refusalOf(response);
      const page = connectionPage.safeParse(parsed(await bodyOf(response, mostBytes)));
      if (!page.success) throw new UpstreamAway('The upstream answers with something else than its SDK connections');
      for (const { id, key, encryptionKey, remoteEvalEnabled } of page.data.connections) {
        facts.push({ id, key, encryptionKey, remoteOnly: remoteEvalEnabled === true });
      }
      total = page.data.total;
    }
    return { facts, pages };
  }

  async #ask(path: string, { least, hash }: Question): Promise<UpstreamPayload> {
    const response = await this.#fetch(path, {
      [minVersionHeader]: String(least),
      // A cache between the two would answer with what has been.
      'cache-control': 'no-cache',
      ...(hash === null ? {} : { 'if-none-match': `"${hash}"` }),
    });
    if (response.status !== 200 && response.status !== 304) throw await refusalOf(response);
    const body = response.status === 304 ? null : await bodyOf(response, mostBytes);
    const members = body === null ? null : membersOf(body);
    const version = numberIn(response.headers, 'x-service-config-version');
    const change = numberIn(response.headers, payloadVersionHeader);
    if (version === null || change === null || (body !== null && members === null)) {
      throw new UpstreamAway('What answers at the address of the upstream is no Halyard, or an older one');
    }
    return {
      version,
      change,
      age: numberIn(response.headers, 'x-service-config-age'),
      hashed: response.headers.has(payloadHashedHeader),
      members,
      hash: /^(?:W\/)?"([\w-]{27})(?:-\w+)?"$/.exec(response.headers.get('etag') ?? '')?.[1] ?? null,
    };
  }

  async #fetch(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal = AbortSignal.timeout(this.#patience.answer),
  ): Promise<Response> {
    const withKey = path.startsWith('/api/v1/');
    const authorization = withKey ? { authorization: `Bearer ${this.#secretKey}` } : {};
    const limitedFor = this.#limited.until - performance.now();
    if (withKey && limitedFor > 0) {
      throw new UpstreamAway(this.#limited.reason, { retryAfterSeconds: Math.ceil(limitedFor / 1_000) });
    }
    let response: Response;
    try {
      response = await fetch(`${this.#base}${path}`, {
        headers: { ...headers, ...authorization },
        signal: AbortSignal.any([signal, this.#stopping.signal]),
        // A secret key is for the address that was given.
        redirect: 'manual',
      });
    } catch (error) {
      throw lost(error);
    }
    if (withKey && response.status === 429) {
      const seconds = numberIn(response.headers, 'retry-after') ?? 0;
      const until = performance.now() + Math.min(seconds * 1_000, longestRest);
      const refusal = await refusalOf(response);
      this.#limited = { until, reason: refusal.message };
      throw refusal;
    }
    return response;
  }
}

/** Whatever failed on the way, in the words of the outermost and the innermost error. */
function lost(error: unknown): Error {
  if (error instanceof UpstreamAway || error instanceof UpstreamRefusal) return error;
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new UpstreamAway(`The upstream is away: ${message}${reason}`, { cause: error });
}

/** The text of an answer, as far as its size is sane. */
async function bodyOf(response: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) throw new UpstreamAway(`The upstream answers with more than ${most} bytes`);
    }
  } catch (error) {
    throw lost(error);
  }
  return Buffer.concat(chunks).toString();
}

/** Why the upstream did not answer as hoped. Only what it calls unrecoverable, or unknown, is final. */
async function refusalOf(response: Response): Promise<Error> {
  const { status, headers, url } = response;
  const said = z
    .object({ error: z.string().optional(), message: z.string().optional() })
    .safeParse(parsed(await bodyOf(response, mostRefusalBytes).catch(() => '')));
  const reason = said.data?.error ?? said.data?.message ?? '';
  const isUnknown = status === 404 && url.includes(payloadsPath) && said.data?.message !== undefined;
  if (headers.get('x-unrecoverable') === '1' || isUnknown) return new UpstreamRefusal(reason);
  const retryAfterSeconds = numberIn(headers, 'retry-after') ?? 0;
  return new UpstreamAway(`The upstream answers ${status}${reason === '' ? '' : `: ${reason}`}`, { retryAfterSeconds });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function numberIn(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
