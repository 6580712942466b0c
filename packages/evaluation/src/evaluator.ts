import { type CompiledExperiment, compileExperiment } from './compiled-experiment.ts';
import { type ConditionOptions, conditionScope } from './condition.ts';
import { enterExperiment, excludedResult } from './experiment.ts';
import { type CompiledFeature, compileFeature, evaluateRules, type FeatureScope, rulesOf } from './feature.ts';
import { type FeatureResult, featureResult, UNKNOWN_FEATURE } from './feature-result.ts';
import { DEFAULT_HASH_ATTRIBUTE, hashValueOf } from './hash-attribute.ts';
import type { AutoExperiment, EnteredExperiment, Experiment, ExperimentResult, ForceRule, Payload } from './payload.ts';
import type { EvaluationPath } from './prerequisite.ts';
import { type Redirect, redirectOf } from './redirect.ts';
import type { Explanation, RuleOutcome } from './rule-outcome.ts';
import { stickyBucketKey, stickyBucketText } from './sticky-buckets.ts';
import type { User } from './user.ts';

/** The part of a payload that evaluation reads, in plain text. */
export type EvaluablePayload = Pick<Payload, 'features' | 'experiments' | 'savedGroups' | 'contextualBandits'>;

/** A payload prepared for many users. Evaluating changes nothing in it: it may be shared and kept for as long as wanted. */
export interface Evaluator {
  /** All features of the payload, holdouts (`$holdout:…`) included, in the payload's order. */
  readonly featureKeys: readonly string[];
  /**
   * Evaluates one feature (flags 8.4). Never throws, whatever JSON the attributes hold; what the user's own callbacks
   * throw comes through.
   */
  evaluate(featureKey: string, user: User): FeatureResult;
  /** The same, with what came of each of the feature's rules. */
  explain(featureKey: string, user: User): Explanation;
  /** Runs an experiment that is not in the payload (flags 8.5). It is compiled at each call. */
  run(experiment: Experiment, user: User): ExperimentResult;
  /** Runs the auto-run experiments and returns those that the user is in. */
  runAutoExperiments(user: User): EnteredExperiment[];
  /** The redirect of the first auto-run experiment that has one for this user; later ones do not run (flags 8.7). */
  redirect(user: User): Redirect | undefined;
  /** Keys of the sticky-bucket documents that can matter to this user: load these before evaluating (flags 8.6). */
  stickyBucketKeys(user: User): string[];
  /** The rule behind a result whose source is `force`. */
  forceRuleOf(result: FeatureResult): ForceRule | undefined;
}

/**
 * Compiles a payload: conditions become closures, seeds and bucket ranges are worked out, and results that do not
 * depend on the user are made once.
 *
 * Malformed conditions hold for nobody, malformed patterns match nothing and unknown hash versions include nobody.
 *
 * @throws TypeError for a payload that has not the shape of its type.
 * @example
 * const evaluator = compilePayload({
 *   features: { banner: { defaultValue: 'blue', rules: [{ condition: { country: 'DE' }, force: 'red' }] } },
 * });
 * evaluator.evaluate('banner', { attributes: { id: 'u1', country: 'DE' } }).value; // "red"
 */
export function compilePayload(payload: EvaluablePayload, options: ConditionOptions = {}): Evaluator {
  const scope: FeatureScope = {
    ...conditionScope(payload.savedGroups, options),
    contextualBandits: payload.contextualBandits ?? {},
    forceRules: new Map(),
  };
  const features = new Map<string, CompiledFeature>();
  for (const [key, definition] of Object.entries(payload.features)) {
    features.set(key, compileFeature(key, definition, scope));
  }
  const autoExperiments = (payload.experiments ?? []).map((experiment) => ({
    experiment,
    compiled: compileExperiment(experiment, scope),
  }));
  const hashAttributes = hashAttributesOf(payload);

  /** Flags 8.4 from step 2. */
  function evaluateFeature(
    key: string,
    user: User,
    path: EvaluationPath | undefined,
    outcomes?: RuleOutcome[],
  ): FeatureResult {
    const forced = user.forcedFeatures;
    if (forced?.has(key)) return featureResult(forced.get(key) ?? null, 'override');
    const feature = features.get(key);
    return feature === undefined ? UNKNOWN_FEATURE : evaluateRules(feature, user, path, evaluatePrerequisite, outcomes);
  }

  function evaluatePrerequisite(key: string, user: User, path: EvaluationPath): FeatureResult {
    return path.begin(key) ?? path.finish(key, evaluateFeature(key, user, path));
  }

  function enterAutoExperiment(compiled: CompiledExperiment, user: User): ExperimentResult | undefined {
    const result = enterExperiment(compiled, user, null, evaluatePrerequisite);
    return typeof result === 'string' ? undefined : result;
  }

  return {
    featureKeys: [...features.keys()],

    evaluate: (featureKey, user) => evaluateFeature(featureKey, user, undefined),

    explain(featureKey, user) {
      const outcomes: RuleOutcome[] = [];
      return { result: evaluateFeature(featureKey, user, undefined, outcomes), outcomes };
    },

    run(experiment, user) {
      const compiled = compileExperiment(experiment, scope);
      const result = enterExperiment(compiled, user, null, evaluatePrerequisite);
      return typeof result === 'string' ? excludedResult(compiled, user, null, result) : result;
    },

    runAutoExperiments(user) {
      return autoExperiments.flatMap(({ experiment, compiled }) => {
        const result = enterAutoExperiment(compiled, user);
        return result === undefined ? [] : [{ experiment, result }];
      });
    },

    redirect(user) {
      for (const { experiment, compiled } of autoExperiments) {
        if (!hasDestination(experiment)) continue;
        const result = enterAutoExperiment(compiled, user);
        const redirect = result && redirectOf(experiment, result, user);
        if (redirect !== undefined) return redirect;
      }
      return undefined;
    },

    stickyBucketKeys(user) {
      return hashAttributes.flatMap((attribute) => {
        const value = hashValueOf(user.attributes, attribute);
        return value === '' ? [] : [stickyBucketKey(attribute, stickyBucketText(value))];
      });
    },

    forceRuleOf: (result) => scope.forceRules.get(result),
  };
}

function hasDestination(experiment: AutoExperiment): boolean {
  return experiment.variations.some((variation) => variation.urlRedirect);
}

/** The hash and fallback attributes of everything that has variations. */
function hashAttributesOf(payload: EvaluablePayload): string[] {
  const names = new Set<string>();
  const add = (bucketing: { readonly hashAttribute?: string; readonly fallbackAttribute?: string }) => {
    names.add(bucketing.hashAttribute || DEFAULT_HASH_ATTRIBUTE);
    if (bucketing.fallbackAttribute) names.add(bucketing.fallbackAttribute);
  };
  for (const definition of Object.values(payload.features)) {
    for (const rule of rulesOf(definition)) if ('variations' in rule || 'contextualVariations' in rule) add(rule);
  }
  payload.experiments?.forEach(add);
  return [...names];
}
