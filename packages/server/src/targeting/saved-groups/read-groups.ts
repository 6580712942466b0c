import type { getSavedGroupReferences, listSavedGroups, QueryOf, ResponseOf } from '@halyard/contract';
import { type Requester, visible } from '../../requester/index.ts';
import { referencesTo } from './group-users.ts';
import { findSavedGroup, savedGroupKind, seenIn } from './saved-group.ts';
import { showSavedGroup } from './show-group.ts';
import type { SavedGroupTools } from './tools.ts';

export function listGroups(
  requester: Requester,
  query: QueryOf<typeof listSavedGroups>,
  { paginate }: SavedGroupTools,
): ResponseOf<typeof listSavedGroups> {
  const { states, members } = requester;
  const byId = visible(requester, states.all(savedGroupKind), seenIn).sort((a, b) => (a.id < b.id ? -1 : 1));
  const { items, fields } = paginate(byId, query);
  return { savedGroups: items.map((live) => showSavedGroup(live, members)), ...fields };
}

/** What refers to a saved group and may be seen by who asks. */
export function groupReferences(
  requester: Requester,
  id: string,
  { references }: SavedGroupTools,
): ResponseOf<typeof getSavedGroupReferences> {
  const { states } = requester;
  findSavedGroup(requester, states, id);
  const { users, groups } = referencesTo(id, states, references);
  const seen = visible(requester, users, (user) => user.seenIn);
  const shown = (wanted: 'feature' | 'experiment') =>
    seen.filter(({ kind }) => kind === wanted).map(({ id: user, name, project }) => ({ id: user, name, project }));
  return {
    features: shown('feature'),
    experiments: shown('experiment'),
    savedGroups: visible(requester, groups, seenIn).map(({ id: group, state }) => ({
      id: group,
      groupName: state.name,
      projects: [...state.projects],
    })),
  };
}
