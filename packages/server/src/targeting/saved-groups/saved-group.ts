import { seenInProjects } from '../../organization/index.ts';
import { notFound } from '../../platform/index.ts';
import { type Grouping, type Live, type StateReader, stateKind } from '../../record/index.ts';
import type { Requester } from '../../requester/index.ts';
import type { LiveRevision, RevisionKind } from '../../revisions/index.ts';
import type { FindGroup } from '../condition.ts';
import { groupsNamedIn } from '../condition-groups.ts';

/** Everything of a saved group that can be changed, and what it is: what a revision holds a full copy of. */
export interface SavedGroupContent {
  /** Never changes, and neither does the attribute of a list. */
  readonly type: 'condition' | 'list';
  readonly name: string;
  /** A member's user id; `""`: nobody's. */
  readonly owner: string;
  readonly description: string;
  readonly projects: readonly string[];
  readonly archived: boolean;
  /** JSON text; `""` for a list. */
  readonly condition: string;
  /** The attribute whose values are listed; `""` for a condition. */
  readonly attributeKey: string;
  /** Text, also where the attribute is a number. */
  readonly values: readonly string[];
  /** Absent on groups of old: such a list is passed over where it is targeted while it is empty. */
  readonly useEmptyListGroup?: boolean;
}

/** The live state of a saved group. */
export interface SavedGroupState extends SavedGroupContent {
  readonly revision: LiveRevision;
}

export type LiveSavedGroup = Live<SavedGroupState>;

export const savedGroupKind = stateKind<SavedGroupState>('saved-group', 'saved group');

export const savedGroupRevisionKind: RevisionKind = { name: 'saved-group', idPrefix: 'rev_', landed: 'merged' };

/** Conditions by the groups that they name. */
export const byNamedGroup: Grouping<SavedGroupState> = {
  kind: savedGroupKind,
  groupsOf: ({ condition }) => groupsNamedIn(condition),
};

/** The part of a state that a revision copies. */
export function contentOf({ revision: _revision, ...content }: SavedGroupState): SavedGroupContent {
  return content;
}

/** Where a saved group is seen: in its projects, or everywhere. */
export const seenIn = ({ state }: LiveSavedGroup): readonly string[] | null => seenInProjects(state.projects);

/** @throws Refusal (notFound) when there is none, or the requester may not see it */
export function findSavedGroup(requester: Requester, states: StateReader, id: string): LiveSavedGroup {
  const live = states.get(savedGroupKind, id);
  if (live === null || !requester.maySee(seenIn(live))) throw notFound(savedGroupKind.label, id);
  return live;
}

/**
 * The saved groups that a requester may name: those they may see, and those that were named where they write already, which
 * are not asked about again.
 */
export function groupFinder(requester: Requester, states: StateReader, before: Iterable<string> = []): FindGroup {
  const known = new Set(before);
  return (id) => {
    const live = states.get(savedGroupKind, id);
    return live !== null && (known.has(id) || requester.maySee(seenIn(live))) ? live.state : null;
  };
}
