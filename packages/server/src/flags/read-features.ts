import type {
  Feature,
  getFeature as getOperation,
  listFeatures as listOperation,
  QueryOf,
  ResponseOf,
} from '@halyard/contract';
import { seesProject } from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import { type Requester, visible } from '../requester/index.ts';
import {
  deliveryProjects,
  type FeatureContent,
  featureKind,
  featureRevisionKind,
  type LiveFeature,
  seenIn,
} from './feature.ts';
import { findFeature } from './find-feature.ts';
import { showContext, showFeature, showRevision } from './show.ts';
import type { FeatureTools } from './tools.ts';

/** The features the requester may see, oldest first. */
const visibleFeatures = (requester: Requester): LiveFeature[] =>
  visible(requester, requester.states.all(featureKind), ({ state }) => seenIn(state));

/** Those of a project: its own and those targeted at it; none where the requester cannot see the project. */
function ofProject(
  requester: Requester,
  features: readonly LiveFeature[],
  projectId: string | undefined,
): LiveFeature[] {
  if (projectId === undefined) return [...features];
  const known = seesProject(requester, projectId);
  return features.filter(({ state }) => known && (deliveryProjects(state)?.has(projectId) ?? true));
}

export async function listFeatures(
  requester: Requester,
  query: QueryOf<typeof listOperation>,
  tools: FeatureTools,
): Promise<ResponseOf<typeof listOperation>> {
  const delivered = query.clientKey === undefined ? null : await deliveredTo(requester, query.clientKey, tools);
  const matching = ofProject(requester, visibleFeatures(requester), query.projectId)
    .filter(({ state }) => query.archived || !state.archived)
    .filter(({ id }) => delivered === null || delivered.has(id));
  const { items, fields } = tools.paginate(matching, query);
  const context = showContext(tools, requester, requester.states);
  return { features: items.map((live): Feature => showFeature(live, context)), ...fields };
}

async function deliveredTo(
  requester: Requester,
  clientKey: string,
  { deliveredFeatures }: FeatureTools,
): Promise<ReadonlySet<string>> {
  const delivered = await deliveredFeatures(requester, clientKey);
  if (delivered === null) throw invalid(`Unknown SDK connection ${quoted(clientKey)} in clientKey.`);
  return delivered;
}

export async function getFeature(
  requester: Requester,
  id: string,
  wanted: QueryOf<typeof getOperation>['withRevisions'],
  tools: FeatureTools,
): Promise<ResponseOf<typeof getOperation>> {
  const { organization, states } = requester;
  const live = findFeature(requester, states, id);
  const feature = showFeature(live, showContext(tools, requester, states));
  if (wanted === undefined || wanted === 'none') return { feature };
  const revisions = await tools.revisions.list<FeatureContent>(organization, featureRevisionKind, live.id);
  const status = { all: null, drafts: 'draft', published: 'published' }[wanted];
  const shown = revisions.filter((revision) => status === null || revision.status === status);
  return { feature: { ...feature, revisions: shown.map((revision) => showRevision(live.id, revision, tools.kinds)) } };
}

/** Ids of the features that are not archived. */
export const listFeatureKeys = (requester: Requester, projectId: string | undefined): string[] =>
  ofProject(requester, visibleFeatures(requester), projectId)
    .filter(({ state }) => !state.archived)
    .map(({ id }) => id);
