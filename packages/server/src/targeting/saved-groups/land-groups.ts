import { isDeepStrictEqual } from 'node:util';
import { liveAfter, type StateReader } from '../../record/index.ts';
import type { Directory } from '../../requester/index.ts';
import type { Landed, Landing } from '../../revisions/index.ts';
import { savedGroupCreated, savedGroupUpdated } from './group-events.ts';
import {
  contentOf,
  type LiveSavedGroup,
  type SavedGroupContent,
  savedGroupKind,
  savedGroupRevisionKind,
} from './saved-group.ts';

/** One saved group takes on new content. */
export interface GroupChange {
  readonly id: string;
  /** Null: it is new. */
  readonly before: LiveSavedGroup | null;
  readonly content: SavedGroupContent;
}

export const isChanged = ({ before, content }: GroupChange): boolean =>
  before === null || !isDeepStrictEqual(contentOf(before.state), content);

/** A saved group as a landing left it. */
export const groupAfter = ({ id, before, content }: GroupChange, landed: Landed): LiveSavedGroup =>
  liveAfter(savedGroupKind, id, before, { ...content, revision: landed.revision(savedGroupRevisionKind, id) }, landed);

/**
 * The landing of new content of saved groups, with everything that goes with it: revisions, audit entries, events. Whatever
 * changes saved groups comes through here.
 */
export function landGroups(
  changes: readonly GroupChange[],
  comment: string,
  { states, members }: { readonly states: StateReader; readonly members: Directory },
): Landing<SavedGroupContent> {
  return {
    revised: changes.map(({ id, before, content }) => ({
      kind: savedGroupRevisionKind,
      id,
      baseVersion: before?.state.revision.version ?? 0,
      content,
      comment,
      state: (revision) => ({ kind: savedGroupKind, id, state: { ...content, revision } }),
    })),
    audit: changes.map(({ id, before, content }) => ({
      event: before === null ? 'savedGroup.created' : 'savedGroup.updated',
      entity: { object: 'savedGroup', id, name: content.name },
      ...(before === null ? {} : { pre: contentOf(before.state) }),
      post: content,
    })),
    events: (landed) =>
      changes.flatMap((change) => {
        const live = groupAfter(change, landed);
        return change.before === null
          ? [savedGroupCreated(live, members)]
          : savedGroupUpdated(change.before, live, members, states);
      }),
  };
}
