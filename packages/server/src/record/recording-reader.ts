import { type Grouping, grouped, type Live, type StateKind, type StateReader } from './states.ts';

/** An object as it is now. */
interface Moved {
  readonly kind: string;
  readonly id: string;
  readonly version: number;
  /** Null: it is deleted. */
  readonly state: unknown;
}

/** A reader that remembers what was read, so that a landing can prove that none of it has changed since. */
export interface RecordingReader extends StateReader {
  /** Whether an object would read otherwise than it did, or be among what was read and was not; false where neither. */
  wouldReadOtherwise(moved: Moved): boolean;
  /** Whether it was read and did not exist. */
  readAsAbsent(kind: string, id: string): boolean;
}

/** What was read of a kind. What is read twice reads the same twice, whatever happens in between. */
interface Readings {
  readonly byId: Map<string, Live | null>;
  /** Every object of the kind was read: one that is not among the readings did not exist. */
  whole: boolean;
  /** Groups that were read, by their names; their members are among `byId` as well. */
  readonly groups: Map<Grouping<unknown>, Map<string, readonly Live[]>>;
}

/**
 * Whoever reads all objects of a kind is judged again whenever any of them changes; who reads a group, when one of its members
 * changes or another one comes in.
 */
export function recordingReader(reader: StateReader): RecordingReader {
  const { organization, at } = reader;
  const readings = new Map<string, Readings>();
  const of = (kind: string): Readings => {
    const known = readings.get(kind) ?? { byId: new Map(), whole: false, groups: new Map() };
    readings.set(kind, known);
    return known;
  };
  const all = <State>(kind: StateKind<State>) => {
    const known = of(kind.name);
    if (!known.whole) {
      const before = new Map(known.byId);
      known.byId.clear();
      for (const live of reader.all(kind)) known.byId.set(live.id, before.get(live.id) ?? live);
      known.whole = true;
    }
    return [...known.byId.values()].filter((live) => live !== null) as Live<State>[];
  };
  return {
    organization,
    at,
    get<State>(kind: StateKind<State>, id: string) {
      const { byId, whole } = of(kind.name);
      const known = byId.get(id);
      if (known !== undefined || whole) return (known ?? null) as Live<State> | null;
      const live = reader.get(kind, id);
      byId.set(id, live);
      return live;
    },
    all,
    group<State>(grouping: Grouping<State>, name: string) {
      const { byId, groups } = of(grouping.kind.name);
      const read = groups.get(grouping) ?? new Map<string, readonly Live[]>();
      groups.set(grouping, read);
      const members = read.get(name) ?? reader.group(grouping, name).map((live) => byId.get(live.id) ?? live);
      for (const live of members) byId.set(live.id, live);
      read.set(name, members);
      return members as readonly Live<State>[];
    },
    groups: (grouping) => grouped(grouping, all(grouping.kind)),
    wouldReadOtherwise({ kind, id, version, state }) {
      const known = readings.get(kind);
      if (known === undefined) return false;
      const read = known.byId.get(id);
      if (read !== undefined) return (read?.version ?? 0) !== version;
      return known.whole || (state !== null && entersGroup(state, known.groups));
    },
    readAsAbsent: (kind, id) => (readings.get(kind)?.byId.get(id) ?? null) === null,
  };
}

/** Whether a state puts its object into one of the groups. */
function entersGroup(state: unknown, groups: Readings['groups']): boolean {
  for (const [grouping, read] of groups) {
    if (grouping.groupsOf(state).some((name) => read.has(name))) return true;
  }
  return false;
}
