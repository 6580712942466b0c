import type { BypassedGate, Feature } from '@halyard/contract';
import { environmentsOf, registerTags, settingsOf } from '../organization/index.ts';
import type { Tx } from '../platform/index.ts';
import { readerWith, type StateReader, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Gate, type Landed, type LiveRevision, passGates } from '../revisions/index.ts';
import { featureUpdated } from './events.ts';
import {
  contentOf,
  type FeatureContent,
  type FeatureState,
  featureKind,
  featureRevisionKind,
  type LiveFeature,
} from './feature.ts';
import { changedFields, footprint } from './footprint.ts';
import { nextBoundary } from './schedule.ts';
import { servingEnvironments } from './scope.ts';
import { showFeature } from './show.ts';
import { type FeatureTools, findFeature, showContext } from './tools.ts';

/** The comment of every revision that a direct write makes. */
export const directWriteComment = 'Created via REST API';

/** The state of a feature whose content has just been decided. */
const stateOf = (content: FeatureContent, revision: LiveRevision, now: Date): FeatureState => ({
  ...content,
  revision,
  nextScheduledUpdate: nextBoundary(content.rules, now),
});

/** A feature as a landing left it, for showing it without reading it back. */
export function landedFeature(
  id: string,
  content: FeatureContent,
  before: LiveFeature | null,
  landed: Landed,
  now: Date,
): LiveFeature {
  return {
    kind: featureKind.name,
    id,
    version: landed.version,
    ordinal: before?.ordinal ?? 0,
    dateCreated: before?.dateCreated ?? landed.instant,
    dateUpdated: landed.instant,
    state: stateOf(content, landed.revision(featureRevisionKind, id), now),
  };
}

/** A feature's next content, as the one change of a landing. */
export const revisedFeature = (
  id: string,
  content: FeatureContent,
  before: LiveFeature | null,
  now: Date,
  comment: string,
) => ({
  kind: featureRevisionKind,
  id,
  baseVersion: before?.state.revision.version ?? 0,
  content,
  comment,
  state: (revision: LiveRevision) => ({ kind: featureKind, id, state: stateOf(content, revision, now) }),
});

/** What a direct write wants to make of a feature, and what stands in its way. */
export interface Wanted {
  readonly content: FeatureContent;
  readonly gates: readonly Gate[];
}

/** How a direct write is recorded, and what it brings to get past gates. */
export interface DirectWrite {
  readonly event: 'feature.update' | 'feature.toggle';
  readonly reason?: string | undefined;
  readonly flags: {
    readonly ignoreWarnings: boolean;
    readonly skipSchemaValidation: boolean;
    readonly skipHooks: boolean;
  };
}

/** What a direct write came to. */
export interface FeatureWrite {
  feature: Feature;
  bypassedGates?: BypassedGate[];
}

/**
 * Changes a feature and publishes the change as one revision; does nothing where the content stays what it is.
 *
 * @param want states the change, having checked who may make it and whether it can be
 */
export async function writeDirectly(
  requester: Requester,
  id: string,
  write: DirectWrite,
  tools: FeatureTools,
  want: (live: LiveFeature, states: StateReader) => Promise<Wanted>,
): Promise<Written<FeatureWrite>> {
  const { organization } = requester;
  const now = tools.clock.now();

  const { landed, result } = await tools.revisions.land(requester, async (states) => {
    const before = findFeature(requester, states, id);
    const { content, gates } = await want(before, states);
    if (changedFields(contentOf(before.state), content).length === 0) {
      return { landing: null, result: { before, content, states, bypassed: [] } };
    }
    demandLanding(requester, contentOf(before.state), content, states);
    const bypassed = passGates(gates, clearance(requester, write, before, states));
    const landing = {
      revised: [revisedFeature(id, content, before, now, directWriteComment)],
      audit: [
        {
          event: write.event,
          entity: { object: 'feature', id, name: id },
          ...(write.reason === undefined ? {} : { reason: write.reason }),
          pre: contentOf(before.state),
          post: content,
        },
      ],
      events: (at: Landed) => {
        const after = landedFeature(id, content, before, at, now);
        return featureUpdated(
          { live: before, context: showContext(tools, requester, states) },
          { live: after, context: showContext(tools, requester, readerWith(states, at, [after])) },
        );
      },
      also: (tx: Tx) => registerTags(tx, organization, content.tags),
    };
    return { landing, result: { before, content, states, bypassed } };
  });

  const { before, content, states, bypassed } = result;
  const live = landed === null ? before : landedFeature(id, content, before, landed, now);
  const shown = landed === null ? states : readerWith(states, landed, [live]);
  const feature = showFeature(live, showContext(tools, requester, shown));
  return { landed, result: { feature, ...(bypassed.length === 0 ? {} : { bypassedGates: bypassed }) } };
}

/** Asks for the right to land a change, over the environments that it touches. */
function demandLanding(requester: Requester, before: FeatureContent, after: FeatureContent, states: StateReader): void {
  const environments = environmentsOf(states);
  const { reachesSdks, archives, environments: touched } = footprint(before, after, environments);
  if (archives) {
    const serving = servingEnvironments(before, environments);
    demand(requester, 'deleteFeatures', { ...inProject(before.project), environments: serving });
  }
  if (!reachesSdks) return;
  for (const project of new Set([before.project, after.project])) {
    demand(requester, 'publishFeatures', { ...inProject(project), environments: touched });
  }
}

/** The scope of a permission that is asked in a feature's own project. */
export const inProject = (project: string) => ({ projects: project === '' ? [] : [project] });

function clearance(requester: Requester, { flags }: DirectWrite, before: LiveFeature, states: StateReader) {
  return {
    flags,
    // Judged on the feature as it is: moving it into another project must not lend anyone a right.
    mayBypass: requester.may('bypassApprovalFeatures', inProject(before.state.project)),
    mayBypassEverywhere: requester.may('bypassApprovalFeatures', { projects: [] }),
    restApiBypassesReviews: settingsOf(states).restApiBypassesReviews && requester.actor.type === 'api_key',
  };
}
