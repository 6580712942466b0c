import { lookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress, isPublicHost } from './public-host.ts';

/** A request of ours to somebody else's server. */
export interface OutgoingRequest {
  /** http or https. */
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** Absent: none. */
  readonly body?: string;
  /** Most milliseconds that everything may take, from resolving the name to the end of the answer; 30 s unless told. */
  readonly within?: number;
  /** True: the address is the operator's own and may be private. */
  readonly trusted?: boolean;
}

/** How it went. That a server cannot be reached is nothing exceptional. */
export type Outcome =
  | { readonly answered: true; readonly status: number; readonly text: string }
  /** The reason is for the person who gave the address; it holds no part of it. */
  | { readonly answered: false; readonly reason: string };

/** The one way in which the service sends requests to other servers. */
export interface Outgoing {
  send(request: OutgoingRequest): Promise<Outcome>;
  /** Why an address would never be sent to, as far as it can be told without resolving its name; null: nothing is wrong. */
  objectionTo(url: string): string | null;
}

/** An address that a name resolves to. */
interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

/** Most of an answer that is read. */
const mostBytes = 1_000;
const longestExchange = 30_000;

const systemResolve: Resolve = (name) => lookup(name, { all: true, verbatim: true });

/** Speaks of an attempt that is not to be made, or went wrong in a way that is understood. */
class Unreachable extends Error {}

const privateTarget =
  'The address leads to a private network, which is not allowed on this installation (setting OUTBOUND_ALLOW_PRIVATE_HOSTS).';

/**
 * Sends requests with a time limit over the whole exchange. A name is resolved once, every address it has must be public, and
 * the connection goes to those very addresses: a name that resolves otherwise a moment later changes nothing. Redirects are
 * not followed, and of an answer only the beginning is read.
 *
 * @param options.allowPrivate the setting `OUTBOUND_ALLOW_PRIVATE_HOSTS`
 */
export function outgoingRequests(options: { allowPrivate: boolean; resolve?: Resolve }): Outgoing {
  const { allowPrivate, resolve = systemResolve } = options;
  return {
    objectionTo(text) {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (url === null || !isWeb(url))
        return 'It must be an absolute http(s) address, such as https://example.com/hook.';
      if (url.username !== '' || url.password !== '') {
        return 'It must not hold a user name or password: send them in a header, as a webhook secret.';
      }
      return allowPrivate || isPublicHost(url.hostname) ? null : privateTarget;
    },

    async send(request) {
      const limit = request.within ?? longestExchange;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), limit);
      try {
        const url = new URL(request.url);
        if (!isWeb(url)) throw new Unreachable('Only http and https addresses are sent to.');
        const addresses = await checkedAddresses(url, resolve, allowPrivate || request.trusted === true, late.signal);
        return await exchange(url, request, addresses, late.signal);
      } catch (error) {
        if (late.signal.aborted) return { answered: false, reason: `There was no answer within ${limit / 1000} s.` };
        return { answered: false, reason: reasonOf(error) };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Whether a text is an absolute http(s) address. */
export const isWebAddress = (text: string): boolean => URL.canParse(text) && isWeb(new URL(text));

const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/** @throws Unreachable unless every address of the host may be connected to */
async function checkedAddresses(
  { hostname }: URL,
  resolve: Resolve,
  anyAllowed: boolean,
  late: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!anyAllowed && !isPublicHost(host)) throw new Unreachable(privateTarget);
  const family = isIP(host);
  const addresses = family === 0 ? await unlessLate(resolve(host), late) : [{ address: host, family }];
  if (addresses.length === 0) throw new Unreachable('The name of the host has no address.');
  if (!anyAllowed && !addresses.every(({ address }) => isPublicAddress(address))) throw new Unreachable(privateTarget);
  return addresses;
}

/** Looking up a name cannot be stopped, but nobody has to wait for it. */
function unlessLate<Value>(work: Promise<Value>, late: AbortSignal): Promise<Value> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(new Unreachable('Too late.')))),
  ]);
}

function exchange(
  url: URL,
  { method, headers, body }: OutgoingRequest,
  addresses: readonly ResolvedAddress[],
  late: AbortSignal,
): Promise<Outcome> {
  // The certificate and the Host header are still those of the name.
  const pinned: LookupFunction = (_name, { all }, done) => {
    const [first] = addresses;
    if (all === true) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
  const secure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request(url, {
      // No connection is kept for others: it would lead wherever the name once led.
      agent: false,
      method,
      headers: {
        ...Object.fromEntries(headers),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      lookup: pinned,
      signal: late,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      beginningOf(response).then((text) => resolve({ answered: true, status: response.statusCode ?? 0, text }), reject);
    });
    request.end(body);
  });
}

/** The beginning of an answer, as text that a database takes; the rest is not waited for. */
async function beginningOf(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= mostBytes) break;
  }
  response.destroy();
  // A character that the cut has split is left out.
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, mostBytes), { stream: size >= mostBytes });
  return text.replaceAll('\0', '\ufffd');
}

const knownReasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name of the host is not known.',
  EAI_AGAIN: 'The name of the host could not be resolved.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was lost before there was an answer.',
  EPIPE: 'The connection was lost before there was an answer.',
  EHOSTUNREACH: 'The host could not be reached.',
  ENETUNREACH: 'The host could not be reached.',
  ETIMEDOUT: 'The host could not be reached in time.',
  ERR_INVALID_URL: 'The address is none.',
  ERR_INVALID_CHAR: 'A header holds a character that headers cannot hold.',
};

/** In our own words: messages of the system name addresses, and those of the parser quote what was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return error.message;
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  const codes = causes.map((cause) => (cause instanceof Error && 'code' in cause ? String(cause.code) : ''));
  const known = codes.map((code) => knownReasons[code]).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  const code = codes.find((one) => one !== '') ?? '';
  if (/CERT|TLS|SSL|SIGNATURE|ALTNAME/.test(code)) return `The host could not prove who it is (${code}).`;
  return code === '' ? 'The request could not be sent.' : `The request could not be sent (${code}).`;
}

/** Headers that belong to the connection, not to whoever configures what is sent over it. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why headers that somebody configured cannot be sent; null: they can. */
export function objectionToHeaders(headers: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      return `${JSON.stringify(name.slice(0, 100))} is no name of a header.`;
    if (connectionHeaders.has(name.toLowerCase())) return `The header ${name} is set by the connection itself.`;
    if (!isHeaderValue(value)) return `The value of the header ${name} may hold printable ASCII characters only.`;
  }
  return null;
}

/** Whether a text can be the value of a header. */
const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e]*$/.test(value);
