import { type Permission, permissions } from '@halyard/contract';

/** What each role may do. The one table that says so: everything that checks a permission reads it from here. */
const roles: ReadonlyMap<string, ReadonlySet<Permission>> = new Map([
  ['readonly', new Set<Permission>(['readData'])],
  ['admin', new Set(Object.keys(permissions) as Permission[])],
]);

/** Roles whose holders are never limited to environments. */
export const unlimitedRoles: ReadonlySet<string> = new Set(['admin']);

export const roleIds = [...roles.keys()];

const nothing: ReadonlySet<Permission> = new Set();

/** The permissions of a role; an unknown role gives none. */
export const permissionsOf = (role: string): ReadonlySet<Permission> => roles.get(role) ?? nothing;
