import type { BodyOf, Feature, postFeature } from '@halyard/contract';
import { resolveOwner } from '../access/index.ts';
import { environmentsOf, registerTags, requireProjects, settingsOf } from '../organization/index.ts';
import { invalid, type Tx } from '../platform/index.ts';
import { personOf, readerWith, type StateReader, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import type { Landed } from '../revisions/index.ts';
import {
  checkAddedProjects,
  checkNewId,
  checkTargeting,
  effectiveTargeting,
  refuseUnknownReferences,
} from './admission.ts';
import { directWriteComment, inProject, landedFeature, revisedFeature } from './direct-write.ts';
import { featureCreated } from './events.ts';
import type { FeatureContent } from './feature.ts';
import { allMisfits, normalDefault, sentence, withNormalValues } from './feature-values.ts';
import { checkPrerequisites, mustBeTrue, refuseCycle } from './prerequisites.ts';
import { admitRules } from './rules.ts';
import { checkSchedule } from './schedule.ts';
import { requireEnvironments, servingEnvironments } from './scope.ts';
import { showFeature } from './show.ts';
import { type FeatureTools, showContext } from './tools.ts';
import { readSchema } from './value-schema.ts';

/** What a new feature is asked to be. */
export type NewFeature = Omit<BodyOf<typeof postFeature>, 'skipSchemaValidation'>;

/** Creates a feature, live at once: its first version is a published revision. */
export async function createFeature(
  requester: Requester,
  input: NewFeature,
  flags: { readonly skipSchemaValidation: boolean },
  tools: FeatureTools,
): Promise<Written<Feature>> {
  const { organization } = requester;
  const { id } = input;
  const now = tools.clock.now();

  const { landed, result } = await tools.revisions.land(requester, async (states) => {
    const content = await judge(requester, input, flags.skipSchemaValidation, states, tools);
    const show = (at: Landed) => {
      const live = landedFeature(id, content, null, at, now);
      return { live, context: showContext(tools, requester, readerWith(states, at, [live])) };
    };
    const landing = {
      revised: [revisedFeature(id, content, null, now, directWriteComment)],
      audit: [{ event: 'feature.create', entity: { object: 'feature', id, name: id }, post: content }],
      events: (at: Landed) => [featureCreated(show(at).live, show(at).context)],
      also: (tx: Tx) => registerTags(tx, organization, content.tags),
    };
    return { landing, result: show };
  });

  if (landed === null) throw new Error('A creation always lands.');
  const { live, context } = result(landed);
  return { landed, result: showFeature(live, context) };
}

/** Judges a creation, in the order in which a caller meets the refusals. */
async function judge(
  requester: Requester,
  body: NewFeature,
  skipsSchema: boolean,
  states: StateReader,
  tools: FeatureTools,
): Promise<FeatureContent> {
  const settings = settingsOf(states);
  const project = body.project ?? '';
  const environments = startingSwitches(body, states);
  const on = Object.keys(environments).filter((id) => environments[id]?.enabled === true);

  demand(requester, 'createFeatures', { ...inProject(project), environments: on });
  checkNewId(body.id, states, settings);
  requireEnvironments(states, Object.keys(body.environments ?? {}), 'environments');
  for (const [index, rule] of (body.rules ?? []).entries())
    checkSchedule(rule.scheduleRules ?? [], `rule ${index + 1}`);
  if (settings.requireProjectForFeatures && project === '') {
    throw invalid('The organization requires a project for every feature: send the id of one in "project".');
  }
  if (project !== '') requireProjects(states, [project]);
  const targeting = effectiveTargeting(project, body);
  checkAddedProjects(states, targeting.targetingProjects);
  checkTargeting(requester, targeting, null);
  const owner = chosenOwner(requester, body.owner);
  refuseUnknownReferences(body);
  if (body.valueType === 'boolean' && body.jsonSchema !== undefined) {
    throw invalid('A boolean feature takes no jsonSchema: its values are true and false.');
  }
  if (body.jsonSchema !== undefined) tools.entitlements.require('json-validation');

  const maySee = (projects: readonly string[] | null) => requester.maySee(projects);
  const rules = admitRules(body.rules ?? [], { ...tools, feature: body.id, project, stored: [], states, maySee });
  const prerequisites = (body.prerequisites ?? []).map(mustBeTrue);
  if (prerequisites.length > 0) tools.entitlements.require('prerequisites');
  checkPrerequisites(prerequisites, { feature: body.id, place: 'the feature', states, maySee });

  const content: FeatureContent = {
    valueType: body.valueType,
    archived: body.archived ?? false,
    description: body.description ?? '',
    owner,
    project,
    ...targeting,
    tags: [...new Set(body.tags)],
    defaultValue: normalDefault(body.valueType, body.defaultValue),
    environments,
    rules: withNormalValues(rules, body.valueType, tools.kinds),
    prerequisites,
    jsonSchema:
      body.jsonSchema === undefined ? null : await readSchema(body.valueType, body.jsonSchema, tools.clock.now()),
    neverStale: false,
  };
  refuseCycle(body.id, content, states);

  if (!skipsSchema || !requester.may('bypassApprovalFeatures', { projects: [] })) {
    const misfits = await allMisfits(content, tools.kinds);
    if (misfits.length > 0) throw invalid(misfits.map(sentence).join('\n'));
  }
  demand(requester, 'publishFeatures', {
    ...inProject(project),
    environments: servingEnvironments(content, environmentsOf(states)),
  });
  return content;
}

/** The switch in each environment: as the body says, else what the environment gives new features. */
function startingSwitches(body: NewFeature, states: StateReader): FeatureContent['environments'] {
  const sent = new Map(Object.entries(body.environments ?? {}));
  return Object.fromEntries(
    environmentsOf(states).map(({ id, state }) => [id, { enabled: sent.get(id)?.enabled ?? state.defaultState }]),
  );
}

function chosenOwner({ actor, members }: Requester, owner: string | undefined): string {
  if (owner !== undefined) return resolveOwner(members, owner);
  const person = personOf(actor);
  if (person !== null) return person.id;
  throw invalid('The owner is required with a secret key: send the user id or e-mail of a member in "owner".');
}
