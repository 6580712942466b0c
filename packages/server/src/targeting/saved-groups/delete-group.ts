import { settingsOf } from '../../organization/index.ts';
import { invalid, type Tx } from '../../platform/index.ts';
import type { Written } from '../../record/index.ts';
import { demand, type Requester } from '../../requester/index.ts';
import { savedGroupDeleted } from './group-events.ts';
import { countedReferences, referencesTo } from './group-users.ts';
import { contentOf, findSavedGroup, savedGroupKind, savedGroupRevisionKind } from './saved-group.ts';
import type { SavedGroupTools } from './tools.ts';

/** Deletes a saved group with its revisions: an archived one, unless the organization lets the API skip that, that nothing refers to. */
export function deleteGroup(
  requester: Requester,
  id: string,
  { recorder, revisions, references }: SavedGroupTools,
): Promise<Written<null>> {
  const { organization, actor, members } = requester;
  return recorder.publish(organization, actor, (states) => {
    const live = findSavedGroup(requester, states, id);
    const { state } = live;
    demand(requester, 'deleteSavedGroups', { projects: state.projects });
    if (!state.archived && !settingsOf(states).restApiBypassesReviews) {
      throw invalid(`A saved group is not deleted at once. Archive it first: POST /v1/saved-groups/${id}/archive.`);
    }
    const counted = countedReferences(referencesTo(id, states, references));
    if (counted !== null) throw invalid(`The saved group is still in use: ${counted}. Take it out there first.`);
    const publication = {
      changes: [{ kind: savedGroupKind, id, state: null }],
      audit: [
        {
          event: 'savedGroup.deleted',
          entity: { object: 'savedGroup', id, name: state.name },
          pre: contentOf(state),
        },
      ],
      events: () => [savedGroupDeleted(live, members)],
      also: (tx: Tx) => revisions.forget(tx, organization, savedGroupRevisionKind, id),
    };
    return { publication, result: null };
  });
}
