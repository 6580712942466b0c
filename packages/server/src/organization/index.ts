/** Organizations and what structures them: settings, projects, environments, tags. Declares the port `References`. */
export { type Entitlements, entitlements } from './entitlements.ts';
export {
  type EnvironmentState,
  environmentKind,
  environmentReferences,
  environmentService,
  environmentsOf,
  type LiveEnvironment,
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
export { type OrganizationSettings, settingsId, settingsKind, settingsOf } from './settings.ts';
export { registerTags } from './tags.ts';
