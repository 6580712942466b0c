import { randomBytes } from 'node:crypto';
import type { Affected, RuleKinds } from '../../flags/index.ts';
import { backoff, type Log, within } from '../../platform/index.ts';
import type { OrganizationStates } from '../../record/index.ts';
import { type LiveConnection, payloadOptions } from '../connection.ts';
import {
  askAgainEvent,
  Bodies,
  type Ciphertexts,
  encrypted,
  type PayloadText,
  payloadEvent,
  payloadHash,
  payloadMembers,
  type Served,
  type ServedConnection,
  Streams,
} from '../serving/index.ts';
import { CompiledConnection } from './compiled-connection.ts';
import type { PayloadChange, PayloadChanges } from './payload-changes.ts';

export interface ConnectionTools {
  readonly kinds: RuleKinds;
  readonly changes: PayloadChanges;
  readonly log: Log;
  /** Whether the database answers, as far as is known. */
  readonly databaseAnswers: () => boolean;
  /** Reads on to the newest configuration version. */
  readonly catchUp: (organization: string) => Promise<void>;
  /** Whether others than SDKs want to hear of every change of a connection's payload. */
  readonly listened: (connection: LiveConnection) => boolean;
}

/** No SDK waits longer than this, in milliseconds, for the database to say which version changed a payload. */
const longestSettling = 1_000;

/** The service itself knows everything of what it serves. */
interface ServedHere extends Served {
  readonly change: PayloadChange;
  readonly text: PayloadText;
  readonly unhashed: PayloadText;
}

/**
 * The payload of one connection from the published states to the bytes: compiled at its first use, kept up to date from
 * then on, and told to the streams when it changes.
 */
export class DeliveredConnection implements ServedConnection {
  readonly live: LiveConnection;
  readonly organization: string;
  readonly streams = new Streams();
  readonly #states: OrganizationStates;
  readonly #tools: ConnectionTools;
  readonly #compiled: CompiledConnection;
  /** The same payload with unhashed operands; null where it hashes none. */
  readonly #unhashed: CompiledConnection | null;
  /** What must be compiled again; null: nothing. */
  #pending: Affected | null = 'all';
  #hashed: { readonly text: PayloadText; readonly hash: string } | null = null;
  #encrypted: { readonly hash: string; readonly ciphertexts: Ciphertexts } | null = null;
  #served: ServedHere | null = null;
  #version = 0;
  #refreshing: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
  #attempt = 0;
  #closed = false;

  constructor(live: LiveConnection, states: OrganizationStates, tools: ConnectionTools) {
    this.live = live;
    this.organization = states.organization;
    this.#states = states;
    this.#tools = tools;
    const options = payloadOptions(live.state);
    this.#compiled = new CompiledConnection(options, tools.kinds);
    this.#unhashed = options.hashSecureAttributes
      ? new CompiledConnection({ ...options, hashSecureAttributes: false }, tools.kinds)
      : null;
  }

  get id(): string {
    return this.live.id;
  }

  get remoteOnly(): boolean {
    return this.live.state.remoteEvalEnabled === true;
  }

  /** Null: nothing has been compiled yet. */
  get served(): ServedHere | null {
    return this.#served;
  }

  /** The configuration version up to which what is served is right. */
  get version(): number {
    return this.#version;
  }

  /** The ids of the features in the payload, as of the states now. */
  async featureIds(): Promise<ReadonlySet<string>> {
    await this.refresh();
    return this.#compiled.ids();
  }

  /** Compiles what nobody has asked for yet, where others than SDKs want to hear of its changes. */
  listen(): void {
    if (this.#served === null && this.#tools.listened(this.live)) this.#refreshSoon();
  }

  /** Takes note that the configuration has moved on. What nobody has asked for yet is compiled when somebody does. */
  note(affected: Affected): void {
    const idle = this.#served !== null && this.#refreshing === null && this.#pending === null;
    if (idle && affected !== 'all' && affected.size === 0) {
      this.#version = this.#states.at.version;
      return;
    }
    this.#pending = union(this.#pending, affected);
    if (this.#served !== null || this.#tools.listened(this.live)) this.#refreshSoon();
  }

  #refreshSoon(): void {
    this.refresh().catch((error: unknown) => {
      this.#tools.log.warn({ err: error, connection: this.id }, 'A payload could not be refreshed; it is tried again');
      if (!this.#closed) this.#refreshLater();
    });
  }

  /** Takes note that the database knows a later change of this payload than is served. */
  noteChange(): void {
    const known = this.#tools.changes.of(this.id);
    if (this.#served !== null && known !== null && known.version > this.#served.change.version) this.#refreshSoon();
  }

  /** Compiles what nobody has asked for so far. It waits for nothing but, for a moment, the database. */
  async prepare(): Promise<void> {
    if (this.#served === null) await this.refresh();
  }

  /** Reads on to the newest configuration version and serves it. */
  async catchUp(): Promise<void> {
    await this.#tools.catchUp(this.organization);
    await this.refresh();
  }

  /** Brings what is served up to the states as they are now. One run at a time; what comes meanwhile is taken along. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#run().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #run(): Promise<void> {
    do {
      const affected = this.#pending ?? new Set<string>();
      this.#pending = null;
      // Compiled in one go, without waiting in between: what comes out belongs to exactly this version.
      const { at } = this.#states;
      const text = this.#compiled.compile(this.#states, affected);
      const unhashed = this.#unhashed?.compile(this.#states, affected) ?? text;
      const hash = this.#hashOf(text);
      const change = await this.#settled({ ...at, hash }, text);
      if (this.#closed) return;
      if (change.hash === hash) {
        this.#serve({ text, unhashed, change }, at.version);
      } else {
        // Another process is ahead and has settled a later change: what it has seen is on its way here as well.
        await this.#tools.catchUp(this.organization);
      }
    } while (this.#pending !== null || this.#version < this.#states.at.version);
  }

  /** Null: the payload goes out plain. */
  get #encryptionKey(): string | null {
    const { encryptPayload, encryptionKey } = this.live.state;
    return encryptPayload ? encryptionKey : null;
  }

  #hashOf(text: PayloadText): string {
    if (this.#hashed?.text !== text) this.#hashed = { text, hash: payloadHash(text, this.#encryptionKey) };
    return this.#hashed.hash;
  }

  async #settled(fresh: Omit<PayloadChange, 'ciphertexts'>, text: PayloadText): Promise<PayloadChange> {
    const { changes, log, databaseAnswers } = this.#tools;
    const known = changes.of(this.id);
    if (known?.hash === fresh.hash) return known;
    const unsettled = { ...fresh, ciphertexts: this.#ciphertexts(fresh.hash, text) };
    try {
      if (!databaseAnswers()) throw new Error('the database is away');
      const of = { organization: this.organization, connection: this.id };
      const settled = await within(longestSettling, 'settling a change', changes.settle(of, unsettled));
      this.#attempt = 0;
      // The same version came out differently: another build of this service shares the database. Each serves its own.
      return settled.version === fresh.version && settled.hash !== fresh.hash ? unsettled : settled;
    } catch (error) {
      log.warn({ err: error, connection: this.id }, 'A changed payload is served before its change is settled');
      this.#refreshLater();
      const before = this.#served?.change;
      return before?.hash === fresh.hash ? before : unsettled;
    }
  }

  /** Made once for each change, also where settling it takes several tries. Null: the payload goes out plain. */
  #ciphertexts(hash: string, text: PayloadText): Ciphertexts | null {
    const key = this.#encryptionKey;
    if (key === null) return null;
    if (this.#encrypted?.hash !== hash) {
      this.#encrypted = { hash, ciphertexts: encrypted(text, key, () => randomBytes(16)) };
    }
    return this.#encrypted.ciphertexts;
  }

  #refreshLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#refreshSoon(), backoff(this.#attempt++, { first: 500, most: 30_000 }));
    this.#retry.unref();
  }

  #serve(fresh: Omit<ServedHere, 'bodies' | 'event'>, version: number): void {
    const { text, change } = fresh;
    const before = this.#served?.change;
    this.#version = version;
    if (before?.version === change.version && before.hash === change.hash) return;
    const bodies = new Bodies(payloadMembers(text, change.ciphertexts, change.instant), change.hash);
    const event = this.remoteOnly ? askAgainEvent(change.version) : payloadEvent(change.version, bodies.members);
    this.#served = { ...fresh, bodies, event };
    bodies.compress().catch((error: unknown) => {
      this.#tools.log.error({ err: error, connection: this.live.id }, 'A payload could not be compressed');
    });
    this.streams.broadcast(event);
  }

  /** The connection is gone, or has become another: what it serves ends here. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.streams.close();
  }
}

function union(one: Affected | null, other: Affected): Affected {
  if (one === null || other === 'all') return other;
  return one === 'all' ? 'all' : new Set([...one, ...other]);
}
