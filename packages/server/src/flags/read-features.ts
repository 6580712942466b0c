import type { getFeature as getOperation, listFeatures as listOperation, QueryOf } from '@halyard/contract';
import type { Page } from '../http/index.ts';
import { seesProject } from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import { type Requester, visible } from '../requester/index.ts';
import type { Revision } from '../revisions/index.ts';
import {
  deliveryProjects,
  type FeatureContent,
  featureKind,
  featureRevisionKind,
  type LiveFeature,
  seenIn,
} from './feature.ts';
import { findFeature } from './find-feature.ts';
import { type Seen, type ShowContext, showContext } from './show.ts';
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

/** A page of features, and what they are shown among. */
interface FeaturePage extends Page<LiveFeature> {
  readonly context: ShowContext;
}

export async function listFeatures(
  requester: Requester,
  query: QueryOf<typeof listOperation>,
  tools: FeatureTools,
): Promise<FeaturePage> {
  const delivered = query.clientKey === undefined ? null : await deliveredTo(requester, query.clientKey, tools);
  const matching = ofProject(requester, visibleFeatures(requester), query.projectId)
    .filter(({ state }) => query.archived || !state.archived)
    .filter(({ id }) => delivered === null || delivered.has(id));
  return { ...tools.paginate(matching, query), context: showContext(tools, requester, requester.states) };
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

/** A feature, and those of its revisions that were asked for, newest first; null: none were. */
interface FeatureWithRevisions extends Seen {
  readonly revisions: readonly Revision<FeatureContent>[] | null;
}

export async function getFeature(
  requester: Requester,
  id: string,
  wanted: QueryOf<typeof getOperation>['withRevisions'],
  tools: FeatureTools,
): Promise<FeatureWithRevisions> {
  const { organization, states } = requester;
  const live = findFeature(requester, states, id);
  const context = showContext(tools, requester, states);
  if (wanted === undefined || wanted === 'none') return { live, context, revisions: null };
  const revisions = await tools.revisions.list<FeatureContent>(organization, featureRevisionKind, live.id);
  const status = { all: null, drafts: 'draft', published: 'published' }[wanted];
  return { live, context, revisions: revisions.filter((revision) => status === null || revision.status === status) };
}

/** Ids of the features that are not archived. */
export const listFeatureKeys = (requester: Requester, projectId: string | undefined): string[] =>
  ofProject(requester, visibleFeatures(requester), projectId)
    .filter(({ state }) => !state.archived)
    .map(({ id }) => id);
