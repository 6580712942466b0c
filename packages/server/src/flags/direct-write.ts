import type { BypassedGate } from '@halyard/contract';
import { environmentsOf } from '../organization/index.ts';
import type { StateReader, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Clearance, clearanceOf, directWriteComment, type Gate, passGates } from '../revisions/index.ts';
import { changedFields } from './content-fields.ts';
import { contentOf, type FeatureContent, type LiveFeature } from './feature.ts';
import { findFeature, liveFeature } from './find-feature.ts';
import { footprint } from './footprint.ts';
import { type FeatureRecord, landFeatures } from './land-features.ts';
import { servingEnvironments } from './scope.ts';
import { type Seen, showContext } from './show.ts';
import type { FeatureTools } from './tools.ts';

/** What a direct write wants to make of a feature, and what stands in its way. */
export interface Wanted extends Pick<FeatureRecord, 'revertsTo'> {
  readonly content: FeatureContent;
  /** What is to wait as a draft beside it. */
  readonly draft?: FeatureContent | null;
  readonly gates: readonly Gate[];
}

/** What a direct write brings to get past gates. */
export type WriteFlags = Clearance['flags'];

/** What a direct write came to: the feature as it is now, and the gates that were passed over. */
export interface FeatureWrite extends Seen {
  readonly bypassed: readonly BypassedGate[];
}

/**
 * Changes a feature and publishes the change as one revision; does nothing where the content stays what it is. What is to wait
 * becomes a draft.
 *
 * @param want states the change, having checked who may make it and whether it can be
 */
export async function writeDirectly(
  requester: Requester,
  id: string,
  record: Omit<FeatureRecord, 'comment' | 'revertsTo'> & { readonly comment?: string },
  flags: WriteFlags,
  tools: FeatureTools,
  want: (live: LiveFeature, states: StateReader) => Promise<Wanted>,
): Promise<Written<FeatureWrite>> {
  const { landed, result } = await tools.revisions.land(requester, async (states) => {
    const before = findFeature(requester, states, id);
    const { content, draft = null, gates, ...reverts } = await want(before, states);
    const context = showContext(tools, requester, states);
    const changes = changedFields(contentOf(before.state), content).length > 0;
    if (!changes && draft === null) {
      return { landing: null, result: { bypassed: [], before: context, after: () => context } };
    }
    const needed = reverts.revertsTo === undefined ? 'publishFeatures' : 'revertFeatures';
    if (changes) demandLanding(requester, needed, contentOf(before.state), content, states);
    const bypassed = changes
      ? passGates(
          gates,
          clearanceOf(requester, 'bypassApprovalFeatures', inProject(before.state.project).projects, states, flags),
        )
      : [];
    const { landing, after } = landFeatures(
      changes ? [{ id, before, content }] : [],
      { comment: directWriteComment, ...record, ...reverts },
      context,
      tools,
      draft === null ? [] : [{ id, before, content: draft }],
    );
    return { landing, result: { bypassed, before: context, after } };
  });
  const { bypassed, before, after } = result;
  const context = landed === null ? before : after(landed);
  return { landed, result: { live: liveFeature(id, context.states), context, bypassed } };
}

/** Asks for the right to land a change, over the environments that it touches. */
function demandLanding(
  requester: Requester,
  needed: 'publishFeatures' | 'revertFeatures',
  before: FeatureContent,
  after: FeatureContent,
  states: StateReader,
): void {
  const environments = environmentsOf(states);
  const { reachesSdks, archives, environments: touched } = footprint(before, after, environments);
  if (archives) {
    const serving = servingEnvironments(before, environments);
    demand(requester, 'deleteFeatures', { ...inProject(before.project), environments: serving });
  }
  if (!reachesSdks) return;
  for (const project of new Set([before.project, after.project])) {
    demand(requester, needed, { ...inProject(project), environments: touched });
  }
}

/** The scope of a permission that is asked in a feature's own project. */
export const inProject = (project: string) => ({ projects: project === '' ? [] : [project] });
