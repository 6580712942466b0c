/** Features and their rules, and the pure compiler of payloads. Declares the ports `RuleKind` and `DeliveredFeatures`. */
export { type FeatureContent, type FeatureState, featureKind } from './feature.ts';
export { FeatureDependents } from './payload/affected.ts';
export { type PayloadCompiler, payloadCompiler } from './payload/compile.ts';
export { type Capability, everyCapability, type PayloadOptions } from './payload/options.ts';
export { featureReferences } from './references.ts';
export { featureRoutes } from './routes.ts';
export { type RuleKind, type RuleKinds, ruleKinds } from './rule-kinds.ts';
export { scheduledChanges } from './scheduled-changes.ts';
export type { DeliveredFeatures, FeatureTools } from './tools.ts';
