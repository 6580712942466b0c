import { setTimeout as pause } from 'node:timers/promises';
import { backoff, type Clock, type Log } from '../../platform/index.ts';
import {
  askAgainEvent,
  Bodies,
  payloadEvent,
  payloadHash,
  type Served,
  type ServedConnection,
  Streams,
} from '../serving/index.ts';
import type { KeptPayload, KeptPayloads } from './kept-payloads.ts';
import { MalformedPayload, readPayload } from './read-payload.ts';
import {
  type ConnectionFacts,
  restAfter,
  type Upstream,
  UpstreamAway,
  type UpstreamPayload,
  UpstreamRefusal,
} from './upstream.ts';

export interface EdgeConnectionTools {
  readonly upstream: Upstream;
  readonly kept: KeptPayloads;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs what many connections would otherwise do at once. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** The upstream has no payload for this key, or no longer. */
  readonly onRefused: () => void;
}

const retries = { first: 250, most: 15_000 };
/** After a stream that lived as long, the next one is tried at once. */
const longEnough = 1_000;
const readAgainAfter = 60_000;
/** Questions of clients for versions that are not here, under way at the same time. */
const mostQuestions = 8;
const quietAfterFailure = 500;
/** How often an answer is asked for again that was overtaken by another. */
const mostReads = 4;

/**
 * One connection as its upstream serves it: its payload in memory and on disk, and told to the streams when it changes. It
 * follows the upstream by a stream and reads the payload itself after every word of it. Versions only rise, whatever the
 * upstream says.
 */
export class EdgeConnection implements ServedConnection {
  readonly facts: ConnectionFacts;
  readonly streams = new Streams();
  readonly #tools: EdgeConnectionTools;
  readonly #stopping = new AbortController();
  readonly #questions = new Map<number, Promise<void>>();
  #served: (Served & { readonly hash: string }) | null = null;
  #version = 0;
  /** Milliseconds since 1970: when what is served was last known to be the newest. */
  #knownAt = 0;
  /** The upstream is away, or cannot say itself whether it knows the newest. */
  #unsure = true;
  #refused = false;
  #readAt = 0;
  #quietUntil = 0;
  #applying: Promise<unknown> = Promise.resolve();
  #complaint = '';

  constructor(facts: ConnectionFacts, tools: EdgeConnectionTools) {
    this.facts = facts;
    this.#tools = tools;
  }

  get id(): string {
    return this.facts.id;
  }

  get remoteOnly(): boolean {
    return this.facts.remoteOnly;
  }

  get served(): Served | null {
    return this.#served;
  }

  get version(): number {
    return this.#version;
  }

  /** Whether the upstream has said that there is nothing to be had with this key. */
  get refused(): boolean {
    return this.#refused;
  }

  /** Seconds since what is served was last known to be the newest; null: it is known to be. */
  age(): number | null {
    return this.#unsure ? Math.max(0, Math.floor((this.#now() - this.#knownAt) / 1_000)) : null;
  }

  /** Nothing that is older may be served. */
  startFrom(version: number): void {
    this.#version = Math.max(this.#version, version);
  }

  /** Takes up what was served before this process began. */
  restore(kept: KeptPayload): void {
    this.startFrom(kept.version);
    try {
      this.#prepare(kept)();
      this.#knownAt = kept.knownAt;
    } catch (error) {
      if (!(error instanceof MalformedPayload)) throw error;
      this.#tools.log.warn({ err: error, connection: this.id }, 'A copy on disk is not used');
    }
  }

  /** Nothing can be made here: what is not at hand must come from the upstream. */
  async prepare(): Promise<void> {}

  /** Asks the upstream for a version that is not here. */
  async catchUp(least: number): Promise<void> {
    if (this.#served !== null && this.#version >= least) return;
    const asked = this.#questions.get(least);
    if (asked !== undefined) return asked;
    if (this.#questions.size >= mostQuestions || performance.now() < this.#quietUntil) return;
    const question = this.#read(least)
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#quietUntil = performance.now() + quietAfterFailure;
        this.#tools.log.debug({ err: error, connection: this.id }, 'A version could not be had from the upstream');
      })
      .finally(() => this.#questions.delete(least));
    this.#questions.set(least, question);
    return question;
  }

  /** Follows the upstream until it is stopped. */
  async follow(): Promise<void> {
    const { signal } = this.#stopping;
    for (let attempt = 0; !signal.aborted; attempt++) {
      let begin = Number.POSITIVE_INFINITY;
      let rest = 0;
      try {
        await this.#readOn(0);
        begin = performance.now();
        await this.#listen();
      } catch (error) {
        if (signal.aborted) return;
        this.#unsure = true;
        // What it refused before, it may give when it is back.
        if (!(error instanceof UpstreamRefusal)) this.#refused = false;
        this.#complain(error);
        rest = restAfter(error);
      }
      if (performance.now() - begin > longEnough) attempt = 0;
      const wait = Math.max(backoff(attempt, retries), rest);
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Ends what it serves, and keeps on disk until when that was the newest. */
  async stop(): Promise<void> {
    this.#leave();
    const known = { key: this.facts.key, version: this.#version, knownAt: this.#knownAt };
    if (this.#served !== null) await this.#inOrder(() => this.#tools.kept.note(known));
  }

  /** Ends what it serves, for good: nobody may have it any more. */
  async forget(): Promise<void> {
    this.#leave();
    await this.#inOrder(() => this.#tools.kept.remove(this.facts.key));
  }

  #leave(): void {
    this.#stopping.abort();
    this.streams.close();
  }

  /** Listens to the stream of the upstream until it ends. What changed between the last reading and now, it tells first. */
  async #listen(): Promise<void> {
    const { upstream } = this.#tools;
    for await (const news of upstream.follow(this.facts, this.#version, this.#stopping.signal)) {
      if (news.type === 'change' && (news.id === 0 || news.id > this.#version)) {
        await this.#readOn(news.id);
      } else if (this.#unsure || performance.now() - this.#readAt > readAgainAfter) {
        await this.#readOn(0);
      } else {
        this.#knownAt = this.#now();
      }
    }
  }

  /** Reads what is new, as one who follows: from then on it is the newest until something else is heard. */
  async #readOn(least: number): Promise<void> {
    const { age } = await this.#tools.inTurn(() => this.#read(least));
    this.#unsure = age !== null;
    this.#refused = false;
    this.#readAt = performance.now();
    if (this.#complaint === '') return;
    this.#complaint = '';
    this.#tools.log.info({ connection: this.id, version: this.#version }, 'The upstream answers again');
  }

  /**
   * Reads the payload, not older than what is here nor than a version, and serves it.
   *
   * @throws UpstreamAway | MalformedPayload when what is here stays
   * @throws UpstreamRefusal when nothing is served any more
   */
  async #read(least: number): Promise<UpstreamPayload> {
    let hash = this.#served?.hash ?? null;
    for (let read = 1; read <= mostReads; read++) {
      const wanted = Math.max(least, this.#version);
      const askedAt = this.#now();
      const answer = await this.#ask({ least: wanted, hash });
      if (answer.version < wanted) {
        throw new UpstreamAway(
          `The upstream answers with version ${answer.version}, which is older than ${wanted}. If its database was restored ` +
            'from a backup, stop the edge and remove the folder "edge" of its HALYARD_DATA_DIR.',
        );
      }
      const plainMembers = await this.#plainMembers(answer);
      const taken =
        plainMembers !== undefined && (await this.#inOrder(() => this.#take(answer, plainMembers, askedAt)));
      if (taken) return answer;
      hash = null;
    }
    throw new UpstreamAway('The payload changes faster than it can be read');
  }

  async #ask(question: { least: number; hash: string | null }): Promise<UpstreamPayload> {
    try {
      return await this.#tools.upstream.payload(this.facts, question);
    } catch (error) {
      if (error instanceof UpstreamRefusal) await this.#inOrder(() => this.#end());
      throw error;
    }
  }

  /** The plain payload beside one that is hashed; null: there is none, or it cannot be had; undefined: not of that change. */
  async #plainMembers({ members, hashed, version, change }: UpstreamPayload): Promise<string | null | undefined> {
    const { upstream } = this.#tools;
    if (members === null || !hashed || !upstream.hasSecretKey) return null;
    const plain = await upstream.plainPayload(this.facts, version);
    return plain.change === change && plain.members !== null ? plain.members : undefined;
  }

  /** Several answers may be under way: each is taken whole before the next one. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#applying.then(work);
    this.#applying = done.catch(() => undefined);
    return done;
  }

  /** @returns false when the answer builds on what is not here any more */
  async #take(answer: UpstreamPayload, plainMembers: string | null, askedAt: number): Promise<boolean> {
    const { kept } = this.#tools;
    const { version, age } = answer;
    if (this.#stopping.signal.aborted || version < this.#version) return true;
    const knownAt = askedAt - (age ?? 0) * 1_000;
    const { key } = this.facts;
    if (this.#isServed(answer)) {
      if (version > this.#version || knownAt > this.#knownAt) await kept.note({ key, version, knownAt });
    } else {
      if (answer.members === null) return false;
      const fresh = this.#keptFrom(answer, answer.members, plainMembers, knownAt);
      const serve = this.#prepare(fresh);
      // Kept before it is served: what a restarted edge begins with is never older than what it has said. Where the disk
      // fails it is served all the same, the newest before all, and that is promised no longer.
      await kept.keep(fresh);
      serve();
    }
    this.#version = version;
    this.#knownAt = Math.max(this.#knownAt, knownAt);
    return true;
  }

  #isServed({ members, change }: UpstreamPayload): boolean {
    const served = this.#served;
    if (served === null || served.change.version !== change) return false;
    return members === null || served.bodies.members.equals(Buffer.from(`${members}}`));
  }

  #keptFrom(
    { version, change, hashed, hash }: UpstreamPayload,
    members: string,
    plainMembers: string | null,
    knownAt: number,
  ): KeptPayload {
    const { text, encrypted } = readPayload(members, this.facts.encryptionKey);
    const computed = text === null ? null : payloadHash(text, encrypted ? this.facts.encryptionKey : null);
    const told = hash ?? computed;
    if (told === null) throw new MalformedPayload('The upstream sent an encrypted payload without its ETag');
    const withSecretKey = this.#tools.upstream.hasSecretKey;
    return { ...this.facts, version, knownAt, withSecretKey, change, hashed, hash: told, members, plainMembers };
  }

  /** Makes what is served, and gives back how to serve it. */
  #prepare({ members, plainMembers, change, hashed, hash }: KeptPayload): () => void {
    const { text, dateUpdated } = readPayload(members, this.facts.encryptionKey);
    const plain = plainMembers === null ? null : readPayload(plainMembers, null).text;
    const bodies = new Bodies(members, hash);
    const event = this.remoteOnly ? askAgainEvent(change) : payloadEvent(change, bodies.members);
    const instants = { version: change, instant: dateUpdated };
    return () => {
      this.#served = { bodies, change: instants, event, text, unhashed: hashed ? plain : text, hash };
      bodies.compress().catch((error: unknown) => {
        this.#tools.log.error({ err: error, connection: this.id }, 'A payload could not be compressed');
      });
      this.streams.broadcast(event);
    };
  }

  /** There is nothing to be had any more, for nobody: what is here must not be served either. */
  async #end(): Promise<void> {
    this.#refused = true;
    this.#served = null;
    this.streams.close();
    await this.#tools.kept.remove(this.facts.key);
    this.#tools.onRefused();
  }

  /** Says once what is the matter, however often it is tried. */
  #complain(error: unknown): void {
    const { message } = error as Error;
    if (message === this.#complaint) return;
    this.#complaint = message;
    this.#tools.log.warn(
      { err: error, connection: this.id },
      this.#refused
        ? 'The upstream has no payload for a client key: it is not served'
        : 'The upstream cannot be followed: what it said last is served, and it is asked again',
    );
  }

  #now(): number {
    return this.#tools.clock.now().getTime();
  }
}
