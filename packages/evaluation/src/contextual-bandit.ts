import { equalWeights } from './buckets.ts';
import { type CompiledExperiment, compileExperiment } from './compiled-experiment.ts';
import { type ConditionScope, compileConditionIn } from './condition.ts';
import type { ContextualBandit, ContextualBanditLeaf, Experiment } from './payload.ts';
import type { Predicate } from './predicate.ts';
import type { Attributes } from './user.ts';

/** The experiment of a rule, as it is run and as it is reported when hashing did not decide. */
export interface RuleExperiment {
  readonly compiled: CompiledExperiment;
  /** Without the bandit's leaf, which means nothing to a forced variation. */
  readonly reportedWhenForced: Experiment;
}

/** A contextual bandit prepared for many users: one experiment for each leaf. */
export interface CompiledBandit {
  readonly leaves: readonly { readonly holds: Predicate; readonly experiment: RuleExperiment }[];
  readonly otherwise: RuleExperiment;
}

/** The leaf of a user whom no context matches. */
const NO_LEAF = -1;

/** Prepares a contextual bandit for the experiment of a rule (flags 8.4, step 4d). */
export function compileContextualBandit(
  experiment: Experiment,
  bandit: ContextualBandit,
  scope: ConditionScope,
): CompiledBandit {
  const { banditVersion } = bandit;
  const atLeaf = (weighted: Experiment, leafId: number, variationWeights: readonly number[]): RuleExperiment => {
    const contextualBandit: ContextualBanditLeaf = {
      leafId,
      variationWeights,
      ...(banditVersion !== undefined && { banditVersion }),
    };
    return {
      compiled: compileExperiment(Object.freeze({ ...weighted, contextualBandit }), scope),
      reportedWhenForced: weighted,
    };
  };
  // A payload of another version may lack the contexts.
  const contexts = Array.isArray(bandit.contexts) ? (bandit.contexts as ContextualBandit['contexts']) : [];
  return {
    leaves: contexts.map(({ leafId, condition, weights }) => ({
      holds: compileConditionIn(scope, condition),
      experiment: atLeaf(Object.freeze({ ...experiment, weights }), leafId, weights),
    })),
    otherwise: atLeaf(experiment, NO_LEAF, experiment.weights ?? equalWeights(experiment.variations.length)),
  };
}

/** The experiment of the first leaf whose condition holds. */
export function leafFor(bandit: CompiledBandit, attributes: Attributes): RuleExperiment {
  for (const leaf of bandit.leaves) if (leaf.holds(attributes)) return leaf.experiment;
  return bandit.otherwise;
}
