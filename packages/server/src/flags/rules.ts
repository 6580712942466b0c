import { isDeepStrictEqual } from 'node:util';
import type { FeatureRuleInput, SavedGroupTargeting } from '@halyard/contract';
import { type Entitlements, requireProjects } from '../organization/index.ts';
import { invalid, type NewId, quoted, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { attributesIn, groupFinder, groupsNamedIn, readCondition, requireRegistered } from '../targeting/index.ts';
import { type RuleBase, ruleIdStem, type StoredRule } from './feature.ts';
import { checkPrerequisites } from './prerequisites.ts';
import type { RuleInput, RuleKinds } from './rule-kinds.ts';
import { checkSchedule } from './schedule.ts';
import { inferScope, requireEnvironments } from './scope.ts';
import { withUniqueIds } from './unique-ids.ts';

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
export function admitRuleList(inputs: readonly FeatureRuleInput[], context: RuleContext): StoredRule[] {
  // Each gets its id before anything goes by it: rollouts that are sent alike are hashed on their own.
  const named = inputs.map((input) => ({ id: input.id || context.newId('fr_'), ...inferScope(input) }));
  const ids = withUniqueIds(named).map(({ id }) => id);
  return inputs.map((input, index) => {
    const id = ids[index] ?? '';
    const sameId = context.stored.find((rule) => rule.id === id) ?? null;
    return admitRule({ ...input, id }, sameId, placeOf(input, index), context);
  });
}

/** What messages call a rule of a list. */
export const placeOf = ({ id }: RuleInput, index: number): string => `rule ${index + 1}${id ? ` (${quoted(id)})` : ''}`;

/**
 * Takes in one rule of a body of either version.
 *
 * @param sameId the stored rule that it is, if it is one
 * @throws Refusal (invalid)
 */
export function admitRule(
  input: RuleInput,
  sameId: StoredRule | null,
  place: string,
  context: Omit<RuleContext, 'stored'>,
): StoredRule {
  const kind = context.kinds.get(input.type);
  if (kind?.admit === undefined) throw unknownReference(input, place);
  const id = input.id || context.newId('fr_');
  if (sameId === null && ruleIdStem(id) === '') {
    throw invalid(
      `The id of ${place} begins with "__". SDKs know a rule by what comes before that: send an id of your own, or none.`,
    );
  }
  const stored = sameId?.type === input.type ? sameId : null;
  const base = admitBase(input, { ...context, id, stored: sameId, place });
  const rule = kind.admit(input, base, { feature: context.feature, stored, states: context.states, place });
  requireRegisteredHash(rule, stored, context);
  return rule;
}

/** The types whose objects do not exist on this feature. */
function unknownReference(input: RuleInput, place: string): Error {
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
  input: RuleInput,
  context: Omit<RuleContext, 'stored'> & { id: string; stored: StoredRule | null; place: string },
): RuleBase {
  const { id, stored, place, states } = context;
  const scope = inferScope(input);
  if (input.type !== 'experiment') {
    // Also of a list that "all" makes needless: what is unknown is a mistake, wherever it stands.
    requireEnvironments(states, added(input.environments ?? [], stored?.environments), place);
    refuseRamp(input.rampScheduleId, place);
  }
  requireProjects(context.requester, states, input.projects ?? [], stored?.projects);

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

  return {
    id,
    description: input.description ?? '',
    condition,
    enabled: input.enabled ?? true,
    scheduleRules,
    ...(input.scheduleType === undefined ? {} : { scheduleType: input.scheduleType }),
    savedGroupTargeting: input.type === 'experiment' ? [] : admitSavedGroups(input, stored, context),
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
  { kinds, states, project }: Pick<RuleContext, 'kinds' | 'states' | 'project'>,
): void {
  const kind = kinds.get(rule.type);
  const before = stored === null ? [] : (kind?.hashAttributes(stored) ?? []);
  requireRegistered(states, added(kind?.hashAttributes(rule) ?? [], before), project);
}
