/** Organizations and what structures them: settings, projects, environments, custom fields, tags. Declares the port `References`. */
export { type CustomFieldState, customFieldKind, customFieldsOf } from './custom-field.ts';
export { admitCustomFields, type CustomFieldValues, customFieldsInForce } from './custom-field-values.ts';
export { customFieldReferences, customFieldService } from './custom-fields.ts';
export { type Entitlements, entitlements } from './entitlements.ts';
export {
  type EnvironmentState,
  environmentKind,
  environmentReferences,
  environmentService,
  environmentsOf,
  type LiveEnvironment,
  requireEnvironments,
} from './environments.ts';
export { type OrganizationService, organizationService } from './organizations.ts';
export {
  type ProjectState,
  projectKind,
  projectService,
  requireProjects,
  seenInProjects,
  seesProject,
} from './projects.ts';
export { listsWithout, listWithout, type References } from './references.ts';
export { organizationRoutes } from './routes.ts';
export { type OrganizationSettings, type StoredSettings, settingsId, settingsKind, settingsOf } from './settings.ts';
export { registerTags } from './tags.ts';
