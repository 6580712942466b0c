import type { getFeature as getOperation, listFeatures as listOperation, QueryOf } from '@halyard/contract';
import type { Page } from '../http/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import type { Requester } from '../requester/index.ts';
import type { Revision } from '../revisions/index.ts';
import { type FeatureContent, featureRevisionKind, type LiveFeature } from './feature.ts';
import { findFeature } from './find-feature.ts';
import { type Seen, type ShowContext, showContext } from './show.ts';
import type { FeatureTools } from './tools.ts';
import { visibleFeatures } from './visible-features.ts';

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
  const visible = visibleFeatures(requester, query);
  const matching = delivered === null ? visible : visible.slice(0).filter(({ id }) => delivered.has(id));
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
  visibleFeatures(requester, { projectId, archived: false })
    .slice(0)
    .map(({ id }) => id);
