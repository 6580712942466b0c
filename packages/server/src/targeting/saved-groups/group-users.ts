import type { StateReader } from '../../record/index.ts';
import { byNamedGroup, type LiveSavedGroup } from './saved-group.ts';

/** Something that targets users by saved groups. */
interface GroupUser {
  readonly kind: 'feature' | 'experiment';
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly archived: boolean;
  /** Projects in which it is seen; null: in all. */
  readonly seenIn: readonly string[] | null;
}

/**
 * Who refers to saved groups. Every module whose objects target by them fills this port, so that none is archived unawares or
 * deleted while it is in use.
 */
export interface GroupReferences {
  /** What names one of the groups, anywhere in it; each once. */
  usersOf(states: StateReader, groups: readonly string[]): readonly GroupUser[];
  /**
   * How many of what names one of the groups would become too long for SDKs that get groups written out.
   *
   * @param now how long each group is, written out
   * @param then how long it would be
   */
  countTooLong(
    states: StateReader,
    groups: readonly string[],
    now: (group: string) => number,
    then: (group: string) => number,
  ): number;
}

/** What refers to a saved group, directly or through a group that nests it. */
export interface ReferencesToGroup {
  readonly users: readonly GroupUser[];
  /** Groups that nest it themselves. */
  readonly groups: readonly LiveSavedGroup[];
}

export function referencesTo(
  id: string,
  states: StateReader,
  references: readonly GroupReferences[],
): ReferencesToGroup {
  const groups = states.group(byNamedGroup, id).filter((group) => group.id !== id);
  const named = [id, ...groups.map((group) => group.id)];
  return { users: references.flatMap((holder) => holder.usersOf(states, named)), groups };
}

/** Only counts, since whoever asks may not be able to see them; null: nothing refers to it. */
export function countedReferences({ users, groups }: ReferencesToGroup): string | null {
  const counts = [
    counted(users.filter(({ kind }) => kind === 'feature').length, 'feature'),
    counted(users.filter(({ kind }) => kind === 'experiment').length, 'experiment'),
    counted(groups.length, 'other saved group'),
  ].flatMap((text) => text ?? []);
  return counts.length === 0 ? null : counts.join(', ');
}

const counted = (count: number, what: string): string | null =>
  count === 0 ? null : `${count} ${what}${count === 1 ? '' : 's'}`;
