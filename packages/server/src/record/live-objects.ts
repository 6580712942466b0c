import type { Grouping, Live } from './states.ts';

type Groups = Map<string, Live[]>;

/**
 * The live objects of one kind: by id, in the order of creation, and in groups. A grouping is worked out when somebody asks
 * for it the first time, and kept from then on.
 */
export class LiveObjects extends Map<string, Live> {
  readonly #groupings = new Map<Grouping<unknown>, Groups>();

  /** The groups that have members, each oldest first. They go on changing: whoever keeps one copies it. */
  groups(grouping: Grouping<unknown>): ReadonlyMap<string, readonly Live[]> {
    const known = this.#groupings.get(grouping);
    if (known !== undefined) return known;
    const groups: Groups = new Map();
    for (const live of this.values()) enter(groups, grouping, live);
    this.#groupings.set(grouping, groups);
    return groups;
  }

  override set(id: string, live: Live): this {
    this.#leaveGroups(id);
    for (const [grouping, groups] of this.#groupings) enter(groups, grouping, live);
    return super.set(id, live);
  }

  override delete(id: string): boolean {
    this.#leaveGroups(id);
    return super.delete(id);
  }

  override clear(): void {
    this.#groupings.clear();
    super.clear();
  }

  #leaveGroups(id: string): void {
    const live = this.get(id);
    if (live === undefined) return;
    for (const [grouping, groups] of this.#groupings) {
      for (const name of new Set(grouping.groupsOf(live.state))) leave(groups, name, live);
    }
  }
}

function enter(groups: Groups, grouping: Grouping<unknown>, live: Live): void {
  for (const name of new Set(grouping.groupsOf(live.state))) {
    const members = groups.get(name) ?? [];
    groups.set(name, members);
    members.splice(countBelow(members, live.ordinal), 0, live);
  }
}

function leave(groups: Groups, name: string, { ordinal }: Live): void {
  const members = groups.get(name) ?? [];
  members.splice(countBelow(members, ordinal), 1);
  if (members.length === 0) groups.delete(name);
}

/** How many of the objects, which are in the order of creation, are older than that ordinal. */
function countBelow(objects: readonly Live[], ordinal: number): number {
  // What is new comes last.
  if ((objects.at(-1)?.ordinal ?? -1) < ordinal) return objects.length;
  let [from, to] = [0, objects.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((objects[middle]?.ordinal ?? 0) < ordinal) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A list of which any part can be had without making the rest. Every array is one. */
export interface Sliceable<Item> {
  readonly length: number;
  slice(from: number, to?: number): readonly Item[];
}

/** What is in any of several groups that share no member, oldest first. */
export function inOneOrder<State>(groups: readonly (readonly Live<State>[])[]): Sliceable<Live<State>> {
  const length = groups.reduce((sum, group) => sum + group.length, 0);
  return {
    length,
    slice(from, to = length) {
      const count = Math.max(0, Math.min(to, length) - from);
      if (count === 0) return [];
      const first = ordinalAt(groups, from);
      return groups
        .flatMap((group) => {
          const begin = countBelow(group, first);
          return group.slice(begin, begin + count);
        })
        .sort((a, b) => a.ordinal - b.ordinal)
        .slice(0, count);
    },
  };
}

/** The ordinal of the object at a place among all those in the groups. */
function ordinalAt(groups: readonly (readonly Live[])[], place: number): number {
  let from = 0;
  let to = groups.reduce((newest, group) => Math.max(newest, group.at(-1)?.ordinal ?? 0), 0);
  // The smallest ordinal up to which there are more objects than come before the place.
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const upTo = groups.reduce((sum, group) => sum + countBelow(group, middle + 1), 0);
    if (upTo > place) to = middle;
    else from = middle + 1;
  }
  return from;
}
