import {
  archiveSavedGroup,
  deleteSavedGroup,
  getSavedGroup,
  getSavedGroupReferences,
  listSavedGroups,
  postSavedGroup,
  unarchiveSavedGroup,
  updateSavedGroup,
} from '@halyard/contract';
import { bind, type Route } from '../../http/index.ts';
import type { Requester } from '../../requester/index.ts';
import { createGroup } from './create-group.ts';
import { deleteGroup } from './delete-group.ts';
import { groupReferences, listGroups } from './read-groups.ts';
import { findSavedGroup } from './saved-group.ts';
import { showSavedGroup } from './show-group.ts';
import type { SavedGroupTools } from './tools.ts';
import { archiveGroup, type GroupWrite, unarchiveGroup, updateGroup } from './write-group.ts';

export function savedGroupRoutes(tools: SavedGroupTools): Route[] {
  return [
    bind(listSavedGroups, async ({ requester, query }) => listGroups(requester, query, tools)),
    bind(postSavedGroup, async (call) => {
      const live = call.landed(await createGroup(call.requester, call.body, tools));
      return { savedGroup: showSavedGroup(live, call.requester.members) };
    }),
    bind(getSavedGroup, async ({ requester, params }) => ({
      savedGroup: showSavedGroup(findSavedGroup(requester, requester.states, params.id), requester.members),
    })),
    bind(updateSavedGroup, async (call) =>
      shown(call.requester, call.landed(await updateGroup(call.requester, call.params.id, call.body, tools))),
    ),
    bind(deleteSavedGroup, async (call) => {
      const { id } = call.params;
      call.landed(await deleteGroup(call.requester, id, tools));
      return { deletedId: id };
    }),
    bind(archiveSavedGroup, async (call) => {
      const { requester, params, body } = call;
      return shown(
        requester,
        call.landed(await archiveGroup(requester, params.id, body.ignoreWarnings === true, tools)),
      );
    }),
    bind(unarchiveSavedGroup, async (call) =>
      shown(call.requester, call.landed(await unarchiveGroup(call.requester, call.params.id, tools))),
    ),
    bind(getSavedGroupReferences, async ({ requester, params }) => groupReferences(requester, params.id, tools)),
  ];
}

const shown = ({ members }: Requester, { live, bypassed }: GroupWrite) => ({
  savedGroup: showSavedGroup(live, members),
  ...(bypassed.length === 0 ? {} : { bypassedGates: [...bypassed] }),
});
