/**
 * Every atomic capability that the service checks, with the scope in which it is looked up:
 *
 * - `global`: only the principal's organization-wide grant counts; a project role can never give it.
 * - `project`: looked up in every project of the object.
 * - `environment`: like `project`, and every environment that the write touches must be allowed as well.
 */
export const permissions = {
  readData: 'project',
  addComments: 'project',

  createFeatures: 'environment',
  deleteFeatures: 'environment',
  editFeatureDrafts: 'project',
  reviewFeatures: 'environment',
  publishFeatures: 'environment',
  revertFeatures: 'environment',
  bypassApprovalFeatures: 'project',
  targetFeatures: 'project',

  createConfigs: 'environment',
  deleteConfigs: 'environment',
  editConfigDrafts: 'project',
  reviewConfigs: 'environment',
  publishConfigs: 'environment',
  revertConfigs: 'environment',
  bypassApprovalConfigs: 'project',

  createConstants: 'environment',
  deleteConstants: 'environment',
  editConstantDrafts: 'project',
  reviewConstants: 'environment',
  publishConstants: 'environment',
  revertConstants: 'environment',
  bypassApprovalConstants: 'project',

  createSavedGroups: 'project',
  deleteSavedGroups: 'project',
  editSavedGroupDrafts: 'project',
  reviewSavedGroups: 'project',
  publishSavedGroups: 'project',
  revertSavedGroups: 'project',
  bypassApprovalSavedGroups: 'project',
  bypassSavedGroupSizeLimit: 'project',

  manageArchetype: 'project',
  manageTargetingAttributes: 'project',
  manageEnvironments: 'environment',
  manageNamespaces: 'global',
  manageSDKConnections: 'environment',
  manageSDKWebhooks: 'environment',

  createAnalyses: 'project',
  runExperiments: 'environment',
  manageVisualChanges: 'project',
  manageTemplates: 'project',
  manageLearnings: 'project',
  manageDecisionCriteria: 'global',
  superDeleteReport: 'global',

  createDatasources: 'project',
  editDatasourceSettings: 'project',
  runQueries: 'project',
  runSqlExplorerQueries: 'project',
  createMetrics: 'project',
  createMetricGroups: 'global',
  manageFactTables: 'project',
  manageFactMetrics: 'project',
  manageFactFilters: 'project',
  createDimensions: 'global',
  createSegments: 'project',
  manageOfficialResources: 'project',
  manageGeneralDashboards: 'project',
  manageNorthStarMetric: 'global',

  createIdeas: 'project',
  createPresentations: 'global',
  manageExecReports: 'project',
  viewSessionReplay: 'project',
  deleteSessionReplay: 'project',

  createProjects: 'project',
  manageProjects: 'project',
  deleteProjects: 'project',
  manageTags: 'global',
  manageCustomFields: 'project',
  manageCustomHooks: 'project',

  organizationSettings: 'global',
  manageTeam: 'global',
  manageCustomRoles: 'global',
  manageApiKeys: 'global',
  manageMemberTokens: 'global',
  manageIntegrations: 'global',
  manageEventWebhooks: 'global',
  manageBilling: 'global',
  viewAuditLog: 'global',
} as const satisfies Record<string, 'global' | 'project' | 'environment'>;

export type Permission = keyof typeof permissions;

/**
 * Permissions that reading asks for: of an object in several projects it is enough to hold them in one.
 * (`viewAuditLog` is not among them: a project role would open the whole organization's log.)
 */
export const readClassPermissions: ReadonlySet<Permission> = new Set([
  'readData',
  'runQueries',
  'runSqlExplorerQueries',
  'addComments',
]);
