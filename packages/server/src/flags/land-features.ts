import { registerTags } from '../organization/index.ts';
import type { Clock, Tx } from '../platform/index.ts';
import { liveAfter, readerWith } from '../record/index.ts';
import type { Landed, Landing, LiveRevision, Revision } from '../revisions/index.ts';
import { draftCreated, featureCreated, featureUpdated } from './events.ts';
import {
  contentOf,
  type FeatureContent,
  type FeatureState,
  featureKind,
  featureRevisionKind,
  type LiveFeature,
} from './feature.ts';
import { liveFeature } from './find-feature.ts';
import { nextBoundary } from './schedule.ts';
import { type ShowContext, showContext } from './show.ts';

/** One feature takes on new content. */
export interface FeatureChange {
  readonly id: string;
  /** Null: it is new. */
  readonly before: LiveFeature | null;
  readonly content: FeatureContent;
}

/** Content that waits as a draft of a feature. */
export type FeatureDraft = FeatureChange;

/** How the change is recorded. */
export interface FeatureRecord {
  readonly event: 'feature.create' | 'feature.update' | 'feature.toggle' | 'feature.revert';
  /** The comment of the revisions. */
  readonly comment: string;
  readonly reason?: string | undefined;
  /** The landed revision whose content is restored. */
  readonly revertsTo?: Pick<Revision<FeatureContent>, 'id' | 'version'>;
}

/** What features land with, and how they are seen once they have. */
export interface FeatureLanding {
  readonly landing: Landing<FeatureContent>;
  /** What answers are made with, as of the landing. */
  after(landed: Landed): ShowContext;
}

/**
 * The landing of new content of features, with everything that goes with it: revisions, audit entries, events, tags. Whatever
 * changes features comes through here.
 *
 * @param context what the change was judged on
 * @param drafts what is not to go live yet, on top of the changes
 */
export function landFeatures(
  changes: readonly FeatureChange[],
  { event, comment, reason, revertsTo }: FeatureRecord,
  context: ShowContext,
  { clock }: { readonly clock: Clock },
  drafts: readonly FeatureDraft[] = [],
): FeatureLanding {
  const { organization } = context.states;
  const now = clock.now();
  const state = (content: FeatureContent, revision: LiveRevision): FeatureState => ({
    ...content,
    revision,
    nextScheduledUpdate: nextBoundary(content.rules, now),
  });
  const after = (landed: Landed): ShowContext => {
    const features = changes.map(({ id, before, content }) =>
      liveAfter(featureKind, id, before, state(content, landed.revision(featureRevisionKind, id)), landed),
    );
    return showContext(context, context, readerWith(context.states, landed, features));
  };

  const landing: Landing<FeatureContent> = {
    revised: changes.map(({ id, before, content }) => ({
      kind: featureRevisionKind,
      id,
      baseVersion: before?.state.revision.version ?? 0,
      content,
      comment,
      revertedFrom: revertsTo?.id,
      state: (revision) => ({ kind: featureKind, id, state: state(content, revision) }),
    })),
    drafts: drafts.map(({ id, before, content }) => ({
      kind: featureRevisionKind,
      id,
      baseVersion: before?.state.revision.version ?? 0,
      content,
      comment,
    })),
    audit: [
      ...changes.map(({ id, before, content }) => ({
        event,
        entity: { object: 'feature', id, name: id },
        ...(reason === undefined ? {} : { reason }),
        ...(before === null ? {} : { pre: contentOf(before.state) }),
        post: content,
      })),
      ...drafts.map(({ id, content }) => ({
        event: 'feature.revision.create',
        entity: { object: 'feature', id, name: id },
        post: content,
      })),
    ],
    events: (landed, drafted) => {
      const fresh = after(landed);
      const ofChanges = changes.flatMap(({ id, before }) => {
        const live = liveFeature(id, fresh.states);
        return before === null
          ? [featureCreated(live, fresh)]
          : featureUpdated({ live: before, context }, { live, context: fresh }, revertsTo?.version ?? null);
      });
      const ofDrafts = drafts.flatMap(({ id }, index) =>
        drafted.slice(index, index + 1).map((revision) => draftCreated(liveFeature(id, fresh.states), revision, fresh)),
      );
      return [...ofChanges, ...ofDrafts];
    },
    also: (tx: Tx) =>
      registerTags(
        tx,
        organization,
        changes.flatMap(({ content }) => content.tags),
      ),
  };
  return { landing, after };
}
