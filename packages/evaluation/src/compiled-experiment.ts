import { bucketRanges } from './buckets.ts';
import { type ConditionScope, compileConditionIn } from './condition.ts';
import { type PreparedFilter, prepareFilters } from './filter.ts';
import { type SeededHash, seedHash } from './hash.ts';
import { DEFAULT_HASH_ATTRIBUTE } from './hash-attribute.ts';
import { type PreparedNamespace, prepareNamespace } from './namespace.ts';
import type { Experiment, VariationRange } from './payload.ts';
import type { Predicate } from './predicate.ts';
import { type PreparedPrerequisite, preparePrerequisites } from './prerequisite.ts';
import type { StickyExperiment } from './sticky-buckets.ts';
import { compileUrlTargets, type UrlPredicate } from './url-targeting.ts';

/** An experiment prepared for many users. */
export interface CompiledExperiment extends StickyExperiment {
  /** What results report. */
  readonly experiment: Experiment;
  /** `null` for an unknown hash version, which puts nobody in. */
  readonly hash: SeededHash | null;
  readonly ranges: readonly VariationRange[];
  readonly usesStickyBuckets: boolean;
  readonly condition: Predicate | undefined;
  readonly filters: readonly PreparedFilter[] | undefined;
  readonly namespace: PreparedNamespace | null;
  readonly prerequisites: readonly PreparedPrerequisite[] | undefined;
  readonly matchesUrl: UrlPredicate | undefined;
  /** Whether everybody who is in gets the variation `experiment.force`. */
  readonly isForced: boolean;
  /** What it was compiled with, for the few users that bring changes of their own. */
  readonly scope: ConditionScope;
}

/** Prepares an experiment: bucket ranges, hash seeds, conditions and URL patterns are worked out here, once. */
export function compileExperiment(experiment: Experiment, scope: ConditionScope): CompiledExperiment {
  const { variations, coverage, weights } = experiment;
  return {
    experiment,
    key: experiment.key,
    meta: experiment.meta ?? [],
    hash: seedHash(experiment.seed || experiment.key, experiment.hashVersion || 1),
    ranges: experiment.ranges ?? bucketRanges(variations.length, coverage, weights),
    hashAttribute: experiment.hashAttribute || DEFAULT_HASH_ATTRIBUTE,
    fallbackAttribute: experiment.fallbackAttribute || undefined,
    usesStickyBuckets: !experiment.disableStickyBucketing,
    bucketVersion: experiment.bucketVersion || 0,
    minBucketVersion: experiment.minBucketVersion || 0,
    condition: experiment.condition && compileConditionIn(scope, experiment.condition),
    filters: experiment.filters && prepareFilters(experiment.filters),
    namespace: experiment.namespace ? prepareNamespace(experiment.namespace) : null,
    prerequisites: preparePrerequisites(experiment.parentConditions, scope),
    matchesUrl: experiment.urlPatterns && compileUrlTargets(experiment.urlPatterns, scope.regularExpression),
    isForced: 'force' in experiment,
    scope,
  };
}
