/**
 * Features and their rules, and the pure compiler of payloads. Declares the ports `RuleKind`, `DeliveredFeatures` and
 * `BoundedEvaluation`.
 */
export { codeReferenceService } from './code-references/code-references.ts';
export { codeReferenceRoutes } from './code-references/routes.ts';
export type { DeliveredFeatures } from './delivered-features.ts';
export { type FeatureContent, featureKind } from './feature.ts';
export { namespaceUsers } from './namespaces.ts';
export { type Affected, affectedFeatures, prepareAffected } from './payload/affected-features.ts';
export { type PayloadCompiler, payloadCompiler } from './payload/compile.ts';
export { listsUsedBy } from './payload/compiled-targeting.ts';
export { type Capability, everyCapability, type PayloadOptions } from './payload/options.ts';
export { featureReferences } from './references.ts';
export { featureRoutes } from './routes.ts';
export { type RuleKinds, ruleKinds } from './rule-kinds.ts';
export { featureGroupReferences } from './saved-groups.ts';
export { scheduledChanges } from './scheduled-changes.ts';
export type { BoundedEvaluation } from './simulation/bounded-evaluation.ts';
export { simulationRoutes } from './simulation/routes.ts';
export { noExperiments, staleDetector } from './stale.ts';
