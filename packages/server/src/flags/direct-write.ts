import type { BypassedGate, Feature } from '@halyard/contract';
import type { Call } from '../http/index.ts';
import { environmentsOf, registerTags, settingsOf } from '../organization/index.ts';
import { readerWith, type StateReader } from '../record/index.ts';
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

/**
 * Changes a feature and publishes the change as one revision; does nothing where the content stays what it is.
 *
 * @param want states the change, having checked who may make it and whether it can be
 */
export async function writeDirectly(
  call: Call,
  id: string,
  write: DirectWrite,
  tools: FeatureTools,
  want: (live: LiveFeature, states: StateReader) => Promise<Wanted>,
): Promise<{ feature: Feature; bypassedGates?: BypassedGate[] }> {
  const { organization } = call.requester;
  const now = tools.clock.now();

  const { landed, result } = await tools.revisions.land(call.requester, async (states) => {
    const before = findFeature(call, states, id);
    const { content, gates } = await want(before, states);
    if (changedFields(contentOf(before.state), content).length === 0) {
      return { landing: null, result: { before, content, states, bypassed: [] } };
    }
    demandLanding(call, contentOf(before.state), content, states);
    const bypassed = passGates(gates, clearance(call, write, before, states));
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
          { live: before, context: showContext(tools, call.requester, states) },
          { live: after, context: showContext(tools, call.requester, readerWith(states, at, [after])) },
        );
      },
      also: (tx: Parameters<typeof registerTags>[0]) => registerTags(tx, organization, content.tags),
    };
    return { landing, result: { before, content, states, bypassed } };
  });

  call.landed(landed);
  const { before, content, states, bypassed } = result;
  const live = landed === null ? before : landedFeature(id, content, before, landed, now);
  const shown = landed === null ? states : readerWith(states, landed, [live]);
  return {
    feature: showFeature(live, showContext(tools, call.requester, shown)),
    ...(bypassed.length === 0 ? {} : { bypassedGates: bypassed }),
  };
}

/** Asks for the right to land a change, over the environments that it touches. */
function demandLanding(call: Call, before: FeatureContent, after: FeatureContent, states: StateReader): void {
  const environments = environmentsOf(states);
  const { reachesSdks, archives, environments: touched } = footprint(before, after, environments);
  if (archives) {
    const serving = servingEnvironments(before, environments);
    call.demand('deleteFeatures', { ...inProject(before.project), environments: serving });
  }
  if (!reachesSdks) return;
  for (const project of new Set([before.project, after.project])) {
    call.demand('publishFeatures', { ...inProject(project), environments: touched });
  }
}

/** The scope of a permission that is asked in a feature's own project. */
export const inProject = (project: string) => ({ projects: project === '' ? [] : [project] });

function clearance({ requester }: Call, { flags }: DirectWrite, before: LiveFeature, states: StateReader) {
  return {
    flags,
    // Judged on the feature as it is: moving it into another project must not lend anyone a right.
    mayBypass: requester.may('bypassApprovalFeatures', inProject(before.state.project)),
    mayBypassEverywhere: requester.may('bypassApprovalFeatures', { projects: [] }),
    restApiBypassesReviews: settingsOf(states).restApiBypassesReviews && requester.actor.type === 'api_key',
  };
}
