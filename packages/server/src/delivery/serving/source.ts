import type { ConfigurationVersion } from '../../record/index.ts';
import type { Bodies } from './bodies.ts';
import type { PayloadText } from './payload-text.ts';
import type { StreamEvent, Streams } from './streams.ts';

/** What is served of a connection's payload at the moment. */
export interface Served {
  readonly bodies: Bodies;
  /** The last version that changed this payload. */
  readonly change: ConfigurationVersion;
  /** What its streams are told. */
  readonly event: StreamEvent;
  /** The plain payload, whether or not it goes out encrypted; null: an edge passes it on unread, without its key. */
  readonly text: PayloadText | null;
  /**
   * The same with the operands of secure attributes as they were written: what values are evaluated from. Null: an edge does
   * not have it, and values cannot be evaluated there.
   */
  readonly unhashed: PayloadText | null;
}

/** A connection as the public routes see it. */
export interface ServedConnection {
  /** Its id, for the log. */
  readonly id: string;
  readonly streams: Streams;
  /** Its definitions may not be downloaded: SDKs ask for values. */
  readonly remoteOnly: boolean;
  /** Null: nothing is at hand yet. */
  readonly served: Served | null;
  /** The configuration version up to which what is served is right. */
  readonly version: number;
  /** Makes what is not at hand yet, out of what is known here. */
  prepare(): Promise<void>;
  /** Asks for the newest configuration version, of which at least this one is wanted, and serves it. */
  catchUp(least: number): Promise<void>;
}

/** Where the public routes find what they serve: the service fills it from its states, an edge from its upstream. */
export interface PayloadSource {
  /** The connection of a client key, which is in use from now on; undefined: none is known. */
  use(key: string): ServedConnection | undefined;
  connections(): Iterable<ServedConnection>;
  /**
   * Whether a key that `use` does not know is certain not to exist: not while what is known here may be older than the key. SDKs
   * ask again for one that may exist.
   */
  isNoKey(key: string): boolean;
  /** Asks for everything that is new, such as a connection that was made a moment ago. */
  catchUp(): Promise<void>;
  /** Seconds since what is served of a connection was last known to be the newest; null: it is known to be. */
  age(connection: ServedConnection): number | null;
}
