import type { FeatureValueType } from '@halyard/contract';
import { environmentsOf, settingsOf } from '../organization/index.ts';
import type { StateReader, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { directWriteComment } from '../revisions/index.ts';
import { type AskedContent, admitContent, admitDraft } from './admit-content.ts';
import { inProject } from './direct-write.ts';
import type { FeatureContent } from './feature.ts';
import { checkNewId } from './feature-id.ts';
import { checkAgainstSchema } from './feature-values.ts';
import { liveFeature } from './find-feature.ts';
import { landFeatures } from './land-features.ts';
import { servingEnvironments } from './scope.ts';
import { type Seen, showContext } from './show.ts';
import type { FeatureTools } from './tools.ts';

/** What a new feature is asked to be. */
export interface NewFeature extends AskedContent {
  readonly id: string;
  readonly valueType: FeatureValueType;
  readonly defaultValue: string;
}

/** Creates a feature, live at once: its first version is a published revision. */
export async function createFeature(
  requester: Requester,
  input: NewFeature,
  flags: { readonly skipSchemaValidation: boolean },
  tools: FeatureTools,
): Promise<Written<Seen>> {
  const { id } = input;
  const { landed, result: after } = await tools.revisions.land(requester, async (states) => {
    const { content, draft } = await judge(requester, input, flags.skipSchemaValidation, states, tools);
    const record = { event: 'feature.create', comment: directWriteComment } as const;
    const { landing, after } = landFeatures(
      [{ id, before: null, content }],
      record,
      showContext(tools, requester, states),
      tools,
      draft === null ? [] : [{ id, before: null, content: draft }],
    );
    return { landing, result: after };
  });
  if (landed === null) throw new Error('A creation always lands.');
  const context = after(landed);
  return { landed, result: { live: liveFeature(id, context.states), context } };
}

/** Judges a creation, in the order in which a caller meets the refusals. */
async function judge(
  requester: Requester,
  input: NewFeature,
  skipsSchema: boolean,
  states: StateReader,
  tools: FeatureTools,
): Promise<{ content: FeatureContent; draft: FeatureContent | null }> {
  const beginning = beginningOf(input, states);
  const where = inProject(input.project ?? '');
  const on = Object.entries(beginning.environments).flatMap(([id, { enabled }]) => (enabled ? [id] : []));
  demand(requester, 'createFeatures', { ...where, environments: on });
  checkNewId(input.id, states, settingsOf(states));
  const admission = { feature: input.id, isNew: true, states, requester, tools };
  const content = await admitContent(input, beginning, admission);
  if (input.draft !== undefined) demand(requester, 'editFeatureDrafts', where);
  const draft = await admitDraft(input, content, admission);

  const skips = skipsSchema && requester.may('bypassApprovalFeatures', { projects: [] });
  if (!skips) {
    await checkAgainstSchema(requester.organization, content, tools.kinds, () => true);
    if (draft !== null) await checkAgainstSchema(requester.organization, draft, tools.kinds, () => true);
  }
  demand(requester, 'publishFeatures', {
    ...where,
    environments: servingEnvironments(content, environmentsOf(states)),
  });
  return { content, draft };
}

/** What a feature begins with. The switch in each environment: as the input says, else what the environment gives new features. */
function beginningOf({ valueType, defaultValue, environments = {} }: NewFeature, states: StateReader): FeatureContent {
  const sent = new Map(Object.entries(environments));
  const switches = environmentsOf(states).map(({ id, state }) => [
    id,
    { enabled: sent.get(id)?.enabled ?? state.defaultState },
  ]);
  return {
    valueType,
    archived: false,
    description: '',
    owner: '',
    project: '',
    targetingAllProjects: false,
    targetingProjects: [],
    tags: [],
    defaultValue,
    environments: Object.fromEntries(switches),
    rules: [],
    prerequisites: [],
    jsonSchema: null,
    neverStale: false,
  };
}
