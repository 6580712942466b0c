import type { Feature, FeatureRevision, FeatureRule, FeatureRuleV1, FeatureV1 } from '@halyard/contract';
import { ownerEmail } from '../access/index.ts';
import { environmentsOf } from '../organization/index.ts';
import { actorText, eventUserOf, type StateReader } from '../record/index.ts';
import type { Directory } from '../requester/index.ts';
import type { LiveRevision, Revision } from '../revisions/index.ts';
import type { FeatureContent, LiveFeature, StoredRule } from './feature.ts';
import { type PayloadCompiler, payloadCompiler } from './payload/compile.ts';
import { definitionOptions } from './payload/options.ts';
import type { RuleKinds } from './rule-kinds.ts';
import { type EnvironmentView, environmentView } from './scope.ts';
import { valueReader } from './values.ts';

/** What answers and events about features need beside the features. */
export interface ShowContext {
  readonly states: StateReader;
  readonly kinds: RuleKinds;
  readonly members: Directory;
  /** Compiles what an environment serves; one for each is kept, since features share what they look at. */
  compiler(environment: string): PayloadCompiler;
}

/** A feature with the states that it is seen among: what answers in either shape are made from. */
export interface Seen {
  readonly live: LiveFeature;
  readonly context: ShowContext;
}

export function showContext(
  { kinds }: Pick<ShowContext, 'kinds'>,
  { members }: Pick<ShowContext, 'members'>,
  states: StateReader,
): ShowContext {
  const compilers = new Map<string, PayloadCompiler>();
  const read = valueReader();
  return {
    states,
    kinds,
    members,
    compiler(environment) {
      const known = compilers.get(environment) ?? payloadCompiler(states, kinds, definitionOptions(environment), read);
      compilers.set(environment, known);
      return known;
    },
  };
}

/** A feature in the v2 shape. */
export function showFeature(live: LiveFeature, context: ShowContext): Feature {
  const { id, state, dateUpdated } = live;
  const views = environmentViews(live, context);
  return {
    ...shownFields(live, context),
    rules: state.rules.map((rule) => showRule(rule, id, context.kinds)),
    environments: Object.fromEntries(views.map(({ environment, shown }) => [environment, shown])),
    revision: {
      ...summary(state.revision, dateUpdated),
      createdBy: eventUserOf(state.revision.createdBy),
      publishedBy: eventUserOf(state.revision.publishedBy),
    },
  };
}

/** A feature in the v1 shape: rules by environment, people as text. */
export function showFeatureV1(live: LiveFeature, context: ShowContext): FeatureV1 {
  const { id, state, dateUpdated } = live;
  const environments = environmentViews(live, context).map(({ environment, shown, view }) => {
    const rules = state.rules.filter((rule) => view.applies(rule, environment));
    return [environment, { ...shown, rules: rules.map((rule) => showRuleV1(rule, id, context.kinds)) }] as const;
  });
  return {
    ...shownFields(live, context),
    environments: Object.fromEntries(environments),
    revision: {
      ...summary(state.revision, dateUpdated),
      createdBy: actorText(state.revision.createdBy),
      publishedBy: actorText(state.revision.publishedBy),
    },
  };
}

const summary = ({ id, version, comment }: LiveRevision, date: Date) => ({
  id,
  version,
  comment,
  date: date.toISOString(),
});

function shownFields({ id, state, dateCreated, dateUpdated }: LiveFeature, { members }: ShowContext) {
  const { owner } = state;
  return {
    id,
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
    archived: state.archived,
    description: state.description,
    owner,
    ...ownerEmail(members, owner),
    project: state.project,
    targetingAllProjects: state.targetingAllProjects,
    targetingProjects: [...state.targetingProjects],
    valueType: state.valueType,
    defaultValue: state.defaultValue,
    tags: [...state.tags],
    prerequisites: state.prerequisites.map((prerequisite) => prerequisite.id),
    customFields: { ...state.customFields },
  };
}

/** Every environment of the organization, also those the feature has no switch for. */
function environmentViews({ id, state }: LiveFeature, { states, compiler }: ShowContext) {
  const environments = environmentsOf(states);
  const view = environmentView(state, environments);
  return environments.map(({ id: environment }) => {
    const enabled = view.isOn(environment);
    const definition = enabled && !state.archived ? compiler(environment).feature(id) : null;
    const shown = {
      enabled,
      defaultValue: state.defaultValue,
      ...(definition === null ? {} : { definition: JSON.stringify(definition) }),
    };
    return { environment, shown, view };
  });
}

const shownSavedGroups = ({ savedGroupTargeting }: StoredRule) =>
  savedGroupTargeting.map((entry) => ({ ...entry, savedGroups: [...entry.savedGroups] }));

function shownRule(rule: StoredRule, feature: string, kinds: RuleKinds) {
  const scheduleType = rule.scheduleType ?? (rule.scheduleRules.length === 0 ? 'none' : 'schedule');
  return {
    id: rule.id,
    type: rule.type,
    description: rule.description,
    condition: rule.condition,
    enabled: rule.enabled,
    scheduleRules: rule.scheduleRules.map((entry) => ({ ...entry })),
    scheduleType,
    ...(rule.type === 'experiment' && rule.savedGroupTargeting.length === 0
      ? {}
      : { savedGroupTargeting: shownSavedGroups(rule) }),
    prerequisites: rule.prerequisites.map((prerequisite) => ({ ...prerequisite })),
    allProjects: rule.allProjects,
    ...(rule.allProjects ? {} : { projects: [...rule.projects] }),
    ...kinds.get(rule.type)?.show(rule, feature),
  };
}

/** A rule in the v2 shape, with its scope. */
export const showRule = (rule: StoredRule, feature: string, kinds: RuleKinds): FeatureRule =>
  ({
    ...shownRule(rule, feature, kinds),
    allEnvironments: rule.allEnvironments,
    ...(rule.allEnvironments ? {} : { environments: [...rule.environments] }),
  }) as FeatureRule;

/** A rule in the v1 shape, listed under each environment it applies to. */
const showRuleV1 = (rule: StoredRule, feature: string, kinds: RuleKinds): FeatureRuleV1 =>
  shownRule(rule, feature, kinds) as FeatureRuleV1;

function metadataOf(content: FeatureContent): NonNullable<FeatureRevision['metadata']> {
  const { jsonSchema } = content;
  return {
    description: content.description,
    owner: content.owner,
    project: content.project,
    targetingAllProjects: content.targetingAllProjects,
    targetingProjects: [...content.targetingProjects],
    tags: [...content.tags],
    neverStale: content.neverStale,
    valueType: content.valueType,
    ...(jsonSchema === null ? {} : { jsonSchema: { ...jsonSchema, simple: { ...jsonSchema.simple } } }),
    customFields: { ...content.customFields },
  };
}

function revisionFields(feature: string, { content, ...revision }: Revision<FeatureContent>) {
  return {
    id: revision.id,
    featureId: feature,
    baseVersion: revision.baseVersion,
    version: revision.version,
    comment: revision.comment,
    date: (revision.datePublished ?? revision.dateUpdated).toISOString(),
    status: revision.status,
    defaultValue: content.defaultValue,
    environmentsEnabled: Object.fromEntries(
      Object.entries(content.environments).map(([id, { enabled }]) => [id, enabled]),
    ),
    metadata: metadataOf(content),
  };
}

/** A revision in the v2 shape. */
export function showRevision(feature: string, revision: Revision<FeatureContent>, kinds: RuleKinds): FeatureRevision {
  return {
    ...revisionFields(feature, revision),
    createdBy: eventUserOf(revision.createdBy),
    ...(revision.publishedBy === null ? {} : { publishedBy: eventUserOf(revision.publishedBy) }),
    rules: revision.content.rules.map((rule) => showRule(rule, feature, kinds)),
    prerequisites: revision.content.prerequisites.map(({ id }) => ({ id })),
  };
}

/** A revision in the v1 shape, as events carry it. */
export function showRevisionV1(
  feature: string,
  revision: Revision<FeatureContent>,
  { states, kinds }: Pick<ShowContext, 'states' | 'kinds'>,
) {
  const { content } = revision;
  const environments = environmentsOf(states);
  const view: EnvironmentView = environmentView(content, environments);
  return {
    ...revisionFields(feature, revision),
    createdBy: actorText(revision.createdBy),
    publishedBy: actorText(revision.publishedBy),
    rules: Object.fromEntries(
      environments.map(({ id }) => [
        id,
        content.rules.filter((rule) => view.applies(rule, id)).map((rule) => showRuleV1(rule, feature, kinds)),
      ]),
    ),
    prerequisites: content.prerequisites.map((prerequisite) => ({ ...prerequisite })),
  };
}
