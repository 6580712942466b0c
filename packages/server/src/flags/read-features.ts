import type {
  Feature,
  getFeatureKeys,
  getFeature as getOperation,
  listFeatures as listOperation,
  ResponseOf,
} from '@halyard/contract';
import type { Call } from '../http/index.ts';
import { projectKind } from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import {
  deliveryProjects,
  type FeatureContent,
  featureKind,
  featureRevisionKind,
  type LiveFeature,
  seenIn,
} from './feature.ts';
import { showFeature, showRevision } from './show.ts';
import { type FeatureTools, findFeature, showContext } from './tools.ts';

/** The features the caller may see, oldest first. */
const visible = (call: Call): LiveFeature[] =>
  call.visible(call.requester.states.all(featureKind), ({ state }) => seenIn(state));

/** Those of a project: its own and those targeted at it; none where the caller cannot see the project. */
function ofProject(call: Call, features: readonly LiveFeature[], projectId: string | undefined): LiveFeature[] {
  if (projectId === undefined) return [...features];
  const known = call.requester.states.get(projectKind, projectId) !== null && call.sees([projectId]);
  return features.filter(({ state }) => known && (deliveryProjects(state)?.has(projectId) ?? true));
}

export async function listFeatures(
  call: Call<typeof listOperation>,
  tools: FeatureTools,
): Promise<ResponseOf<typeof listOperation>> {
  const { query, requester } = call;
  const delivered = query.clientKey === undefined ? null : await deliveredTo(call, query.clientKey, tools);
  const matching = ofProject(call, visible(call), query.projectId)
    .filter(({ state }) => query.archived || !state.archived)
    .filter(({ id }) => delivered === null || delivered.has(id));
  const { items, fields } = tools.paginate(matching, query);
  const context = showContext(tools, requester, requester.states);
  return { features: items.map((live): Feature => showFeature(live, context)), ...fields };
}

async function deliveredTo(
  call: Call,
  clientKey: string,
  { deliveredFeatures }: FeatureTools,
): Promise<ReadonlySet<string>> {
  const delivered = await deliveredFeatures(call, clientKey);
  if (delivered === null) throw invalid(`Unknown SDK connection ${quoted(clientKey)} in clientKey.`);
  return delivered;
}

export async function getFeature(
  call: Call<typeof getOperation>,
  tools: FeatureTools,
): Promise<ResponseOf<typeof getOperation>> {
  const { organization, states } = call.requester;
  const live = findFeature(call, states, call.params.id);
  const feature = showFeature(live, showContext(tools, call.requester, states));
  const wanted = call.query.withRevisions ?? 'none';
  if (wanted === 'none') return { feature };
  const revisions = await tools.revisions.list<FeatureContent>(organization, featureRevisionKind, live.id);
  const status = { all: null, drafts: 'draft', published: 'published' }[wanted];
  const shown = revisions.filter((revision) => status === null || revision.status === status);
  return { feature: { ...feature, revisions: shown.map((revision) => showRevision(live.id, revision, tools.kinds)) } };
}

/** Ids of the features that are not archived. */
export const listFeatureKeys = (call: Call<typeof getFeatureKeys>): string[] =>
  ofProject(call, visible(call), call.query.projectId)
    .filter(({ state }) => !state.archived)
    .map(({ id }) => id);
