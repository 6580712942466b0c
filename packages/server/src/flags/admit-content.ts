import { isDeepStrictEqual } from 'node:util';
import type { FeatureRuleInput } from '@halyard/contract';
import { resolveOwner } from '../access/index.ts';
import { admitCustomFields, type CustomFieldValues, requireProjects, settingsOf } from '../organization/index.ts';
import { invalid } from '../platform/index.ts';
import { personOf, type StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import type { FeatureContent, StoredRule } from './feature.ts';
import { normalDefault, withNormalValues } from './feature-values.ts';
import { checkPrerequisites, mustBeTrue, refuseCycle } from './prerequisites.ts';
import { checkTargeting, effectiveTargeting, type ProjectTargeting } from './project-targeting.ts';
import { admitRules } from './rules.ts';
import { requireEnvironments } from './scope.ts';
import { showRule } from './show.ts';
import type { FeatureTools } from './tools.ts';
import { refuseUnknownReferences, type UnknownReferences } from './unknown-references.ts';
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
  readonly environments?: Readonly<Record<string, { readonly enabled?: boolean | undefined }>> | undefined;
  readonly rules?: readonly FeatureRuleInput[] | undefined;
  /** Ids of features whose value must be true. */
  readonly prerequisites?: readonly string[] | undefined;
  readonly jsonSchema?: string | undefined;
  /** All of them: those that are left out are gone. */
  readonly customFields?: CustomFieldValues | undefined;
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
  const project = admitProject(asked, before, admission);
  const targeting = admitTargeting(asked, project, before, admission);
  const owner = admitOwner(asked, before, admission);
  const customFields = admitFieldValues(asked, project, before, admission);
  refuseUnknownReferences(asked);
  const { customFields: _customFields, ...kept } = before;
  const { defaultValue, valueType } = before;
  const content: FeatureContent = {
    ...kept,
    archived: asked.archived ?? before.archived,
    description: asked.description ?? before.description,
    owner,
    project,
    ...targeting,
    tags: asked.tags === undefined ? before.tags : [...new Set(asked.tags)],
    defaultValue: asked.defaultValue === undefined ? defaultValue : normalDefault(valueType, asked.defaultValue),
    environments: admitSwitches(asked, before),
    rules: admitRuleList(asked, project, before, admission),
    prerequisites: admitPrerequisites(asked, before, admission),
    jsonSchema: await admitSchema(asked, before, admission),
    ...(Object.keys(customFields).length === 0 ? {} : { customFields }),
  };
  refuseCycle(feature, content, states);
  return content;
}

function admitProject(
  { project: asked }: AskedContent,
  before: FeatureContent,
  { isNew, states }: ContentAdmission,
): string {
  const project = asked ?? before.project;
  if (!isNew && project === before.project) return project;
  if (project !== '') requireProjects(states, [project]);
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
  requireProjects(states, targeting.targetingProjects, before.targetingProjects);
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

function admitSwitches({ environments = {} }: AskedContent, before: FeatureContent): FeatureContent['environments'] {
  const sent = Object.entries(environments).flatMap(([id, { enabled }]) =>
    enabled === undefined ? [] : [[id, { enabled }] as const],
  );
  return { ...before.environments, ...Object.fromEntries(sent) };
}

function admitRuleList(
  { rules: asked }: AskedContent,
  project: string,
  before: FeatureContent,
  { feature, states, requester, tools }: ContentAdmission,
): readonly StoredRule[] {
  if (asked === undefined) return before.rules;
  const admitted = admitRules(asked, { ...tools, feature, project, stored: before.rules, states, requester });
  const rules = withNormalValues(admitted, before.valueType, tools.kinds);
  // A list that reads the same is the same, also where rules of old leave out what newer ones spell out.
  const shown = (list: readonly StoredRule[]) => list.map((rule) => showRule(rule, feature, tools.kinds));
  return isDeepStrictEqual(shown(rules), shown(before.rules)) ? before.rules : rules;
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
