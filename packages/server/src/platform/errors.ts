import { withMaskedKeys } from './masked-keys.ts';

/** Every way in which the service refuses a request, and the HTTP status it answers with: the one table of the API. */
const refusalStatuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  tooLarge: 413,
  gated: 422,
  tooMany: 429,
  /** A defect of ours. */
  failed: 500,
  unavailable: 503,
} as const;

type RefusalKind = keyof typeof refusalStatuses;

/** Keys that a refusal may carry in its body beside `message`, and headers that go with it. */
export interface RefusalExtras {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A request is refused. The message is for the person who sent it: what was wrong and how to mend it; it never holds a
 * secret, nor anything the caller may not see.
 */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: RefusalKind, message: string, extras: RefusalExtras = {}) {
    super(message);
    this.name = 'Refusal';
    this.kind = kind;
    this.body = extras.body ?? {};
    this.headers = extras.headers ?? {};
  }

  get status(): number {
    return refusalStatuses[this.kind];
  }
}

/** The request itself is wrong, or refers to something unknown. */
export const invalid = (message: string, extras?: RefusalExtras) => new Refusal('invalid', message, extras);

/** What the request addresses does not exist, or the caller may not see it: the two read the same. */
export const notFound = (what: string, id: string) => new Refusal('notFound', `There is no ${what} ${quoted(id)}.`);

export const forbidden = (message: string, extras?: RefusalExtras) => new Refusal('forbidden', message, extras);

/** Somebody else was faster. */
export const conflict = (message: string) => new Refusal('conflict', message);

/** The service cannot answer now; it is worth asking again after some seconds. */
export const unavailable = (message: string, retryAfterSeconds: number) =>
  new Refusal('unavailable', message, { headers: { 'Retry-After': String(retryAfterSeconds) } });

const longestQuote = 100;

/** A caller's own text for use in a message: in quotation marks, without secret keys, and cut where it is long. */
export function quoted(own: string): string {
  const text = withMaskedKeys(own);
  return text.length <= longestQuote ? `"${text}"` : `"${text.slice(0, longestQuote)}…"`;
}

/** Caller's texts for use in a message, at most ten of them. */
export function quotedList(texts: readonly string[]): string {
  const shown = texts.slice(0, 10).map(quoted).join(', ');
  return texts.length <= 10 ? shown : `${shown} and ${texts.length - 10} more`;
}
