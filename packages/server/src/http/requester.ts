import type { Permission } from '@halyard/contract';
import type { Actor, StateReader } from '../record/index.ts';

/** Where a permission is asked for. */
export interface PermissionScope {
  /** Projects of the object; none: the organization as a whole. */
  readonly projects: readonly string[];
  /** Environments that the write touches; empty: bound to none; absent: environments play no part. */
  readonly environments?: readonly string[];
}

/** Who a request acts as, and what they may do; made anew for every request. */
export interface Requester {
  readonly organization: string;
  /** The key's record; rate limits count by it. */
  readonly credential: { readonly id: string; readonly expiresAt: Date | null };
  readonly actor: Actor;
  may(permission: Permission, scope: PermissionScope): boolean;
  /** Whether an object is readable that is seen in any of these projects (`''`: in none; `null`: an object of all projects). */
  maySee(projects: readonly string[] | null): boolean;
  /** The organization's states, not older than when the request was authenticated. */
  readonly states: StateReader;
  /** The organization's members, likewise. */
  readonly members: Directory;
}

/** The members of an organization, as far as answers and rules need them. */
export interface Directory {
  /** The e-mail of a member, by id. */
  emailOf(member: string): string | undefined;
  /** The id of the member that has that id or, in any letter case, that e-mail. */
  idOf(idOrEmail: string): string | undefined;
}

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
  readonly credential: Requester['credential'];
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
