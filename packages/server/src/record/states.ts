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
  /** Every object of the kind, oldest first. */
  all<State>(kind: StateKind<State>): readonly Live<State>[];
}

/** All objects of an organization at one version. */
export interface OrganizationStates {
  readonly organization: string;
  at: ConfigurationVersion;
  /** By kind, then by id; each in the order of creation. */
  readonly kinds: Map<string, Map<string, Live>>;
}

/** A reader of states that lie in memory. */
export function readerOf(states: OrganizationStates): StateReader {
  return {
    organization: states.organization,
    get at() {
      return states.at;
    },
    get: <State>(kind: StateKind<State>, id: string) =>
      (states.kinds.get(kind.name)?.get(id) as Live<State> | undefined) ?? null,
    all: <State>(kind: StateKind<State>) => [...(states.kinds.get(kind.name)?.values() ?? [])] as Live<State>[],
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
  return {
    organization: reader.organization,
    at,
    get: <State>(kind: StateKind<State>, id: string) =>
      (over.get(kind.name)?.get(id) as Live<State> | undefined) ?? reader.get(kind, id),
    all<State>(kind: StateKind<State>) {
      const fresh = new Map(over.get(kind.name) as ReadonlyMap<string, Live<State>> | undefined);
      const kept = reader.all(kind).map((live) => {
        const landed = fresh.get(live.id) ?? live;
        fresh.delete(live.id);
        return landed;
      });
      return [...kept, ...fresh.values()];
    },
  };
}

/** A reader that remembers what was read, so that a landing can prove that none of it has changed since. */
export interface RecordingReader extends StateReader {
  /** Whether a kind and id, now at `version`, would read otherwise than it did; false where it was not read. */
  wouldReadOtherwise(kind: string, id: string, version: number): boolean;
  /** Whether it was read and did not exist. */
  readAsAbsent(kind: string, id: string): boolean;
}

/** What was read of a kind. What is read twice reads the same twice, whatever happens in between. */
interface Readings {
  readonly byId: Map<string, Live | null>;
  /** Every object of the kind was read: one that is not among the readings did not exist. */
  whole: boolean;
}

export function recordingReader(reader: StateReader): RecordingReader {
  const { organization, at } = reader;
  const readings = new Map<string, Readings>();
  const of = (kind: string): Readings => {
    const known = readings.get(kind) ?? { byId: new Map(), whole: false };
    readings.set(kind, known);
    return known;
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
    all<State>(kind: StateKind<State>) {
      const known = of(kind.name);
      if (!known.whole) {
        const before = new Map(known.byId);
        known.byId.clear();
        for (const live of reader.all(kind)) known.byId.set(live.id, before.get(live.id) ?? live);
        known.whole = true;
      }
      return [...known.byId.values()].filter((live) => live !== null) as Live<State>[];
    },
    wouldReadOtherwise(kind, id, version) {
      const known = readings.get(kind);
      if (known === undefined) return false;
      const read = known.byId.get(id);
      return read === undefined ? known.whole : (read?.version ?? 0) !== version;
    },
    readAsAbsent: (kind, id) => (readings.get(kind)?.byId.get(id) ?? null) === null,
  };
}
