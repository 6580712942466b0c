import type { FeatureRuleInput, FeatureRuleInputV1 } from '@halyard/contract';
import type { FeatureRule, GateRule, JsonValue } from '@halyard/evaluation';
import type { StateReader } from '../record/index.ts';
import type { NamespaceState } from '../targeting/index.ts';
import type { RuleBase, StoredRule } from './feature.ts';
import { forceRuleKind } from './rule-kinds/force.ts';
import { inlineExperimentRuleKind } from './rule-kinds/inline-experiment.ts';
import { rolloutRuleKind } from './rule-kinds/rollout.ts';

/** A rule as a body of either version brings it in: v1 alone has inline experiments. */
export type RuleInput = FeatureRuleInput | Extract<FeatureRuleInputV1, { type: 'experiment' }>;

/** A value inside a rule, and what messages call it. */
interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** What a rule is admitted with. */
interface AdmissionContext<Rule> {
  readonly feature: string;
  /** The stored rule of the same id and type, if the feature has one. */
  readonly stored: Rule | null;
  readonly states: StateReader;
  /** The rule, for messages. */
  readonly place: string;
}

/** What a rule is compiled with. */
export interface CompilationContext {
  readonly feature: string;
  /** The value of a rule as SDKs get it; a sparse one is laid over the default. */
  typed(value: string, sparse: boolean): JsonValue;
  /** Whether SDKs are to get the names of experiments that are objects of their own. */
  readonly includeNames: boolean;
  /** A namespace as the organization defines it; null: there is none of that id. */
  namespaceOf(id: string): NamespaceState | null;
}

/** The keys of a compiled rule that come after its id, condition and prerequisites. */
type CompiledBody = WithoutCommon<Exclude<FeatureRule, GateRule>>;
type WithoutCommon<Rule> = Rule extends unknown
  ? Omit<Rule, 'id' | 'condition' | 'parentConditions' | 'metadata'>
  : never;

/**
 * One type of rule: how it comes in, what it serves, how it is shown. The rules that name objects of other areas
 * (experiments, bandits, safe rollouts) are brought in by those areas.
 */
export interface RuleKind<Rule extends StoredRule = StoredRule> {
  readonly type: Rule['type'];
  /**
   * Takes in the part of a rule that is its own; absent where the type cannot come in that way.
   *
   * @throws Refusal (invalid)
   */
  admit?(input: RuleInput, base: RuleBase, context: AdmissionContext<Rule>): Rule;
  /** The values it serves, to be checked against the feature's type and schema. */
  values(rule: Rule): readonly NamedValue[];
  /** The same rule with its values replaced, in the order of `values`. */
  withValues(rule: Rule, values: readonly string[]): Rule;
  /** Whether its values are laid over the default value. */
  isSparse(rule: Rule): boolean;
  /** Attributes that it buckets by. */
  hashAttributes(rule: Rule): readonly string[];
  /** The members that answers show beside what all rules have. */
  show(rule: Rule, feature: string): object;
  /** What SDKs get; null: nothing. */
  compile(rule: Rule, context: CompilationContext): CompiledBody | null;
}

/** The rule types that are known, by type. */
export type RuleKinds = ReadonlyMap<string, RuleKind>;

/** @param others the types that other areas bring in */
export const ruleKinds = (others: readonly RuleKind[]): RuleKinds =>
  new Map(
    [forceRuleKind, rolloutRuleKind, inlineExperimentRuleKind, ...others].map((kind: RuleKind) => [kind.type, kind]),
  );
