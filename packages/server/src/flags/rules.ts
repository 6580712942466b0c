import { isDeepStrictEqual } from 'node:util';
import type { FeatureRuleInput, SavedGroupTargeting } from '@halyard/contract';
import { type Entitlements, requireProjects } from '../organization/index.ts';
import { invalid, type NewId, quoted, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { attributesIn, groupFinder, groupsNamedIn, readCondition, requireRegistered } from '../targeting/index.ts';
import type { RuleBase, StoredRule } from './feature.ts';
import { ruleIdStem } from './feature.ts';
import { checkPrerequisites } from './prerequisites.ts';
import type { RuleKinds } from './rule-kinds.ts';
import { checkSchedule } from './schedule.ts';
import { inferScope, requireEnvironments } from './scope.ts';

/** What the rules of a request are judged with. */
export interface RuleContext {
  readonly feature: string;
  /** Project that the feature will be in. */
  readonly project: string;
  /** The rules that the feature has; none when it is new. */
  readonly stored: readonly StoredRule[];
  readonly kinds: RuleKinds;
  readonly entitlements: Entitlements;
  readonly states: StateReader;
  readonly newId: NewId;
  readonly requester: Requester;
}

/**
 * Takes in the whole rule list of a v2 body. Rules that are sent back as they are stay as they are stored; what a rule
 * leaves out that decides about buckets is kept from the stored rule of the same id.
 *
 * @throws Refusal (invalid)
 */
export function admitRules(inputs: readonly FeatureRuleInput[], context: RuleContext): StoredRule[] {
  return withUniqueIds(inputs.map((input, index) => admitRule(input, index, context)));
}

function admitRule(input: FeatureRuleInput, index: number, context: RuleContext): StoredRule {
  const place = `rule ${index + 1}${input.id ? ` (${quoted(input.id)})` : ''}`;
  const kind = context.kinds.get(input.type);
  if (kind?.admit === undefined) throw unknownReference(input, place);
  const id = input.id || context.newId('fr_');
  const sameId = context.stored.find((rule) => rule.id === id) ?? null;
  const stored = sameId?.type === input.type ? sameId : null;
  const base = admitBase(input, { ...context, id, stored: sameId, place });
  const rule = kind.admit(input, base, { feature: context.feature, stored, states: context.states, place });
  requireRegisteredHash(rule, stored, context);
  return rule;
}

/** The types whose objects do not exist on this feature. */
function unknownReference(input: FeatureRuleInput, place: string): Error {
  switch (input.type) {
    case 'experiment-ref':
      return invalid(`${place} names the unknown experiment ${quoted(input.experimentId)}.`);
    case 'safe-rollout':
      return invalid(
        `${place} names the safe rollout ${quoted(input.safeRolloutId)}, which this feature does not have.`,
      );
    case 'contextual-bandit-ref':
      return invalid(
        `${place} names the contextual bandit ${quoted(input.contextualBanditId)}, which this feature does not have.`,
      );
    default:
      return invalid(`${place} is of the type ${input.type}, which cannot be written here.`);
  }
}

function admitBase(
  input: FeatureRuleInput,
  context: Omit<RuleContext, 'stored'> & { id: string; stored: StoredRule | null; place: string },
): RuleBase {
  const { id, stored, place, states } = context;
  const scope = inferScope(input);
  // Also of a list that "all" makes needless: what is unknown is a mistake, wherever it stands.
  requireEnvironments(states, added(input.environments ?? [], stored?.environments), place);
  requireProjects(states, input.projects ?? [], stored?.projects);

  const condition = input.condition ?? '';
  if (condition !== (stored?.condition ?? '')) {
    const findGroup = groupFinder(context.requester, states, groupsNamedIn(stored?.condition ?? ''));
    const parsed = readCondition(condition, place, findGroup);
    if (parsed !== null) requireRegistered(states, attributesIn(parsed), context.project);
  }

  const prerequisites = input.prerequisites ?? [];
  if (!isDeepStrictEqual(prerequisites, stored?.prerequisites ?? [])) {
    if (prerequisites.length > 0) context.entitlements.require('prerequisite-targeting');
    checkPrerequisites(prerequisites, context);
  }

  const scheduleRules = input.scheduleRules ?? [];
  if (!isDeepStrictEqual(scheduleRules, stored?.scheduleRules ?? [])) {
    if (scheduleRules.length > 0) context.entitlements.require('schedule-feature-flag');
    checkSchedule(scheduleRules, place);
  }
  refuseRamp(input.rampScheduleId, place);

  return {
    id,
    description: input.description ?? '',
    condition,
    enabled: input.enabled ?? true,
    scheduleRules,
    ...(input.scheduleType === undefined ? {} : { scheduleType: input.scheduleType }),
    savedGroupTargeting: admitSavedGroups(input, stored, context),
    prerequisites,
    ...scope,
  };
}

/** What is new in a list: what was there before is not asked about again, since it may have been deleted meanwhile. */
const added = (list: readonly string[], before: readonly string[] = []) =>
  list.filter((item) => !before.includes(item));

function admitSavedGroups(
  { savedGroups, savedGroupTargeting }: FeatureRuleInput,
  stored: StoredRule | null,
  { place, states, requester }: { place: string; states: StateReader; requester: Requester },
): SavedGroupTargeting[] {
  const targeting =
    savedGroups?.map(({ match, ids }) => ({ matchType: match, savedGroups: ids })) ?? savedGroupTargeting ?? [];
  const before = (stored?.savedGroupTargeting ?? []).flatMap((entry) => entry.savedGroups);
  const findGroup = groupFinder(requester, states, before);
  const unknown = targeting.flatMap((entry) => entry.savedGroups).filter((id) => findGroup(id) === null);
  if (unknown.length > 0) throw invalid(`${place} targets an unknown saved group: ${quotedList(unknown)}.`);
  return targeting;
}

function refuseRamp(rampScheduleId: string | undefined, place: string): void {
  if (rampScheduleId !== undefined) {
    throw invalid(
      `${place} names the ramp schedule ${quoted(rampScheduleId)}, which does not drive it. Leave rampScheduleId out.`,
    );
  }
}

function requireRegisteredHash(
  rule: StoredRule,
  stored: StoredRule | null,
  { kinds, states, project }: RuleContext,
): void {
  const kind = kinds.get(rule.type);
  const before = stored === null ? [] : (kind?.hashAttributes(stored) ?? []);
  requireRegistered(states, added(kind?.hashAttributes(rule) ?? [], before), project);
}

/** Gives each rule an id of its own: a second one of the same id gets its stem with where it applies and a number. */
function withUniqueIds(rules: readonly StoredRule[]): StoredRule[] {
  const taken = new Set(rules.map(({ id }) => id));
  const seen = new Set<string>();
  return rules.map((rule) => {
    if (!seen.has(rule.id)) {
      seen.add(rule.id);
      return rule;
    }
    const stem = `${ruleIdStem(rule.id)}__${scopeHint(rule)}`;
    let number = 2;
    while (taken.has(`${stem}__${number}`)) number++;
    const id = `${stem}__${number}`;
    taken.add(id);
    seen.add(id);
    return { ...rule, id };
  });
}

function scopeHint({ allEnvironments, environments }: StoredRule): string {
  if (allEnvironments) return 'all';
  const [only] = environments;
  return environments.length === 1 && only !== undefined ? only : 'dup';
}
