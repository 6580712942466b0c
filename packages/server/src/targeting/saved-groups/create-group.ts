import type { BodyOf, postSavedGroup } from '@halyard/contract';
import type { Written } from '../../record/index.ts';
import { demand, type Requester } from '../../requester/index.ts';
import { directWriteComment } from '../../revisions/index.ts';
import { admitNewGroup } from './admit-group.ts';
import { groupAfter, landGroups } from './land-groups.ts';
import type { LiveSavedGroup } from './saved-group.ts';
import type { SavedGroupTools } from './tools.ts';
import { demandBypass } from './write-group.ts';

/** Creates a saved group, live at once: its first version is a merged revision. That needs no approval, whatever is in force. */
export async function createGroup(
  requester: Requester,
  { bypassApproval, ...asked }: BodyOf<typeof postSavedGroup>,
  { revisions, entitlements, newId }: SavedGroupTools,
): Promise<Written<LiveSavedGroup>> {
  const id = newId('grp_');
  const { landed, result: change } = await revisions.land(requester, async (states) => {
    const { members } = requester;
    const projects = asked.projects ?? [];
    demand(requester, 'createSavedGroups', { projects });
    if (bypassApproval === true) demandBypass(requester, projects, states);
    const content = admitNewGroup(asked, { id, states, requester, entitlements });
    const created = { id, before: null, content };
    return { landing: landGroups([created], directWriteComment, { states, members }), result: created };
  });
  if (landed === null) throw new Error('A creation always lands.');
  return { landed, result: groupAfter(change, landed) };
}
