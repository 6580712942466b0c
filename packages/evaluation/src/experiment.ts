import { chooseVariation } from './buckets.ts';
import { textOf } from './coercion.ts';
import { type CompiledExperiment, compileExperiment } from './compiled-experiment.ts';
import { passesFilters } from './filter.ts';
import { bucketOf } from './hash.ts';
import { hashAttributeOf, hashValueOf } from './hash-attribute.ts';
import { isInNamespace } from './namespace.ts';
import type { ExperimentResult } from './payload.ts';
import { type EvaluatePrerequisite, EvaluationPath, judgePrerequisites } from './prerequisite.ts';
import { queryStringOverride } from './query-string.ts';
import { BLOCKED_STICKY_VERSION, changedDocument, NO_STICKY_VARIATION, stickyVariation } from './sticky-buckets.ts';
import type { User } from './user.ts';

/** Why a user is not in an experiment. */
export type Exclusion =
  /** It has fewer than two variations. */
  | 'fewVariations'
  /** It does not run, or not for this user. */
  | 'notRunning'
  /** The page is not one of its pages. */
  | 'url'
  /** The variation that is forced on the user does not exist. */
  | 'noSuchVariation'
  /** The user has no value to hash. */
  | 'noHashValue'
  | 'namespace'
  | 'notIncluded'
  | 'condition'
  | 'prerequisite'
  | 'group'
  /** The bucket belongs to no variation. */
  | 'bucket'
  /** Assigned in a version that may not take part any more. */
  | 'blockedVersion';

/**
 * Runs an experiment for a user, in the order of the specification (flags 8.5), and saves and tracks the assignment.
 *
 * @returns the result of a user who is in, or why the user is not.
 */
export function enterExperiment(
  prepared: CompiledExperiment,
  user: User,
  featureId: string | null,
  evaluate: EvaluatePrerequisite,
): ExperimentResult | Exclusion {
  const compiled = withOverride(prepared, user);
  const choice = chooseFor(compiled, user, evaluate);
  if (typeof choice === 'string') return choice;
  const result = resultOf(compiled, choice, featureId);
  if (choice.hashUsed) {
    saveStickyBucket(compiled, user, choice, result.key);
    user.trackExperiment?.(compiled.experiment, result);
  }
  return result;
}

/**
 * The result of a user who is not in the experiment: the content of variation 0.
 */
export function excludedResult(
  prepared: CompiledExperiment,
  user: User,
  featureId: string | null,
  exclusion: Exclusion,
): ExperimentResult {
  const compiled = withOverride(prepared, user);
  const hashAttribute = hashAttributeFor(compiled, user);
  const choice: Choice = {
    variation: 0,
    hashUsed: false,
    hashAttribute,
    hashValue: hashValueOf(user.attributes, hashAttribute),
    bucket: undefined,
    stickyBucketUsed: exclusion === 'blockedVersion',
  };
  return { ...resultOf(compiled, choice, featureId), inExperiment: false };
}

/** A variation and how it came about. */
interface Choice {
  readonly variation: number;
  /** Whether the user's bucket decided, rather than a forced variation. */
  readonly hashUsed: boolean;
  readonly hashAttribute: string;
  readonly hashValue: unknown;
  readonly bucket: number | undefined;
  readonly stickyBucketUsed: boolean;
}

/** Steps 1 to 18: forced variations first, then eligibility, then the bucket. */
function chooseFor(compiled: CompiledExperiment, user: User, evaluate: EvaluatePrerequisite): Choice | Exclusion {
  const { experiment, key } = compiled;
  const count = experiment.variations.length;
  if (count < 2) return 'fewVariations';
  if (user.enabled === false) return 'notRunning';
  if (compiled.matchesUrl !== undefined && !(user.url && compiled.matchesUrl(user.url))) return 'url';

  const asked = user.url ? queryStringOverride(key, user.url, count) : null;
  if (asked !== null) return forcedChoice(compiled, user, asked);
  const forced = user.forcedVariations;
  if (forced !== undefined && Object.hasOwn(forced, key)) return forcedChoice(compiled, user, forced[key]);

  if (experiment.status === 'draft' || experiment.active === false) return 'notRunning';
  const hashAttribute = hashAttributeFor(compiled, user);
  const hashValue = hashValueOf(user.attributes, hashAttribute);
  if (hashValue === '') return 'noHashValue';
  const hashText = textOf(hashValue);

  const documents = stickyBucketsFor(compiled, user);
  const stuck = documents === undefined ? NO_STICKY_VARIATION : stickyVariation(documents, compiled, user.attributes);
  const obstacle = stuck < 0 ? obstacleFor(compiled, user, hashText, evaluate) : undefined;
  if (obstacle !== undefined) return obstacle;
  if (experiment.url !== undefined && !(user.url && experiment.url.test(user.url))) return 'url';

  if (compiled.hash === null) return 'bucket';
  const bucket = bucketOf(compiled.hash, hashText);
  if (stuck === BLOCKED_STICKY_VERSION) return 'blockedVersion';
  const variation = stuck >= 0 ? stuck : chooseVariation(bucket, compiled.ranges);
  if (variation < 0 || variation >= count) return 'bucket';

  if (compiled.isForced) return forcedChoice(compiled, user, experiment.force);
  if (user.qaMode || experiment.status === 'stopped') return 'notRunning';
  return { variation, hashUsed: true, hashAttribute, hashValue, bucket, stickyBucketUsed: stuck >= 0 };
}

/** A forced index that is not that of a variation puts the user out. */
function forcedChoice(compiled: CompiledExperiment, user: User, variation: number | undefined): Choice | Exclusion {
  const count = compiled.experiment.variations.length;
  if (variation === undefined || !Number.isInteger(variation) || variation < 0 || variation >= count) {
    return 'noSuchVariation';
  }
  const hashAttribute = hashAttributeFor(compiled, user);
  const hashValue = hashValueOf(user.attributes, hashAttribute);
  return { variation, hashUsed: false, hashAttribute, hashValue, bucket: undefined, stickyBucketUsed: false };
}

/** Step 10, which users with a sticky bucket skip. Filters replace the namespace. */
function obstacleFor(
  compiled: CompiledExperiment,
  user: User,
  hashText: string,
  evaluate: EvaluatePrerequisite,
): Exclusion | undefined {
  const { filters, namespace, condition, prerequisites, experiment } = compiled;
  if (filters !== undefined) {
    if (!passesFilters(filters, user.attributes)) return 'namespace';
  } else if (namespace !== null && !isInNamespace(namespace, hashText)) {
    return 'namespace';
  }
  if (experiment.include !== undefined && !isIncludedBy(experiment.include)) return 'notIncluded';
  if (condition !== undefined && !condition(user.attributes)) return 'condition';
  if (
    prerequisites !== undefined &&
    judgePrerequisites(prerequisites, user, new EvaluationPath(user), evaluate) !== 'held'
  ) {
    return 'prerequisite';
  }
  const { groups } = experiment;
  return groups === undefined || groups.some((group) => isInOldGroup(user, group)) ? undefined : 'group';
}

function isInOldGroup({ groups }: User, group: string): boolean {
  return groups !== undefined && Object.hasOwn(groups, group) && groups[group] === true;
}

function isIncludedBy(include: () => boolean): boolean {
  try {
    return include();
  } catch {
    return false;
  }
}

/** Step 3. Overrides are rare and local, so they are compiled when met. */
function withOverride(compiled: CompiledExperiment, user: User): CompiledExperiment {
  const overrides = user.experimentOverrides;
  if (overrides === undefined || !Object.hasOwn(overrides, compiled.key)) return compiled;
  return compileExperiment({ ...compiled.experiment, ...overrides[compiled.key] }, compiled.scope);
}

function stickyBucketsFor(compiled: CompiledExperiment, user: User): User['stickyBucketAssignmentDocs'] {
  return compiled.usesStickyBuckets ? user.stickyBucketAssignmentDocs : undefined;
}

function hashAttributeFor(compiled: CompiledExperiment, user: User): string {
  const fallback = stickyBucketsFor(compiled, user) === undefined ? undefined : compiled.fallbackAttribute;
  return hashAttributeOf(user.attributes, compiled.hashAttribute, fallback);
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Written out member by member: this runs for every user of every experiment, and spreading costs several times more. */
function resultOf(compiled: CompiledExperiment, choice: Choice, featureId: string | null): ExperimentResult {
  const { variation, hashUsed, bucket } = choice;
  const { variations, contextualBandit } = compiled.experiment;
  const meta = compiled.meta[variation];
  const result: Mutable<ExperimentResult> = {
    key: meta?.key || String(variation),
    featureId,
    inExperiment: true,
    hashUsed,
    variationId: variation,
    value: variations[variation] ?? null,
    hashAttribute: choice.hashAttribute,
    hashValue: choice.hashValue,
    stickyBucketUsed: choice.stickyBucketUsed,
  };
  if (meta?.name) result.name = meta.name;
  if (bucket !== undefined) result.bucket = bucket;
  if (meta?.passthrough) result.passthrough = meta.passthrough;
  if (hashUsed && contextualBandit !== undefined) Object.assign(result, contextualBandit);
  return result;
}

/** Step 20. */
function saveStickyBucket(compiled: CompiledExperiment, user: User, choice: Choice, variationKey: string): void {
  const documents = stickyBucketsFor(compiled, user);
  if (documents === undefined || user.saveStickyBucketDocument === undefined) return;
  const changed = changedDocument(documents, compiled, choice.hashAttribute, choice.hashValue, variationKey);
  if (changed !== undefined) user.saveStickyBucketDocument(changed);
}
