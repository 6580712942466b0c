import { isDeepStrictEqual } from 'node:util';
import type { FeatureRuleInputV1 } from '@halyard/contract';
import { environmentsOf } from '../../organization/index.ts';
import { type FeatureContent, ruleIdStem, type StoredRule } from '../feature.ts';
import { withNormalValues } from '../feature-values.ts';
import { admitRule, placeOf, type RuleContext } from '../rules.ts';
import { checkSchedule } from '../schedule.ts';
import { type EnvironmentView, environmentView } from '../scope.ts';
import { showRule } from '../show.ts';
import { listOf, withRuleLists } from './rule-lists.ts';

/** Lists of rules, each for its environment, as a v1 body asks for them. */
export type AskedRuleLists = ReadonlyMap<string, readonly FeatureRuleInputV1[]>;

/**
 * Takes in the rule lists of a v1 body. What a rule leaves out that decides about buckets is kept from the stored rule that it
 * is, and what reads as it is stored is as it is stored.
 *
 * @throws Refusal (invalid)
 */
export function admitRuleLists(
  asked: AskedRuleLists,
  feature: FeatureContent,
  context: Omit<RuleContext, 'stored' | 'project'>,
): FeatureContent {
  const environments = environmentsOf(context.states);
  const find = storedRules(feature.rules, environmentView(feature, environments));
  const lists = new Map<string, readonly StoredRule[]>();
  for (const [environment, inputs] of asked) {
    const where = `in ${environment}`;
    const admitted = inputs.map((input, index) => {
      const stored = input.id ? find(input.id, environment) : null;
      const place = `${placeOf(input, index)} ${where}`;
      const rule = admitRule(input, stored, place, { ...context, project: feature.project });
      return { rule, stored };
    });
    const normal = withNormalValues(
      admitted.map(({ rule }) => rule),
      feature.valueType,
      context.kinds,
      where,
    );
    lists.set(
      environment,
      normal.map((rule, index) => asStored(rule, admitted[index]?.stored ?? null, context)),
    );
  }
  return withRuleLists(feature, lists, environments);
}

/** Finds the stored rule that a rule of a list is: by its id, or by the stem of it, which copies for several environments share. */
function storedRules(
  rules: readonly StoredRule[],
  view: EnvironmentView,
): (id: string, environment: string) => StoredRule | null {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const firstOfStems = (of: readonly StoredRule[]) =>
    new Map([...of].reverse().map((rule) => [ruleIdStem(rule.id), rule] as const));
  const anywhere = firstOfStems(rules);
  const within = new Map<string, ReadonlyMap<string, StoredRule>>();
  return (id, environment) => {
    const same = byId.get(id);
    if (same !== undefined && view.applies(same, environment)) return same;
    const here = within.get(environment) ?? firstOfStems(listOf(rules, environment, view));
    within.set(environment, here);
    return here.get(ruleIdStem(id)) ?? same ?? anywhere.get(ruleIdStem(id)) ?? null;
  };
}

/** The rule with the content of the stored one where both read the same: old rules leave out what newer ones spell out. */
function asStored(
  rule: StoredRule,
  stored: StoredRule | null,
  { feature, kinds }: Pick<RuleContext, 'feature' | 'kinds'>,
): StoredRule {
  if (stored === null) return rule;
  const { id, allEnvironments, environments } = rule;
  const likewise = { ...stored, id, allEnvironments, environments };
  return isDeepStrictEqual(showRule(likewise, feature, kinds), showRule(rule, feature, kinds)) ? likewise : rule;
}

/** Holds the schedules of all rules against what schedules must be, before anything else is judged. */
export function checkSchedules(
  asked: readonly (readonly [string, readonly FeatureRuleInputV1[]])[],
  { entitlements }: Pick<RuleContext, 'entitlements'>,
): void {
  const scheduled = asked.flatMap(([environment, inputs]) =>
    inputs.map((input, index) => ({
      entries: input.scheduleRules ?? [],
      place: `${placeOf(input, index)} in ${environment}`,
    })),
  );
  for (const { entries, place } of scheduled) checkSchedule(entries, place);
  if (scheduled.some(({ entries }) => entries.length > 0)) entitlements.require('schedule-feature-flag');
}
