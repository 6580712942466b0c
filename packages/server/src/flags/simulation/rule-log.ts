import type { SimulatedFeature } from '@halyard/contract';
import type { RuleOutcome } from '@halyard/evaluation';
import type { StoredRule } from '../feature.ts';
import type { Absence, TracedDefinition } from '../payload/compile.ts';
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

const ofAbsences: Readonly<Record<Absence | 'leftOut', string>> = {
  off: 'Skipped: the rule is switched off.',
  environment: 'Skipped: the rule is not for this environment.',
  schedule: 'Skipped: the schedule has the rule off at this time.',
  projects: 'Skipped: the rule is for no project in which the feature is served here.',
  prerequisites: 'Skipped: a prerequisite of the rule can never hold here.',
  nothing: 'Skipped: the rule has nothing to serve, or serves it to 0 % of the users.',
  leftOut: 'Skipped: the rule has prerequisites, which the simulation leaves out.',
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
  const { definition, gates, absences, outcomes } = evaluated;
  const log: LogEntry[] = [];
  let looked = 0;
  for (; looked < gates; looked++) {
    const outcome = outcomes[looked];
    if (outcome === undefined) return log;
    const [parent] = definition.rules?.[looked]?.parentConditions ?? [];
    log.push(entry(ofGates[outcome] ?? ofRules[outcome], { prerequisite: parent?.id }));
  }
  // Of the rules that were compiled, in their order.
  const compiled = absences[Symbol.iterator]();
  for (const { stored, simulated } of evaluated.rules) {
    if (looked === outcomes.length && ends(outcomes.at(-1))) return log;
    const absence = simulated === null ? whyLeftOut(stored, evaluated) : compiled.next().value;
    const outcome = outcomes[looked];
    if (absence) {
      log.push(ofRule(stored, ofAbsences[absence]));
    } else if (outcome !== undefined) {
      log.push(ofRule(stored, ofRules[outcome]));
      looked++;
    }
  }
  return ends(outcomes.at(-1)) ? log : [...log, entry('No rule applies: the default value is served.')];
}

const ofRule = ({ id, type }: StoredRule, message: string): LogEntry => entry(message, { ruleId: id, type });

/** Whether an outcome is the last one. */
const ends = (outcome: RuleOutcome | undefined): boolean =>
  outcome === 'applied' || outcome === 'blocked' || outcome === 'cyclic';

/** Why a rule that the simulation leaves out does not count: it may be for another reason than its prerequisites. */
function whyLeftOut(rule: StoredRule, { view, environment, instant }: Evaluated): keyof typeof ofAbsences {
  if (!rule.enabled) return 'off';
  if (!view.applies(rule, environment)) return 'environment';
  return isScheduledOn(rule.scheduleRules, instant) ? 'leftOut' : 'schedule';
}
