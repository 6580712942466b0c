import type { SimulatedFeature } from '@halyard/contract';
import type { RuleOutcome } from '@halyard/evaluation';
import type { StoredRule } from '../feature.ts';
import type { TracedDefinition } from '../payload/compile.ts';
import { isScheduledOn } from '../schedule.ts';
import type { EnvironmentView } from '../scope.ts';

/** What happened, and what it happened to. */
export type LogEntry = SimulatedFeature['environments'][number]['log'][number];

export const entry = (message: string, detail: LogEntry[1] = {}): LogEntry => [message, detail];

const ofRules: Readonly<Record<RuleOutcome, string>> = {
  applied: 'The rule applies: it decides the value.',
  prerequisite: 'Skipped: a prerequisite of the rule does not hold.',
  blocked: 'The prerequisite of the feature does not hold: it serves nothing.',
  cyclic: 'A prerequisite leads back to itself: the feature serves nothing.',
  rollout: 'Skipped: the user is not in the share of users that the rule is for, or has no value to hash.',
  passthrough: 'The user is in the experiment, and the next rules decide the value.',
  servesNothing: 'Skipped: the rule has nothing to serve.',
  fewVariations: 'Skipped: the experiment has fewer than two variations.',
  notRunning: 'Skipped: the experiment does not run.',
  url: 'Skipped: the experiment is not for this page.',
  noSuchVariation: 'Skipped: the forced variation does not exist.',
  noHashValue: 'Skipped: the user has no value in the attribute that the experiment hashes.',
  namespace: 'Skipped: the user is outside of the namespace.',
  notIncluded: 'Skipped: the experiment does not include the user.',
  condition: 'Skipped: the user does not meet the condition.',
  group: 'Skipped: the user is in none of the groups.',
  bucket: 'Skipped: the user is not in the traffic of the experiment.',
  blockedVersion: 'Skipped: the user was assigned in a version of the experiment that may not take part any more.',
};

const ofGates: Readonly<Partial<Record<RuleOutcome, string>>> = {
  servesNothing: 'The prerequisite of the feature holds.',
};

/** A rule, and as what it is simulated; null: it is left out, for its prerequisites. */
export interface SimulatedRule {
  readonly stored: StoredRule;
  readonly simulated: StoredRule | null;
}

/** A feature in an environment: what of it was evaluated, and what came of it. */
interface Evaluated extends TracedDefinition {
  readonly rules: readonly SimulatedRule[];
  readonly outcomes: readonly RuleOutcome[];
  readonly view: EnvironmentView;
  readonly environment: string;
  readonly instant: Date;
}

/** What came of the gates and rules of a feature, up to the one that decided. */
export function ruleLog(evaluated: Evaluated): LogEntry[] {
  const { definition, sources, outcomes } = evaluated;
  const log: LogEntry[] = [];
  let looked = 0;
  for (; sources[looked] === null; looked++) {
    const outcome = outcomes[looked];
    if (outcome === undefined) return log;
    const [parent] = definition.rules?.[looked]?.parentConditions ?? [];
    log.push(entry(ofGates[outcome] ?? ofRules[outcome], { prerequisite: parent?.id }));
  }
  for (const rule of evaluated.rules) {
    if (looked === outcomes.length && ends(outcomes.at(-1))) return log;
    const outcome = outcomes[looked];
    const isEvaluated = rule.simulated !== null && sources[looked] === rule.simulated && outcome !== undefined;
    log.push(ofRule(rule.stored, isEvaluated ? ofRules[outcome] : whyLeftOut(rule, evaluated)));
    if (isEvaluated) looked++;
  }
  return ends(outcomes.at(-1)) ? log : [...log, entry('No rule applies: the default value is served.')];
}

const ofRule = ({ id, type }: StoredRule, message: string): LogEntry => entry(message, { ruleId: id, type });

/** Whether an outcome is the last one. */
const ends = (outcome: RuleOutcome | undefined): boolean =>
  outcome === 'applied' || outcome === 'blocked' || outcome === 'cyclic';

/** Why a rule is not among those that are evaluated. */
function whyLeftOut({ stored, simulated }: SimulatedRule, { view, environment, instant }: Evaluated): string {
  if (!stored.enabled) return 'Skipped: the rule is switched off.';
  if (!view.applies(stored, environment)) return 'Skipped: the rule is not for this environment.';
  if (!isScheduledOn(stored.scheduleRules, instant)) return 'Skipped: the schedule has the rule off at this time.';
  if (simulated === null) return 'Skipped: the rule has prerequisites, which the simulation leaves out.';
  return 'Skipped: the rule serves nobody here, for its prerequisites, its projects or its coverage.';
}
