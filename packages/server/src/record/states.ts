import { LiveObjects } from './live-objects.ts';

/**
 * A kind of object whose states are published: what a payload may read. The type argument is the shape of its state; states
 * are plain JSON and are never changed in place.
 */
export interface StateKind<State> {
  readonly name: string;
  /** What people call one of them, in messages. */
  readonly label: string;
  /** Carries the type only. */
  readonly state?: State;
}

export const stateKind = <State>(name: string, label: string = name): StateKind<State> => ({ name, label });

/** The newest state of an object. */
export interface Live<State = unknown> {
  readonly kind: string;
  readonly id: string;
  /** The configuration version that made this state. */
  readonly version: number;
  /** Rises in the order of creation among the objects of a kind. */
  readonly ordinal: number;
  readonly dateCreated: Date;
  readonly dateUpdated: Date;
  readonly state: State;
}

/** How objects of a kind are grouped, so that whoever looks for some of them need not go through all. */
export interface Grouping<State> {
  readonly kind: StateKind<State>;
  /** The groups that an object is in, by its state alone; it may be in several, or in none. */
  groupsOf(state: State): readonly string[];
}

/** A version of an organization's configuration: a whole number that only rises, and when it came about. */
export interface ConfigurationVersion {
  readonly version: number;
  readonly instant: Date;
}

/**
 * Reads the published states of one organization. Every rule, check and gate reads other objects through the reader it is
 * handed, never by a query of its own: so it can be judged against what is live, or against what is about to land.
 */
export interface StateReader {
  readonly organization: string;
  readonly at: ConfigurationVersion;
  /** Null: no such object. */
  get<State>(kind: StateKind<State>, id: string): Live<State> | null;
  /** Every object of the kind, oldest first: it takes the longer the more there are. */
  all<State>(kind: StateKind<State>): readonly Live<State>[];
  /** The objects of one group, oldest first: as they are at this moment, not to be kept while waiting for something else. */
  group<State>(grouping: Grouping<State>, name: string): readonly Live<State>[];
  /** Every group that has members, likewise. */
  groups<State>(grouping: Grouping<State>): ReadonlyMap<string, readonly Live<State>[]>;
}

/** All objects of an organization at one version. */
export interface OrganizationStates {
  readonly organization: string;
  at: ConfigurationVersion;
  /** By kind, then by id; each in the order of creation. */
  readonly kinds: Map<string, LiveObjects>;
}

const nothing = new LiveObjects();

/** A reader of states that lie in memory. */
export function readerOf(states: OrganizationStates): StateReader {
  const groups = <State>(grouping: Grouping<State>) =>
    (states.kinds.get(grouping.kind.name) ?? nothing).groups(grouping) as ReadonlyMap<string, readonly Live<State>[]>;
  return {
    organization: states.organization,
    get at() {
      return states.at;
    },
    get: <State>(kind: StateKind<State>, id: string) =>
      (states.kinds.get(kind.name)?.get(id) as Live<State> | undefined) ?? null,
    all: <State>(kind: StateKind<State>) => [...(states.kinds.get(kind.name)?.values() ?? [])] as Live<State>[],
    group: (grouping, name) => groups(grouping).get(name) ?? [],
    groups,
  };
}

/**
 * An object as a landing left it, for showing it without reading it back.
 *
 * @param before as it was; null: it is new, and its ordinal, which only its row knows, is told as 0
 */
export const liveAfter = <State>(
  kind: StateKind<State>,
  id: string,
  before: Live<State> | null,
  state: State,
  { version, instant }: ConfigurationVersion,
): Live<State> => ({
  kind: kind.name,
  id,
  version,
  ordinal: before?.ordinal ?? 0,
  dateCreated: before?.dateCreated ?? instant,
  dateUpdated: instant,
  state,
});

/** A reader of the states as they are once some objects have become others: live, with what is about to land laid over it. */
export function readerWith(reader: StateReader, at: ConfigurationVersion, landed: readonly Live[]): StateReader {
  const over = new Map<string, Map<string, Live>>();
  for (const live of landed) over.set(live.kind, (over.get(live.kind) ?? new Map<string, Live>()).set(live.id, live));
  const all = <State>(kind: StateKind<State>) => {
    const fresh = new Map(over.get(kind.name) as ReadonlyMap<string, Live<State>> | undefined);
    const kept = reader.all(kind).map((live) => {
      const landed = fresh.get(live.id) ?? live;
      fresh.delete(live.id);
      return landed;
    });
    return [...kept, ...fresh.values()];
  };
  return {
    organization: reader.organization,
    at,
    get: <State>(kind: StateKind<State>, id: string) =>
      (over.get(kind.name)?.get(id) as Live<State> | undefined) ?? reader.get(kind, id),
    all,
    group: (grouping, name) => grouped(grouping, all(grouping.kind)).get(name) ?? [],
    groups: (grouping) => grouped(grouping, all(grouping.kind)),
  };
}

/** Objects in their groups, worked out by going through all of them. */
export function grouped<State>(grouping: Grouping<State>, objects: readonly Live<State>[]): Map<string, Live<State>[]> {
  const groups = new Map<string, Live<State>[]>();
  for (const live of objects) {
    for (const name of new Set(grouping.groupsOf(live.state))) {
      const members = groups.get(name) ?? [];
      groups.set(name, members);
      members.push(live);
    }
  }
  return groups;
}
