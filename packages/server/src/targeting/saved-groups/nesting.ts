import { invalid } from '../../platform/index.ts';
import type { StateReader } from '../../record/index.ts';
import { groupsNamedIn } from '../condition-groups.ts';
import type { GroupReferences } from './group-users.ts';
import { byNamedGroup, type SavedGroupContent, savedGroupKind } from './saved-group.ts';

/** What a rule names may nest groups in groups this deep; what lies deeper holds for nobody. */
export const deepestNesting = 10;

/**
 * The most characters that a group may have once the groups that it nests are written out in it, which is what SDKs get:
 * a few short conditions that nest each other several times would otherwise grow without bounds.
 */
const longestWrittenOut = 4 * 2 ** 20;

/** What a group is once the groups that it nests are written out in it. */
interface Extent {
  /** Groups on the longest way down, itself included. */
  readonly depth: number;
  readonly length: number;
}

type Find = (id: string) => SavedGroupContent | null;

/**
 * Refuses a group that would nest itself, nest too deep or grow too large, or make one of those that nest it do so.
 *
 * @param before as it is; null: it is new
 * @throws Refusal (invalid)
 */
export function checkNesting(
  id: string,
  before: SavedGroupContent | null,
  content: SavedGroupContent,
  states: StateReader,
): void {
  const live: Find = (other) => states.get(savedGroupKind, other)?.state ?? null;
  const find: Find = (other) => (other === id ? content : live(other));
  if (reaches(id, id, find)) {
    throw invalid('The saved group would nest itself, directly or through other saved groups. Take one of them out.');
  }
  const extentOf = extents(find);
  const extent = extentOf(id);
  refuseExtent(extent, 'The saved group');
  if (before === null) return;
  const old = extents(live)(id);
  if (extent.depth <= old.depth && extent.length <= old.length) return;
  for (const above of nestersOf(id, states)) refuseExtent(extentOf(above), 'A saved group that nests this one');
}

/**
 * Refuses a group that would grow so that something that targets by it, directly or through groups that nest it, becomes too long
 * for SDKs: beyond that, rules would silently reach nobody.
 *
 * @throws Refusal (invalid) that only counts, since whoever asks may not be able to see what it is about
 */
export function refuseGrowth(
  id: string,
  content: SavedGroupContent,
  states: StateReader,
  references: readonly GroupReferences[],
): void {
  const live: Find = (other) => states.get(savedGroupKind, other)?.state ?? null;
  const now = writtenOutLengths(live, true);
  const then = writtenOutLengths((other) => (other === id ? content : live(other)), true);
  if (then(id) <= now(id)) return;
  const groups = [id, ...nestersOf(id, states)];
  const count = references.reduce((sum, holder) => sum + holder.countTooLong(states, groups, now, then), 0);
  if (count === 0) return;
  throw invalid(
    `The saved group would make ${count === 1 ? 'something that targets by it' : `${count} things that target by it`} too large for SDKs, since many rules name it. Name it in fewer rules, or split it.`,
  );
}

/** The groups that nest a group, directly or through others. */
function nestersOf(id: string, states: StateReader): Iterable<string> {
  const found = new Set([id]);
  for (const one of found) for (const above of states.group(byNamedGroup, one)) found.add(above.id);
  found.delete(id);
  return found;
}

function refuseExtent({ depth, length }: Extent, which: string): void {
  // A rule that names the group adds one more level.
  if (depth >= deepestNesting) {
    throw invalid(`${which} would nest saved groups more than ${deepestNesting - 1} deep. Write some of them as one.`);
  }
  if (length > longestWrittenOut) {
    throw invalid(
      `${which} would be too large for SDKs, which get it with the saved groups that it nests written out.`,
    );
  }
}

/** Whether a way of one step or more leads from a group to another. */
function reaches(from: string, to: string, find: Find): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const named of groupsNamedIn(find(id)?.condition ?? '')) {
      if (named === to) return true;
      if (!seen.has(named)) open.push(named);
      seen.add(named);
    }
  }
  return false;
}

/**
 * How many characters a group has once the groups that it nests are written out in it.
 *
 * @param withLists whether the values of lists are written in their place as well
 */
export function writtenOutLengths(find: Find, withLists: boolean): (id: string) => number {
  const extentOf = extents((id) => {
    const group = find(id);
    return group === null || withLists ? group : { ...group, values: [] };
  });
  return (id) => extentOf(id).length;
}

function extents(find: Find): (id: string) => Extent {
  const known = new Map<string, Extent>();
  const extentOf = (id: string): Extent => {
    const measured = known.get(id);
    if (measured !== undefined) return measured;
    const group = find(id);
    const own = { depth: 1, length: group === null ? 0 : lengthOf(group) };
    // Where groups of old go in a circle, the way ends.
    known.set(id, own);
    const nested = groupsNamedIn(group?.condition ?? '').map(extentOf);
    const extent = nested.reduce(
      (sum, { depth, length }) => ({ depth: Math.max(sum.depth, depth + 1), length: sum.length + length }),
      own,
    );
    known.set(id, extent);
    return extent;
  };
  return extentOf;
}

const lengthOf = ({ condition, values }: SavedGroupContent): number =>
  values.reduce((sum, value) => sum + value.length + 3, condition.length);
