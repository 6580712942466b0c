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

/** A reader that remembers what was read, so that a landing can prove that none of it has changed since. */
export interface RecordingReader extends StateReader {
  /** Whether something of this kind and id, now at `version` (0: gone), is not what this reader read. */
  wouldReadOtherwise(kind: string, id: string, version: number): boolean;
}

export function recordingReader(reader: StateReader): RecordingReader {
  const at = reader.at;
  const versions = new Map<string, Map<string, number>>();
  const wholeKinds = new Set<string>();
  return {
    organization: reader.organization,
    at,
    get(kind, id) {
      const live = reader.get(kind, id);
      const ofKind = versions.get(kind.name) ?? new Map<string, number>();
      versions.set(kind.name, ofKind.set(id, live?.version ?? 0));
      return live;
    },
    all(kind) {
      wholeKinds.add(kind.name);
      return reader.all(kind);
    },
    wouldReadOtherwise(kind, id, version) {
      if (wholeKinds.has(kind)) return version > at.version;
      const read = versions.get(kind)?.get(id);
      return read !== undefined && read !== version;
    },
  };
}
