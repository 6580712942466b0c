import { isDeepStrictEqual } from 'node:util';
import type { FeatureRuleInput } from '@halyard/contract';
import { resolveOwner } from '../access/index.ts';
import {
  admitCustomFields,
  type CustomFieldValues,
  environmentsOf,
  requireProjects,
  settingsOf,
} from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import { personOf, type StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { changedFields } from './content-fields.ts';
import type { FeatureContent, StoredRule } from './feature.ts';
import { normalDefault, withNormalValues } from './feature-values.ts';
import { checkPrerequisites, mustBeTrue, refuseCycle } from './prerequisites.ts';
import { checkTargeting, effectiveTargeting, type ProjectTargeting } from './project-targeting.ts';
import { admitRuleList } from './rules.ts';
import { refuseLongGroups } from './saved-groups.ts';
import { requireEnvironments } from './scope.ts';
import { showRule } from './show.ts';
import { withSwitches } from './switches.ts';
import type { FeatureTools } from './tools.ts';
import { refuseUnknownReferences, type UnknownReferences } from './unknown-references.ts';
import { type AskedRuleLists, admitRuleLists, checkSchedules } from './v1/admit-rule-lists.ts';
import { readSchema } from './value-schema.ts';

/** What a request asks a feature to be: of a new one everything it says, of another what is to change. */
export interface AskedContent extends UnknownReferences {
  readonly archived?: boolean | undefined;
  readonly description?: string | undefined;
  readonly owner?: string | undefined;
  readonly project?: string | undefined;
  readonly targetingAllProjects?: boolean | undefined;
  readonly targetingProjects?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly defaultValue?: string | undefined;
  readonly environments?: Readonly<Record<string, AskedEnvironment>> | undefined;
  /** The whole list, as v2 has it. */
  readonly rules?: readonly FeatureRuleInput[] | undefined;
  /** The lists of some environments, as v1 has them. */
  readonly ruleLists?: AskedRuleLists | undefined;
  /** Ids of features whose value must be true. */
  readonly prerequisites?: readonly string[] | undefined;
  readonly jsonSchema?: string | undefined;
  /** All of them: those that are left out are gone. */
  readonly customFields?: CustomFieldValues | undefined;
  /** What is to wait as a draft beside what is asked. */
  readonly draft?: AskedDraft | undefined;
}

type AskedDraft = Pick<AskedContent, 'environments' | 'ruleLists'>;

interface AskedEnvironment {
  readonly enabled?: boolean | undefined;
  /** That of the feature, sent back as v1 shows it. */
  readonly defaultValue?: string | undefined;
}

/** What content is admitted with. */
export interface ContentAdmission {
  readonly feature: string;
  readonly isNew: boolean;
  readonly states: StateReader;
  readonly requester: Requester;
  readonly tools: FeatureTools;
}

/**
 * Takes in the content that a request asks for, in the order in which a caller meets the refusals. What it leaves out stays as
 * it is, and what is sent back as it is is not judged again.
 *
 * @param before the content as it is; of a new feature, what it begins with
 * @throws Refusal (invalid, forbidden)
 */
export async function admitContent(
  asked: AskedContent,
  before: FeatureContent,
  admission: ContentAdmission,
): Promise<FeatureContent> {
  const { feature, states } = admission;
  requireEnvironments(states, Object.keys(asked.environments ?? {}), 'environments');
  requireEnvironments(states, Object.keys(asked.draft?.environments ?? {}), 'environments');
  if (admission.isNew) {
    checkSchedules([...(asked.ruleLists ?? []), ...(asked.draft?.ruleLists ?? [])], admission.tools);
  }
  const project = admitProject(asked, before, admission);
  const targeting = admitTargeting(asked, project, before, admission);
  const owner = admitOwner(asked, before, admission);
  const customFields = admitFieldValues(asked, project, before, admission);
  refuseUnknownReferences(asked);
  const { customFields: _customFields, ...kept } = before;
  const placed: FeatureContent = {
    ...kept,
    archived: asked.archived ?? before.archived,
    description: asked.description ?? before.description,
    owner,
    project,
    ...targeting,
    tags: asked.tags === undefined ? before.tags : [...new Set(asked.tags)],
    defaultValue: admitDefault(asked, before),
    ...(Object.keys(customFields).length === 0 ? {} : { customFields }),
  };
  const content: FeatureContent = {
    ...admitRules(asked, admitSwitches(asked, placed, states), placed, admission),
    prerequisites: admitPrerequisites(asked, before, admission),
    jsonSchema: await admitSchema(asked, before, admission),
  };
  refuseCycle(feature, content, states);
  refuseLongGroups(content.rules, before.rules, states);
  return content;
}

/**
 * Takes in what waits as a draft beside the content that goes live.
 *
 * @returns null where nothing is to wait
 */
export async function admitDraft(
  { draft: asked }: AskedContent,
  content: FeatureContent,
  admission: ContentAdmission,
): Promise<FeatureContent | null> {
  if (asked === undefined) return null;
  const draft = await admitContent(asked, content, { ...admission, isNew: false });
  return changedFields(content, draft).length === 0 ? null : draft;
}

function admitProject(
  { project: asked }: AskedContent,
  before: FeatureContent,
  { isNew, states, requester }: ContentAdmission,
): string {
  const project = asked ?? before.project;
  if (!isNew && project === before.project) return project;
  if (project !== '') requireProjects(requester, states, [project]);
  else if (settingsOf(states).requireProjectForFeatures) {
    throw invalid(
      isNew
        ? 'The organization requires a project for every feature: send the id of one in "project".'
        : 'The organization requires a project for every feature: it cannot be taken away.',
    );
  }
  return project;
}

function admitTargeting(
  { targetingAllProjects, targetingProjects }: AskedContent,
  project: string,
  before: FeatureContent,
  { isNew, states, requester }: ContentAdmission,
): ProjectTargeting {
  const targeting = effectiveTargeting(project, {
    targetingAllProjects: targetingAllProjects ?? before.targetingAllProjects,
    targetingProjects: targetingProjects ?? before.targetingProjects,
  });
  requireProjects(requester, states, targeting.targetingProjects, before.targetingProjects);
  checkTargeting(requester, targeting, isNew ? null : before);
  return targeting;
}

/** Text of old that names no member may be sent back as it is. */
function admitOwner({ owner }: AskedContent, before: FeatureContent, { isNew, requester }: ContentAdmission): string {
  if (owner !== undefined && (isNew || owner !== before.owner)) return resolveOwner(requester.members, owner);
  if (!isNew) return before.owner;
  const person = personOf(requester.actor);
  if (person !== null) return person.id;
  throw invalid('The owner is required with a secret key: send the user id or e-mail of a member in "owner".');
}

function admitFieldValues(
  { customFields: asked }: AskedContent,
  project: string,
  before: FeatureContent,
  { isNew, states }: ContentAdmission,
): CustomFieldValues {
  const values = before.customFields ?? {};
  const known = isNew ? null : { project: before.project, values };
  return admitCustomFields(asked, { section: 'feature', project, before: known, states });
}

function admitDefault({ defaultValue, environments = {} }: AskedContent, before: FeatureContent): string {
  const fresh = defaultValue === undefined ? before.defaultValue : normalDefault(before.valueType, defaultValue);
  for (const [id, { defaultValue: sentBack = fresh }] of Object.entries(environments)) {
    if (sentBack !== fresh && sentBack !== before.defaultValue) {
      throw invalid(
        `The environment ${quoted(id)} has no default value of its own. Send "defaultValue" of the feature, or a rule in ${id}.`,
      );
    }
  }
  return fresh;
}

function admitSwitches(
  { environments = {} }: AskedContent,
  before: FeatureContent,
  states: StateReader,
): FeatureContent {
  const sent = Object.entries(environments).flatMap(([id, { enabled }]) =>
    enabled === undefined ? [] : [[id, enabled] as const],
  );
  return withSwitches(before, new Map(sent), environmentsOf(states));
}

/** @param before the feature without the switches that are asked for */
function admitRules(
  { rules, ruleLists }: AskedContent,
  content: FeatureContent,
  before: FeatureContent,
  { feature, states, requester, tools }: ContentAdmission,
): FeatureContent {
  const context = { ...tools, feature, states, requester };
  if (ruleLists !== undefined) return admitRuleLists(ruleLists, content, context);
  if (rules === undefined) return content;
  const { project, valueType } = content;
  const stored = before.rules;
  const admitted = withNormalValues(admitRuleList(rules, { ...context, project, stored }), valueType, tools.kinds);
  // A list that reads the same is the same, also where rules of old leave out what newer ones spell out.
  const shown = (list: readonly StoredRule[]) => list.map((rule) => showRule(rule, feature, tools.kinds));
  return isDeepStrictEqual(shown(admitted), shown(stored)) ? content : { ...content, rules: admitted };
}

function admitPrerequisites(
  { prerequisites: asked }: AskedContent,
  before: FeatureContent,
  { feature, states, requester, tools }: ContentAdmission,
): FeatureContent['prerequisites'] {
  const known = before.prerequisites.map(({ id }) => id);
  if (asked === undefined || isDeepStrictEqual(asked, known)) return before.prerequisites;
  // One that is there already keeps its condition: the body cannot express it.
  const prerequisites = [...new Set(asked)].map(
    (id) => before.prerequisites.find((kept) => kept.id === id) ?? mustBeTrue(id),
  );
  const fresh = prerequisites.filter((prerequisite) => !before.prerequisites.includes(prerequisite));
  if (fresh.length > 0) tools.entitlements.require('prerequisites');
  checkPrerequisites(fresh, { feature, place: 'the feature', states, requester });
  return prerequisites;
}

async function admitSchema(
  { jsonSchema }: AskedContent,
  before: FeatureContent,
  { isNew, requester, tools }: ContentAdmission,
): Promise<FeatureContent['jsonSchema']> {
  if (jsonSchema === undefined) return before.jsonSchema;
  if (before.valueType === 'boolean') {
    // On a boolean feature of old a schema has no effect.
    if (!isNew) return before.jsonSchema;
    throw invalid('A boolean feature takes no jsonSchema: its values are true and false.');
  }
  if (before.jsonSchema?.enabled === true && before.jsonSchema.schema === jsonSchema) return before.jsonSchema;
  if (jsonSchema !== '') tools.entitlements.require('json-validation');
  return readSchema(requester.organization, before.valueType, jsonSchema, tools.clock.now());
}
