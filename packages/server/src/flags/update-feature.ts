import { isDeepStrictEqual } from 'node:util';
import type { BodyOf, updateFeature as updateOperation } from '@halyard/contract';
import { resolveOwner } from '../access/index.ts';
import { requireProjects, settingsOf } from '../organization/index.ts';
import { invalid } from '../platform/index.ts';
import type { StateReader, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import type { Gate } from '../revisions/index.ts';
import { checkAddedProjects, checkTargeting, effectiveTargeting, refuseUnknownReferences } from './admission.ts';
import { type DirectWrite, type FeatureWrite, inProject, type Wanted, writeDirectly } from './direct-write.ts';
import { contentOf, type FeatureContent, type LiveFeature, type StoredRule } from './feature.ts';
import { checkAgainstSchema, normalDefault, sentence, withNormalValues } from './feature-values.ts';
import { changedFields } from './footprint.ts';
import { checkPrerequisites, countDependents, mustBeTrue, refuseCycle } from './prerequisites.ts';
import { admitRules } from './rules.ts';
import { requireEnvironments } from './scope.ts';
import { showRule } from './show.ts';
import type { FeatureTools } from './tools.ts';
import { readSchema } from './value-schema.ts';

/** What is asked to change of a feature. */
export type FeaturePatch = Omit<
  BodyOf<typeof updateOperation>,
  'ignoreWarnings' | 'skipSchemaValidation' | 'skipHooks'
>;

/** Changes what the patch names and publishes the change; what it leaves out stays. */
export function updateFeature(
  requester: Requester,
  id: string,
  patch: FeaturePatch,
  flags: DirectWrite['flags'],
  tools: FeatureTools,
): Promise<Written<FeatureWrite>> {
  return writeDirectly(requester, id, { event: 'feature.update', flags }, tools, async (live, states) => {
    const where = inProject(live.state.project);
    demand(requester, 'editFeatureDrafts', where);
    // What exactly must be allowed is known once the change is; who may land nothing at all is told before it is judged.
    if (reachesSdks(patch)) demand(requester, 'publishFeatures', where);
    const content = await patched(requester, patch, live, states, tools);
    return wanted(requester, patch, live, content, flags.skipSchemaValidation, states, tools);
  });
}

/** Whether the body names something that SDKs get to feel. */
const reachesSdks = (body: FeaturePatch): boolean =>
  [
    body.defaultValue,
    body.rules,
    body.environments,
    body.prerequisites,
    body.project,
    body.targetingAllProjects,
    body.targetingProjects,
    body.jsonSchema,
  ].some((field) => field !== undefined) || body.archived === false;

/** The content that the body asks for. */
async function patched(
  requester: Requester,
  body: FeaturePatch,
  live: LiveFeature,
  states: StateReader,
  tools: FeatureTools,
): Promise<FeatureContent> {
  const before = contentOf(live.state);
  const project = body.project ?? before.project;
  if (project !== before.project) moveTo(requester, before.project, project, states);
  const targeting = effectiveTargeting(project, { ...before, ...definedTargeting(body) });
  checkAddedProjects(states, targeting.targetingProjects, before.targetingProjects);
  checkTargeting(requester, targeting, before);
  requireEnvironments(states, Object.keys(body.environments ?? {}), 'environments');
  refuseUnknownReferences(body);

  return {
    ...before,
    archived: body.archived ?? before.archived,
    description: body.description ?? before.description,
    owner: patchedOwner(requester, body.owner, before.owner),
    project,
    ...targeting,
    tags: body.tags === undefined ? before.tags : [...new Set(body.tags)],
    defaultValue:
      body.defaultValue === undefined ? before.defaultValue : normalDefault(before.valueType, body.defaultValue),
    environments: patchedSwitches(body, before),
    rules: patchedRules(requester, body.rules, live.id, project, before, states, tools),
    prerequisites: patchedPrerequisites(requester, body.prerequisites, live.id, before, states, tools),
    jsonSchema: await patchedSchema(body, before, tools),
  };
}

const definedTargeting = ({ targetingAllProjects, targetingProjects }: FeaturePatch) => ({
  ...(targetingAllProjects === undefined ? {} : { targetingAllProjects }),
  ...(targetingProjects === undefined ? {} : { targetingProjects }),
});

function moveTo(requester: Requester, from: string, to: string, states: StateReader): void {
  if (to !== '') requireProjects(states, [to]);
  demand(requester, 'editFeatureDrafts', inProject(to));
  if (to === '' && from !== '' && settingsOf(states).requireProjectForFeatures) {
    throw invalid('The organization requires a project for every feature: it cannot be taken away.');
  }
}

/** Text of old that names no member may be sent back as it is. */
function patchedOwner({ members }: Requester, owner: string | undefined, before: string): string {
  return owner === undefined || owner === before ? before : resolveOwner(members, owner);
}

function patchedSwitches({ environments = {} }: FeaturePatch, before: FeatureContent): FeatureContent['environments'] {
  const sent = Object.entries(environments).flatMap(([id, { enabled }]) =>
    enabled === undefined ? [] : [[id, { enabled }]],
  );
  return { ...before.environments, ...Object.fromEntries(sent) };
}

function patchedRules(
  requester: Requester,
  inputs: FeaturePatch['rules'],
  feature: string,
  project: string,
  before: FeatureContent,
  states: StateReader,
  tools: FeatureTools,
): readonly StoredRule[] {
  if (inputs === undefined) return before.rules;
  const maySee = (projects: readonly string[] | null) => requester.maySee(projects);
  const admitted = admitRules(inputs, { ...tools, feature, project, stored: before.rules, states, maySee });
  const rules = withNormalValues(admitted, before.valueType, tools.kinds);
  // A list that reads the same is the same, also where rules of old leave out what newer ones spell out.
  const shown = (list: readonly StoredRule[]) => list.map((rule) => showRule(rule, feature, tools.kinds));
  return isDeepStrictEqual(shown(rules), shown(before.rules)) ? before.rules : rules;
}

function patchedPrerequisites(
  requester: Requester,
  ids: FeaturePatch['prerequisites'],
  feature: string,
  before: FeatureContent,
  states: StateReader,
  { entitlements }: FeatureTools,
): FeatureContent['prerequisites'] {
  if (
    ids === undefined ||
    isDeepStrictEqual(
      ids,
      before.prerequisites.map(({ id }) => id),
    )
  )
    return before.prerequisites;
  // One that is there already keeps its condition: the body cannot express it.
  const prerequisites = ids.map((id) => before.prerequisites.find((known) => known.id === id) ?? mustBeTrue(id));
  const fresh = prerequisites.filter((prerequisite) => !before.prerequisites.includes(prerequisite));
  if (fresh.length > 0) entitlements.require('prerequisites');
  checkPrerequisites(fresh, {
    feature,
    place: 'the feature',
    states,
    maySee: (projects) => requester.maySee(projects),
  });
  return prerequisites;
}

async function patchedSchema(
  { jsonSchema }: FeaturePatch,
  before: FeatureContent,
  { entitlements, clock }: FeatureTools,
): Promise<FeatureContent['jsonSchema']> {
  // On a boolean feature a schema has no effect.
  if (jsonSchema === undefined || before.valueType === 'boolean') return before.jsonSchema;
  if (before.jsonSchema?.enabled === true && before.jsonSchema.schema === jsonSchema) return before.jsonSchema;
  if (jsonSchema !== '') entitlements.require('json-validation');
  return readSchema(before.valueType, jsonSchema, clock.now());
}

/** Checks the content as a whole and finds the gates that it meets. */
async function wanted(
  requester: Requester,
  body: FeaturePatch,
  live: LiveFeature,
  content: FeatureContent,
  skipsValidation: boolean,
  states: StateReader,
  { kinds }: FeatureTools,
): Promise<Wanted> {
  const before = contentOf(live.state);
  const changed = new Set(changedFields(before, content));
  refuseCycle(live.id, content, states);

  const gates: Gate[] = [];
  if (changed.has('defaultValue') || changed.has('rules') || changed.has('jsonSchema')) {
    const skips = skipsValidation && requester.may('bypassApprovalFeatures', { projects: [] });
    const sent = { default: !skips && body.defaultValue !== undefined, rules: !skips && body.rules !== undefined };
    const misfits = await checkAgainstSchema(content, kinds, sent);
    if (misfits.length > 0) gates.push(schemaGate(misfits.map(sentence), settingsOf(states).blockPublishOnSchemaError));
  }
  if (changed.has('archived') && content.archived) {
    const dependents = countDependents(live.id, states);
    if (dependents > 0) gates.push(dependentsGate(dependents));
  }
  return { content, gates };
}

const schemaGate = (messages: string[], blocks: boolean): Gate => ({
  type: 'schema-validation',
  severity: 'warning',
  messages,
  override: blocks ? 'skipSchemaValidation' : 'ignoreWarnings',
  requiresPermission: blocks ? 'bypassApprovalFeatures' : null,
  resolution: null,
});

/** Only counts: the caller may not be able to see them. */
const dependentsGate = (dependents: number): Gate => ({
  type: 'archive-dependents',
  severity: 'warning',
  messages: [
    dependents === 1
      ? 'Another feature has this one as a prerequisite and will serve nothing while it is archived.'
      : `${dependents} other features have this one as a prerequisite and will serve nothing while it is archived.`,
  ],
  override: 'ignoreWarnings',
  requiresPermission: null,
  resolution: null,
});
