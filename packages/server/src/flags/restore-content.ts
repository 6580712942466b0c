import { isDeepStrictEqual } from 'node:util';
import { environmentsOf, listWithout, projectKind, settingsOf } from '../organization/index.ts';
import { invalid, quoted, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Directory } from '../requester/index.ts';
import { groupFinder, namespaceKind } from '../targeting/index.ts';
import type { ContentAdmission } from './admit-content.ts';
import type { FeatureContent, StoredRule } from './feature.ts';
import { namespacesOf } from './namespaces.ts';
import { checkPrerequisites, refuseCycle } from './prerequisites.ts';
import { checkTargeting, effectiveTargeting } from './project-targeting.ts';
import { groupsOf } from './saved-groups.ts';

/**
 * What a feature was once, as it can be again today. What is gone meanwhile never makes anything wider: its own project stays
 * that of today, lists of projects lose those that are deleted as they do when one is deleted, and an owner who has left is
 * nobody's owner any more. An environment that was not known then keeps the switch it has.
 */
export function restoredContent(
  old: FeatureContent,
  now: FeatureContent,
  { states, members }: { readonly states: StateReader; readonly members: Directory },
): FeatureContent {
  const isGone = (project: string) => project !== '' && states.get(projectKind, project) === null;
  const existing = (projects: readonly string[]) => projects.filter(isGone).reduce(listWithout, projects);
  const project = isGone(old.project) ? now.project : old.project;
  const known = new Set(environmentsOf(states).map(({ id }) => id));
  const switches = Object.entries(old.environments).filter(([id]) => known.has(id));
  return {
    ...old,
    owner: members.idOf(old.owner) === undefined ? now.owner : old.owner,
    project,
    ...effectiveTargeting(project, { ...old, targetingProjects: existing(old.targetingProjects) }),
    environments: { ...now.environments, ...Object.fromEntries(switches) },
    rules: old.rules.map((rule) => ({ ...rule, projects: existing(rule.projects) })),
  };
}

/**
 * Judges what restored content brings back that the feature does not have today: it must still be possible, and allowed.
 *
 * @throws Refusal (invalid, forbidden)
 */
export function checkRestored(restored: FeatureContent, now: FeatureContent, admission: ContentAdmission): void {
  const { feature, states, requester, tools } = admission;
  if (restored.project === '' && now.project !== '' && settingsOf(states).requireProjectForFeatures) {
    throw invalid(
      'The organization requires a project for every feature, and this revision is of a time when it had none.',
    );
  }
  checkTargeting(requester, restored, now);
  const prerequisites = added(restored.prerequisites, now.prerequisites);
  if (prerequisites.length > 0) tools.entitlements.require('prerequisites');
  checkPrerequisites(prerequisites, { feature, states, requester, place: 'the revision' });
  for (const [index, rule] of restored.rules.entries()) {
    const before = now.rules.find(({ id }) => id === rule.id);
    checkRestoredRule(rule, before, `rule ${index + 1} (${quoted(rule.id)}) of the revision`, admission);
  }
  const schemaIsBack = restored.jsonSchema?.enabled === true && !isDeepStrictEqual(restored.jsonSchema, now.jsonSchema);
  if (schemaIsBack) tools.entitlements.require('json-validation');
  requireStillThere(restored, now, admission);
  refuseCycle(feature, restored, states);
}

function checkRestoredRule(
  rule: StoredRule,
  before: StoredRule | undefined,
  place: string,
  { feature, states, requester, tools }: ContentAdmission,
): void {
  const prerequisites = added(rule.prerequisites, before?.prerequisites);
  if (prerequisites.length > 0) tools.entitlements.require('prerequisite-targeting');
  checkPrerequisites(prerequisites, { feature, states, requester, place });
  if (added(rule.scheduleRules, before?.scheduleRules).length > 0) tools.entitlements.require('schedule-feature-flag');
}

/** Without its definition a saved group would let in others than it did, and a namespace would hash otherwise. */
function requireStillThere(
  restored: FeatureContent,
  now: FeatureContent,
  { states, requester }: ContentAdmission,
): void {
  const findGroup = groupFinder(requester, states, groupsOf(now));
  const groups = groupsOf(restored).filter((group) => findGroup(group) === null);
  if (groups.length > 0) throw invalid(`The revision targets an unknown saved group: ${quotedList(groups)}.`);
  const namespaces = added(namespacesOf(restored), namespacesOf(now)).filter(
    (namespace) => states.get(namespaceKind, namespace) === null,
  );
  if (namespaces.length > 0) {
    throw invalid(`The revision has an experiment in an unknown namespace: ${quotedList(namespaces)}.`);
  }
}

/** What was not there before. */
const added = <Item>(items: readonly Item[], before: readonly Item[] = []): Item[] =>
  items.filter((item) => !before.some((known) => isDeepStrictEqual(known, item)));
