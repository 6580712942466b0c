import { environmentsOf, settingsOf } from '../organization/index.ts';
import { forbidden, invalid, type Tx } from '../platform/index.ts';
import type { Recorder, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { forgetReferences } from './code-references/rows.ts';
import { inProject } from './direct-write.ts';
import { featureDeleted } from './events.ts';
import { contentOf, featureKind, featureRevisionKind } from './feature.ts';
import { findFeature } from './find-feature.ts';
import { countDependents } from './prerequisites.ts';
import { servingEnvironments } from './scope.ts';
import { showContext } from './show.ts';
import type { FeatureTools } from './tools.ts';

/** Deletes a feature with its revisions and code references. A live one is archived first, unless the organization lets the API skip that. */
export async function deleteFeature(
  requester: Requester,
  id: string,
  tools: FeatureTools & { readonly recorder: Recorder },
): Promise<Written<null>> {
  const { organization, actor } = requester;
  return tools.recorder.publish(organization, actor, async (states) => {
    const live = findFeature(requester, states, id);
    const { state } = live;
    const where = { ...inProject(state.project), environments: servingEnvironments(state, environmentsOf(states)) };
    demand(requester, 'deleteFeatures', where);
    if (!state.archived) {
      demand(requester, 'publishFeatures', where);
      if (!settingsOf(states).restApiBypassesReviews) {
        throw forbidden('A live feature is not deleted at once. Archive it first: POST {"archived": true} to it.');
      }
    }
    const dependents = countDependents(id, states);
    if (dependents > 0) {
      throw invalid(
        `The feature is a prerequisite of ${dependents === 1 ? 'another feature' : `${dependents} other features`}. Remove it there first.`,
      );
    }
    const publication = {
      changes: [{ kind: featureKind, id, state: null }],
      audit: [{ event: 'feature.delete', entity: { object: 'feature', id, name: id }, pre: contentOf(state) }],
      events: () => [featureDeleted(live, showContext(tools, requester, states))],
      also: async (tx: Tx) => {
        await tools.revisions.forget(tx, organization, featureRevisionKind, id);
        await forgetReferences(tx, organization, id);
      },
    };
    return { publication, result: null };
  });
}
