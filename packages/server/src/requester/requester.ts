import type { Permission } from '@halyard/contract';
import { forbidden } from '../platform/index.ts';
import type { Actor, StateReader } from '../record/index.ts';

/** Where a permission is asked for. */
export interface PermissionScope {
  /** Projects of the object; none: the organization as a whole. */
  readonly projects: readonly string[];
  /** Environments that the write touches; empty: bound to none; absent: environments play no part. */
  readonly environments?: readonly string[];
}

/** The members of an organization, as far as answers and rules need them. */
export interface Directory {
  /** The e-mail of a member, by id. */
  emailOf(member: string): string | undefined;
  /** The id of the member that has that id or, in any letter case, that e-mail. */
  idOf(idOrEmail: string): string | undefined;
}

/** Who asks for something, and what they may do; made anew for every request. */
export interface Requester {
  readonly organization: string;
  readonly actor: Actor;
  may(permission: Permission, scope: PermissionScope): boolean;
  /** Whether an object is readable that is seen in any of these projects (`''`: in none; `null`: an object of all projects). */
  maySee(projects: readonly string[] | null): boolean;
  /** The organization's states, not older than when the request was authenticated. */
  readonly states: StateReader;
  /** The organization's members, likewise. */
  readonly members: Directory;
}

/** @throws Refusal (forbidden) naming the permission that is missing, and where */
export function demand(requester: Requester, permission: Permission, scope: PermissionScope): void {
  if (requester.may(permission, scope)) return;
  const { projects, environments } = scope;
  const named = projects.filter((project) => project !== '');
  const where = [
    named.length === 0 ? '' : ` in project ${named.join(', ')}`,
    environments === undefined || environments.length === 0 ? '' : ` for ${environments.join(', ')}`,
  ].join('');
  throw forbidden(`This needs the permission ${permission}${where}, which ${whoLacksIt(requester.actor)}.`);
}

/** For a refusal: who it is that may not. A member for whom a key acts may lack what the key has. */
export function whoLacksIt(actor: Actor): string {
  if (actor.type !== 'api_key') return 'you do not have';
  const { requestedBy, assumedRole } = actor;
  if (assumedRole !== true || requestedBy === undefined) return 'the key does not have';
  return `the key does not have when it acts for ${requestedBy.email}: it may do what both may`;
}

/** Those of the objects that the requester may see. */
export function visible<Item>(
  requester: Requester,
  items: readonly Item[],
  seenIn: (item: Item) => readonly string[] | null,
): Item[] {
  // Asked once for all, also where there are none: whoever may read nowhere sees nothing.
  if (!requester.may('readData', { projects: [] })) return [];
  return items.filter((item) => requester.maySee(seenIn(item)));
}
