import type { FeatureDefinition, FeatureRule } from '@halyard/evaluation';
import type { Capability, PayloadOptions } from './options.ts';

/** Keys of a rule that SDKs know which refuse keys they do not know. */
const always = ['key', 'variations', 'weights', 'coverage', 'condition', 'namespace', 'force', 'hashAttribute'];

const byCapability: readonly (readonly [Capability, readonly string[]])[] = [
  ['bucketingV2', ['hashVersion', 'range', 'ranges', 'meta', 'seed', 'name', 'phase']],
  ['namespacesV2', ['filters']],
  ['stickyBucketing', ['fallbackAttribute', 'disableStickyBucketing', 'bucketVersion', 'minBucketVersion']],
  ['prerequisites', ['parentConditions']],
  ['contextualBandits', ['contextualBanditRef', 'contextualVariations']],
];

/**
 * Cuts a definition down to the keys that the SDK knows. Most ignore what they do not know and get everything.
 */
export function withKnownKeys(definition: FeatureDefinition, options: PayloadOptions): FeatureDefinition {
  const { capabilities } = options;
  if (capabilities.has('looseUnmarshalling')) return definition;
  const known = new Set([
    ...always,
    ...byCapability.flatMap(([capability, keys]) => (capabilities.has(capability) ? keys : [])),
    ...(options.includeRuleIds ? ['id'] : []),
  ]);
  const { defaultValue, rules } = definition;
  if (rules === undefined) return { defaultValue };
  const cut = (rule: FeatureRule) =>
    Object.fromEntries(Object.entries(rule).filter(([key]) => known.has(key))) as unknown as FeatureRule;
  return { defaultValue, rules: rules.map(cut) };
}
