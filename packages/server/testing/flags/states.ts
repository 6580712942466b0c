import {
  type FeatureContent,
  type FeatureState,
  type ForceRule,
  featureKind,
  type InlineExperimentRule,
  type RolloutRule,
  type RuleBase,
  type StoredRule,
} from '../../src/flags/feature.ts';
import { nextBoundary } from '../../src/flags/schedule.ts';
import {
  type EnvironmentState,
  environmentKind,
  type ProjectState,
  projectKind,
  type StoredSettings,
  settingsId,
  settingsKind,
} from '../../src/organization/index.ts';
import { type Live, LiveObjects, liveAfter, type OrganizationStates, type StateKind } from '../../src/record/index.ts';
import {
  type AttributeState,
  attributeKind,
  type SavedGroupContent,
  type SavedGroupState,
  savedGroupKind,
} from '../../src/targeting/index.ts';

/** What of an organization a test says; the rest is as it is from the start. */
export interface StatesInput {
  readonly environments?: Readonly<Record<string, Partial<EnvironmentState>>>;
  readonly projects?: Readonly<Record<string, Partial<ProjectState>>>;
  readonly attributes?: Readonly<Record<string, AttributeState>>;
  readonly settings?: StoredSettings;
  readonly savedGroups?: Readonly<Record<string, Partial<SavedGroupContent>>>;
  readonly features?: Readonly<Record<string, Partial<FeatureContent>>>;
  readonly version?: number;
  readonly instant?: string;
}

const start = '2026-01-31T09:00:00.000Z';

/** The states of an organization, without a database. */
export function statesOf(input: StatesInput = {}): OrganizationStates {
  const { version = 1, instant = start } = input;
  const states: OrganizationStates = {
    organization: 'org_test',
    at: { version, instant: new Date(instant) },
    kinds: new Map(),
  };
  const environments = input.environments ?? { production: {} };
  for (const [id, state] of Object.entries(environments)) {
    put(states, environmentKind, id, {
      description: '',
      toggleOnList: false,
      defaultState: true,
      projects: [],
      ...state,
    });
  }
  for (const [id, state] of Object.entries(input.projects ?? {})) put(states, projectKind, id, { name: id, ...state });
  for (const [id, state] of Object.entries(input.attributes ?? {})) put(states, attributeKind, id, state);
  put(states, settingsKind, settingsId, input.settings ?? {});
  for (const [id, content] of Object.entries(input.savedGroups ?? {})) {
    put(states, savedGroupKind, id, savedGroupState(content));
  }
  for (const [id, content] of Object.entries(input.features ?? {})) {
    put(states, featureKind, id, featureState(content, Object.keys(environments), states.at.instant));
  }
  return states;
}

let lastOrdinal = 0;

/** Puts one state among the others, as a landing does; what is new comes last. */
export function put<State>(states: OrganizationStates, kind: StateKind<State>, id: string, state: State): Live<State> {
  const ofKind = states.kinds.get(kind.name) ?? new LiveObjects();
  states.kinds.set(kind.name, ofKind);
  const before = (ofKind.get(id) as Live<State> | undefined) ?? null;
  const live = { ...liveAfter(kind, id, before, state, states.at), ordinal: before?.ordinal ?? ++lastOrdinal };
  ofKind.set(id, live);
  return live;
}

/** A list of ids; a condition where one is given. */
export const savedGroupState = (content: Partial<SavedGroupContent>): SavedGroupState => ({
  type: content.condition === undefined ? 'list' : 'condition',
  name: 'group',
  owner: '',
  description: '',
  projects: [],
  archived: false,
  condition: '',
  attributeKey: content.condition === undefined ? 'id' : '',
  values: [],
  useEmptyListGroup: true,
  ...content,
  revision: { id: 'rev_1', version: 1, comment: '', createdBy: { type: 'system' }, publishedBy: { type: 'system' } },
});

/** A boolean feature that is on everywhere, unless told otherwise. */
export function featureState(
  content: Partial<FeatureContent>,
  environments: readonly string[],
  now: Date,
): FeatureState {
  const rules = content.rules ?? [];
  return {
    valueType: 'boolean',
    archived: false,
    description: '',
    owner: '',
    project: '',
    targetingAllProjects: false,
    targetingProjects: [],
    tags: [],
    defaultValue: 'false',
    environments: Object.fromEntries(environments.map((id) => [id, { enabled: true }])),
    prerequisites: [],
    jsonSchema: null,
    neverStale: false,
    ...content,
    rules,
    revision: { id: 'frev_1', version: 1, comment: '', createdBy: { type: 'system' }, publishedBy: { type: 'system' } },
    nextScheduledUpdate: nextBoundary(rules, now),
  };
}

const base: RuleBase = {
  id: 'fr_1',
  description: '',
  condition: '',
  enabled: true,
  scheduleRules: [],
  savedGroupTargeting: [],
  prerequisites: [],
  allEnvironments: true,
  environments: [],
  allProjects: true,
  projects: [],
};

export const force = (more: Partial<ForceRule> = {}): StoredRule => ({
  ...base,
  type: 'force',
  value: 'true',
  ...more,
});

export const rollout = (more: Partial<RolloutRule> = {}): StoredRule => ({
  ...base,
  type: 'rollout',
  value: 'true',
  coverage: 0.5,
  hashAttribute: 'id',
  seed: 'fr_1',
  hashVersion: 2,
  ...more,
});

export const inlineExperiment = (more: Partial<InlineExperimentRule> = {}): StoredRule => ({
  ...base,
  type: 'experiment',
  trackingKey: 'exp',
  hashAttribute: 'id',
  values: [
    { value: 'false', weight: 0.5 },
    { value: 'true', weight: 0.5 },
  ],
  ...more,
});
