import { type Permission, permissions, readClassPermissions } from '@halyard/contract';
import type { PermissionScope } from '../requester/index.ts';
import type { RoleInfo, RoleRule } from './role-info.ts';
import { permissionsOf, unlimitedRoles } from './roles.ts';

/** Environment-scoped permissions that came with one role, and the environments they are limited to. */
interface Grant {
  readonly permissions: ReadonlySet<Permission>;
  readonly limited: boolean;
  readonly environments: ReadonlySet<string>;
}

/** What is allowed in one place: the organization as a whole, or a project that has rules of its own. */
interface Entry {
  readonly permissions: ReadonlySet<Permission>;
  readonly grants: readonly Grant[];
}

/** What a principal may do, everywhere. */
export interface EffectivePermissions {
  readonly global: Entry;
  /** Takes the place of `global` for these projects, up or down. */
  readonly projects: ReadonlyMap<string, Entry>;
}

/** Finds the permissions of a role; handed in so that the rules can be tested with roles of their own. */
export type PermissionsOfRole = (role: string) => ReadonlySet<Permission>;

/**
 * Works out what a principal may do from its roles.
 *
 * @param environments ids of all environments of the organization: a limit that names every one is none
 */
export function effectivePermissions(
  roles: RoleInfo,
  environments: readonly string[],
  ofRole: PermissionsOfRole = permissionsOf,
): EffectivePermissions {
  const toEntry = (rule: RoleRule) => entryOf(rule, environments, ofRole);
  const projects = new Map<string, Entry>();
  for (const rule of roles.projectRoles) {
    const entry = union([rule, ...(rule.additionalRoles ?? [])].map(toEntry));
    const known = projects.get(rule.project);
    projects.set(rule.project, known === undefined ? entry : union([known, entry]));
  }
  return { global: union([roles, ...roles.additionalRoles].map(toEntry)), projects };
}

function entryOf(rule: RoleRule, environments: readonly string[], ofRole: PermissionsOfRole): Entry {
  const held = ofRole(rule.role);
  const scoped = new Set([...held].filter((permission) => permissions[permission] === 'environment'));
  if (scoped.size === 0) return { permissions: held, grants: [] };
  const named = new Set(rule.environments);
  const namesAll = environments.length > 0 && environments.every((id) => named.has(id));
  const limited = rule.limitAccessByEnvironment && !unlimitedRoles.has(rule.role) && !namesAll;
  return { permissions: held, grants: [{ permissions: scoped, limited, environments: named }] };
}

const union = (entries: readonly Entry[]): Entry => ({
  permissions: new Set(entries.flatMap((entry) => [...entry.permissions])),
  grants: entries.flatMap((entry) => entry.grants),
});

/** Whether the permission is held in every project asked for (reading: in any), for every environment asked for. */
export function isAllowed(held: EffectivePermissions, permission: Permission, scope: PermissionScope): boolean {
  const { global } = held;
  if (permissions[permission] === 'global') return global.permissions.has(permission);
  const asked = scope.projects.length === 0 ? [''] : scope.projects;
  const entries = asked.map((project) => held.projects.get(project) ?? global);
  if (readClassPermissions.has(permission)) {
    const anywhere = scope.projects.length === 0 ? [...entries, ...held.projects.values()] : entries;
    return anywhere.some((entry) => entry.permissions.has(permission));
  }
  return entries.every(
    (entry) => entry.permissions.has(permission) && coversEnvironments(entry, permission, scope.environments),
  );
}

function coversEnvironments(
  entry: Entry,
  permission: Permission,
  environments: readonly string[] | undefined,
): boolean {
  if (environments === undefined || permissions[permission] !== 'environment') return true;
  const grants = entry.grants.filter((grant) => grant.permissions.has(permission));
  if (grants.some((grant) => !grant.limited)) return true;
  // Judging a change that is bound to no environment takes a judge who is bound to none either.
  if (environments.length === 0) return !permission.startsWith('review');
  return environments.every((environment) => grants.some((grant) => grant.environments.has(environment)));
}

/**
 * Whether an object may be read.
 *
 * @param projects where it is seen, `''` standing for "in no project"; null: an object of all projects
 */
export function isVisible(held: EffectivePermissions, projects: readonly string[] | null): boolean {
  return isAllowed(held, 'readData', { projects: projects ?? [] });
}
