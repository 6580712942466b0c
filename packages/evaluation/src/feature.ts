import { isPlainObject } from './coercion.ts';
import { compileExperiment } from './compiled-experiment.ts';
import { type ConditionScope, compileConditionIn } from './condition.ts';
import { type CompiledBandit, compileContextualBandit, leafFor, type RuleExperiment } from './contextual-bandit.ts';
import { enterExperiment } from './experiment.ts';
import { BLOCKED_BY_PREREQUISITE, CYCLIC_PREREQUISITE, type FeatureResult, featureResult } from './feature-result.ts';
import { type PreparedFilter, passesFilters, prepareFilters } from './filter.ts';
import type {
  ContextualBandit,
  ContextualBanditRule,
  EnteredExperiment,
  Experiment,
  ExperimentRule,
  FeatureDefinition,
  FeatureRule,
  ForceRule,
} from './payload.ts';
import type { Predicate } from './predicate.ts';
import {
  type EvaluatePrerequisite,
  EvaluationPath,
  judgePrerequisites,
  type PreparedPrerequisite,
  preparePrerequisites,
} from './prerequisite.ts';
import { isIncluded, type PreparedRollout, prepareRollout } from './rollout.ts';
import type { RuleOutcome } from './rule-outcome.ts';
import type { User } from './user.ts';

/** A feature prepared for many users. */
export interface CompiledFeature {
  readonly key: string;
  readonly rules: readonly CompiledRule[];
  readonly defaultResult: FeatureResult;
}

/** A rule prepared for many users. It has at most one of `forced`, `experiment` and `bandit`; a gate has none. */
interface CompiledRule {
  readonly id: string;
  readonly prerequisites: readonly PreparedPrerequisite[] | undefined;
  readonly filters: readonly PreparedFilter[] | undefined;
  readonly forced: ForcedValue | undefined;
  readonly experiment: RuleExperiment | undefined;
  readonly bandit: CompiledBandit | undefined;
}

interface ForcedValue {
  readonly condition: Predicate | undefined;
  readonly rollout: PreparedRollout | undefined;
  readonly tracks: readonly EnteredExperiment[] | undefined;
  readonly result: FeatureResult;
}

/** What the features of one payload share while they are compiled. */
export interface FeatureScope extends ConditionScope {
  readonly contextualBandits: Readonly<Record<string, ContextualBandit>>;
  /** Filled on the way: the rule behind each result that is not made anew for each user. */
  readonly forceRules: Map<FeatureResult, ForceRule>;
}

/** The rules of a feature; what is no rule in them is passed over. */
export function rulesOf({ rules }: FeatureDefinition): readonly FeatureRule[] {
  return Array.isArray(rules) ? (rules as readonly FeatureRule[]).filter(isPlainObject) : [];
}

/** Prepares a feature. */
export function compileFeature(key: string, definition: FeatureDefinition, scope: FeatureScope): CompiledFeature {
  return {
    key,
    rules: rulesOf(definition).map((rule) => compileRule(rule, key, scope)),
    defaultResult: featureResult(definition.defaultValue ?? null, 'defaultValue'),
  };
}

/**
 * Evaluates a feature's rules for a user, in the order of the specification (flags 8.4, steps 4 and 5).
 *
 * @param begun the path that led here; absent for the feature that was asked for.
 * @param outcomes is given what came of each rule that is looked at.
 */
export function evaluateRules(
  feature: CompiledFeature,
  user: User,
  begun: EvaluationPath | undefined,
  evaluate: EvaluatePrerequisite,
  outcomes?: RuleOutcome[],
): FeatureResult {
  let path = begun;
  for (const rule of feature.rules) {
    if (rule.prerequisites !== undefined) {
      path ??= new EvaluationPath(user, feature.key);
      const outcome = judgePrerequisites(rule.prerequisites, user, path, evaluate);
      if (outcome !== 'held') {
        outcomes?.push(outcome === 'failed' ? 'prerequisite' : outcome);
        if (outcome === 'cyclic') return CYCLIC_PREREQUISITE;
        if (outcome === 'blocked') return BLOCKED_BY_PREREQUISITE;
        continue;
      }
    }
    const result = applyRule(rule, feature.key, user, evaluate);
    if (typeof result !== 'string') {
      outcomes?.push('applied');
      return result;
    }
    outcomes?.push(result);
  }
  return feature.defaultResult;
}

/** What a rule serves the user whose prerequisites hold, or why it does not. */
function applyRule(
  rule: CompiledRule,
  featureKey: string,
  user: User,
  evaluate: EvaluatePrerequisite,
): FeatureResult | RuleOutcome {
  if (rule.filters !== undefined && !passesFilters(rule.filters, user.attributes)) return 'namespace';
  return rule.forced === undefined ? runRule(rule, featureKey, user, evaluate) : forceValue(rule.forced, user);
}

function forceValue({ condition, rollout, tracks, result }: ForcedValue, user: User): FeatureResult | RuleOutcome {
  if (condition !== undefined && !condition(user.attributes)) return 'condition';
  if (rollout !== undefined && !isIncluded(rollout, user)) return 'rollout';
  if (tracks !== undefined && user.trackExperiment !== undefined) {
    for (const entered of tracks) user.trackExperiment(entered.experiment, entered.result);
  }
  return result;
}

function runRule(
  rule: CompiledRule,
  featureKey: string,
  user: User,
  evaluate: EvaluatePrerequisite,
): FeatureResult | RuleOutcome {
  const experiment = rule.bandit === undefined ? rule.experiment : leafFor(rule.bandit, user.attributes);
  if (experiment === undefined) return 'servesNothing';
  const result = enterExperiment(experiment.compiled, user, featureKey, evaluate);
  if (typeof result === 'string') return result;
  if (result.passthrough) return 'passthrough';
  const on = Boolean(result.value);
  return {
    value: result.value,
    on,
    off: !on,
    source: 'experiment',
    ruleId: rule.id,
    experiment: result.hashUsed ? experiment.compiled.experiment : experiment.reportedWhenForced,
    experimentResult: result,
  };
}

function compileRule(rule: FeatureRule, featureKey: string, scope: FeatureScope): CompiledRule {
  const shared = {
    id: ('id' in rule && rule.id) || '',
    prerequisites: preparePrerequisites(rule.parentConditions, scope),
    filters: 'filters' in rule && rule.filters ? prepareFilters(rule.filters) : undefined,
    forced: undefined,
    experiment: undefined,
    bandit: undefined,
  };
  if ('force' in rule) return { ...shared, forced: compileForceRule(rule, featureKey, scope) };
  const experiment = experimentOf(rule, featureKey);
  if (experiment === undefined) return shared;
  const bandit = banditOf(rule, scope);
  if (bandit !== undefined) return { ...shared, bandit: compileContextualBandit(experiment, bandit, scope) };
  const compiled = compileExperiment(experiment, scope);
  return { ...shared, experiment: { compiled, reportedWhenForced: experiment } };
}

function compileForceRule(rule: ForceRule, featureKey: string, scope: FeatureScope): ForcedValue {
  const result = featureResult(rule.force, 'force', rule.id);
  scope.forceRules.set(result, rule);
  return {
    condition: rule.condition && compileConditionIn(scope, rule.condition),
    rollout: prepareRollout(rule, featureKey),
    tracks: rule.tracks,
    result,
  };
}

/** What an experiment takes over from its rule, where it is not empty. */
const TAKEN_OVER = [
  'weights',
  'hashAttribute',
  'fallbackAttribute',
  'disableStickyBucketing',
  'namespace',
  'meta',
  'ranges',
  'name',
  'phase',
  'seed',
  'hashVersion',
  'filters',
  'condition',
] as const;

/** What an experiment takes over from its rule wherever it is there, 0 included. */
const TAKEN_OVER_EVEN_ZERO = ['coverage', 'bucketVersion', 'minBucketVersion'] as const;

/** The experiment that a rule describes (flags 8.4, step 4d), or `undefined` for a rule without variations. */
function experimentOf(rule: Exclude<FeatureRule, ForceRule>, featureKey: string): Experiment | undefined {
  if (!hasVariations(rule)) return undefined;
  const variations = 'contextualVariations' in rule ? rule.contextualVariations : rule.variations;
  return Object.freeze({
    key: rule.key || featureKey,
    variations,
    ...Object.fromEntries(TAKEN_OVER.filter((name) => rule[name]).map((name) => [name, rule[name]])),
    ...Object.fromEntries(
      TAKEN_OVER_EVEN_ZERO.filter((name) => rule[name] !== undefined).map((name) => [name, rule[name]]),
    ),
  });
}

function hasVariations(rule: FeatureRule): rule is ExperimentRule | ContextualBanditRule {
  return (
    ('contextualVariations' in rule && Array.isArray(rule.contextualVariations)) ||
    ('variations' in rule && Array.isArray(rule.variations))
  );
}

/** The bandit that a rule names, if the payload has it. */
function banditOf(rule: FeatureRule, scope: FeatureScope): ContextualBandit | undefined {
  if (!('contextualBanditRef' in rule) || rule.contextualBanditRef === undefined) return undefined;
  const { contextualBandits } = scope;
  return Object.hasOwn(contextualBandits, rule.contextualBanditRef)
    ? contextualBandits[rule.contextualBanditRef]
    : undefined;
}
