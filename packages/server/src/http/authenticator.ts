import type { Requester } from '../requester/index.ts';

/** What authentication takes from a request. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly organization: string | undefined;
  readonly requestedBy: string | readonly string[] | undefined;
}

/**
 * The outcome of authentication. The credential is told even when it is refused: its expiry goes into a header, and a
 * refusal that comes after the rate limit must still be counted.
 */
interface Authentication {
  /** The key's record; rate limits count by it. */
  readonly credential: { readonly id: string; readonly expiresAt: Date | null };
  /**
   * Goes on to organization and requester header.
   *
   * @throws Refusal (forbidden, invalid)
   */
  admit(): Promise<Requester>;
}

/** Finds out who sends a request. Filled in by `access`. */
export interface Authenticator {
  /** @throws Unauthenticated */
  authenticate(credentials: Credentials): Promise<Authentication>;
}
