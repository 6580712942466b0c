/** A role and the environments it is limited to. */
export interface RoleRule {
  readonly role: string;
  readonly limitAccessByEnvironment: boolean;
  readonly environments: readonly string[];
}

/** The role that a principal has in one project, instead of its global one. */
export interface ProjectRoleRule extends RoleRule {
  readonly project: string;
  readonly additionalRoles?: readonly RoleRule[];
}

/** The roles a principal (member or key) was given. */
export interface RoleInfo extends RoleRule {
  readonly additionalRoles: readonly RoleRule[];
  readonly projectRoles: readonly ProjectRoleRule[];
}

/** The columns of a principal's row that hold its roles. */
export interface RoleColumns {
  readonly role: string;
  readonly limit_access_by_environment: boolean;
  readonly environments: string[];
  readonly additional_roles: unknown;
  readonly project_roles: unknown;
}

export const rolesFromRow = (row: RoleColumns): RoleInfo => ({
  role: row.role,
  limitAccessByEnvironment: row.limit_access_by_environment,
  environments: row.environments,
  additionalRoles: row.additional_roles as readonly RoleRule[],
  projectRoles: row.project_roles as readonly ProjectRoleRule[],
});
