import { isDeepStrictEqual } from 'node:util';
import { environmentsOf } from '../organization/index.ts';
import { changesBetween, type EventDraft, previousAttributes, type StateReader } from '../record/index.ts';
import type { Revision } from '../revisions/index.ts';
import { changedFields, isToldEverywhere } from './content-fields.ts';
import { contentOf, type FeatureContent, type LiveFeature } from './feature.ts';
import { environmentView, rulesByEnvironment, servingEnvironments } from './scope.ts';
import { type Seen, type ShowContext, showFeatureV1, showRevisionV1 } from './show.ts';

/** Fields whose change is none that a subscriber waits for. */
const ignored = new Set(['dateUpdated', 'date', 'definition', 'savedGroups']);

const projectsOf = (...features: readonly LiveFeature[]) => [
  ...new Set(features.flatMap(({ state }) => [state.project, ...state.targetingProjects]).filter((id) => id !== '')),
];
const tagsOf = (...features: readonly LiveFeature[]) => [...new Set(features.flatMap(({ state }) => state.tags))];

const common = (event: string, live: LiveFeature) => ({ event, object: 'feature', objectId: live.id });

export function featureCreated(live: LiveFeature, context: ShowContext): EventDraft {
  return {
    ...common('feature.created', live),
    data: { object: showFeatureV1(live, context) },
    projects: projectsOf(live),
    tags: tagsOf(live),
    environments: servingEnvironments(live.state, environmentsOf(context.states)),
  };
}

export function featureDeleted(live: LiveFeature, context: ShowContext): EventDraft {
  return {
    ...common('feature.deleted', live),
    data: { object: showFeatureV1(live, context) },
    projects: projectsOf(live),
    tags: tagsOf(live),
    environments: environmentsOf(context.states).map(({ id }) => id),
  };
}

/**
 * What is told of an update: that its revision was published, and what it changed.
 *
 * @param revertedTo the version whose content the revision restores; null: none
 */
export function featureUpdated(from: Seen, to: Seen, revertedTo: number | null): EventDraft[] {
  const { live: before } = from;
  const { live: after, context } = to;
  const old = showFeatureV1(before, from.context);
  const fresh = showFeatureV1(after, context);
  const changes = changesBetween(old, fresh, ignored);
  const routing = { projects: projectsOf(before, after), tags: tagsOf(before, after) };
  const environments = affected(before.state, after.state, context.states);
  const revision = showRevisionV1(after.id, publishedRevision(before, after), context);
  const ofRevision = (event: string, object: object): EventDraft => ({
    ...common(event, after),
    data: { object },
    ...routing,
    environments,
  });
  const published = [
    ...(revertedTo === null
      ? []
      : [ofRevision('feature.revision.reverted', { ...revision, revertedToVersion: revertedTo })]),
    ofRevision('feature.revision.published', revision),
  ];
  if (changes === null) return published;
  const updated: EventDraft = {
    ...common('feature.updated', after),
    data: { object: fresh, previous_attributes: previousAttributes(old, fresh, ignored), changes },
    ...routing,
    environments,
  };
  return [...published, updated];
}

/** A draft begins: what it would change is told, of the environments that it differs in. */
export function draftCreated(live: LiveFeature, draft: Revision<FeatureContent>, context: ShowContext): EventDraft {
  return {
    ...common('feature.revision.created', live),
    data: { object: showRevisionV1(live.id, draft, context) },
    projects: projectsOf(live),
    tags: tagsOf(live),
    environments: differing(live.state, draft.content, context.states),
  };
}

const publishedRevision = (before: LiveFeature, { state, dateUpdated }: LiveFeature): Revision<FeatureContent> => ({
  ...state.revision,
  baseVersion: before.state.revision.version,
  status: 'published',
  content: contentOf(state),
  dateUpdated,
  datePublished: dateUpdated,
});

/** Environments whose switch or rules changed and which are on before or after; for what concerns all, all. */
function affected(before: FeatureContent, after: FeatureContent, states: StateReader): string[] {
  const environments = environmentsOf(states);
  if (changedFields(before, after).some(isToldEverywhere)) return environments.map(({ id }) => id);
  const [old, fresh] = [environmentView(before, environments), environmentView(after, environments)];
  return differing(before, after, states).filter((id) => old.isOn(id) || fresh.isOn(id));
}

/** Environments whose switch or rules differ. */
function differing(before: FeatureContent, after: FeatureContent, states: StateReader): string[] {
  const environments = environmentsOf(states);
  const [old, fresh] = [environmentView(before, environments), environmentView(after, environments)];
  const [oldRules, freshRules] = [rulesByEnvironment(before, environments), rulesByEnvironment(after, environments)];
  return environments
    .map(({ id }) => id)
    .filter((id) => old.isOn(id) !== fresh.isOn(id) || !isDeepStrictEqual(oldRules(id), freshRules(id)));
}
