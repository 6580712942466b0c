import { setTimeout as pause } from 'node:timers/promises';
import { backoff, type Clock, type Log } from '../../platform/index.ts';
import type { PayloadSource, ServedConnection } from '../serving/index.ts';
import { EdgeConnection } from './edge-connection.ts';
import { type KeptPayload, KeptPayloads } from './kept-payloads.ts';
import { type ConnectionFacts, type Patience, restAfter, Upstream } from './upstream.ts';

export interface EdgeOptions {
  /** Where the service is that is followed. */
  readonly address: string;
  /** Which connections are served: those of these client keys, or all that a secret key can see. */
  readonly credentials: { readonly clientKeys: readonly string[] } | { readonly secretKey: string };
  readonly dataDirectory: string;
  /** How long the upstream may take; the usual times where it is left out. */
  readonly patience?: Patience;
  readonly clock: Clock;
  readonly log: Log;
}

const listEvery = 60_000;
const listRetries = { first: 500, most: 15_000 };
/** How soon the list is read again for keys that are not in it. */
const listSoonAfter = 2_000;
/** Keys that are remembered because they are not in the list: SDKs may ask for any. */
const mostStrangers = 1_000;
const readsAtOnce = 16;

/** Serves what another Halyard serves, from memory: also while that one is away. */
export class Edge implements PayloadSource {
  readonly #upstream: Upstream;
  readonly #kept: KeptPayloads;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #byKey = new Map<string, EdgeConnection>();
  readonly #stopping = new AbortController();
  readonly #inTurn = turns(readsAtOnce);
  readonly #hasList: boolean;
  /** The list has been read, at least once. */
  #listKnown = false;
  /** So it was when it was read last. */
  #listAnswers = false;
  #listReadAt = Number.NEGATIVE_INFINITY;
  #soon: NodeJS.Timeout | undefined;
  /** Keys that were asked for since the list was last begun to be read, and are not known. */
  #asked = new Set<string>();
  /** Keys that were asked for before a reading of the list that does not have them. */
  readonly #strangers = new Set<string>();
  /** Ends the pause before the list is read again. */
  #readListNow = new AbortController();
  /** Resolves when the list has been read the next time; null: there is no list to read. */
  #nextList: PromiseWithResolvers<void> | null = null;

  private constructor({ clock, log }: EdgeOptions, upstream: Upstream, kept: KeptPayloads) {
    this.#upstream = upstream;
    this.#kept = kept;
    this.#hasList = upstream.hasSecretKey;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes up what is kept on disk, and begins to follow the upstream. */
  static async start(options: EdgeOptions): Promise<Edge> {
    const { address, credentials, dataDirectory, patience, log } = options;
    const kept = await KeptPayloads.open(dataDirectory, log);
    const secretKey = 'secretKey' in credentials ? credentials.secretKey : null;
    const edge = new Edge(options, new Upstream(address, secretKey, patience), kept);
    const copies = (await kept.all()).filter(({ withSecretKey }) => withSecretKey === (secretKey !== null));
    if ('clientKeys' in credentials) {
      for (const key of credentials.clientKeys) {
        const facts = { id: key, key, remoteOnly: false, encryptionKey: null };
        await edge.#add(facts, copies.find((copy) => copy.key === key) ?? null);
      }
    } else {
      for (const copy of copies) {
        const { id, key, remoteOnly, encryptionKey } = copy;
        await edge.#add({ id, key, remoteOnly, encryptionKey }, copy);
      }
      edge.#nextList = Promise.withResolvers();
      void edge.#followList();
    }
    return edge;
  }

  use(key: string): ServedConnection | undefined {
    const connection = this.#byKey.get(key);
    return connection === undefined || connection.refused ? undefined : connection;
  }

  connections(): Iterable<ServedConnection> {
    return this.#byKey.values();
  }

  /**
   * Client keys that were given are all there are. A list may be behind: a key counts as none once the list that was read
   * after it was first asked for does not have it, and as long as the upstream answers.
   */
  isNoKey(key: string): boolean {
    if (!this.#hasList) return true;
    if (this.#strangers.has(key)) return this.#upstreamAnswers;
    if (!this.#asked.has(key) && this.#asked.size < mostStrangers) {
      this.#asked.add(key);
      this.#readListSoon();
    }
    return false;
  }

  /** Reads the list of connections again. */
  async catchUp(): Promise<void> {
    this.#readListSoon();
    await this.#nextList?.promise;
  }

  age(connection: ServedConnection): number | null {
    return connection instanceof EdgeConnection ? connection.age() : null;
  }

  /** Whether there is something to serve, or is known that there is nothing. */
  get ready(): boolean {
    const connections = [...this.#byKey.values()];
    return connections.some(({ served }) => served !== null) || (this.#listKnown && connections.length === 0);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#upstream.stop();
    await Promise.all(Array.from(this.#byKey.values(), (connection) => connection.stop()));
    this.#kept.close();
  }

  /**
   * @param copy of its payload, from the disk
   * @param least the version that has been served of it already
   */
  async #add(facts: ConnectionFacts, copy: KeptPayload | null, least = 0): Promise<void> {
    const connection = new EdgeConnection(facts, {
      upstream: this.#upstream,
      kept: this.#kept,
      clock: this.#clock,
      log: this.#log,
      inTurn: this.#inTurn,
      onRefused: () => this.#readListNow.abort(),
    });
    connection.startFrom(least);
    // Without the payload, at least what it must not fall behind.
    if (copy === null) connection.startFrom((await this.#kept.knowledge(facts.key))?.version ?? 0);
    else connection.restore(copy);
    this.#byKey.set(facts.key, connection);
    void connection.follow();
  }

  get #upstreamAnswers(): boolean {
    const connections = [...this.#byKey.values()];
    return this.#listAnswers && (connections.length === 0 || connections.some((one) => one.age() === null));
  }

  /** Reads the list as soon as the last reading is long enough ago. */
  #readListSoon(): void {
    const wait = Math.max(0, this.#listReadAt + listSoonAfter - performance.now());
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.#readListNow.abort(), wait).unref();
  }

  async #followList(): Promise<void> {
    const { signal } = this.#stopping;
    let complaint = '';
    for (let attempt = 0; !signal.aborted; attempt++) {
      this.#readListNow = new AbortController();
      this.#listReadAt = performance.now();
      clearTimeout(this.#soon);
      const asked = this.#asked;
      this.#asked = new Set();
      let leaveAlone = listRetries.first;
      try {
        await this.#reconcile(await this.#upstream.connections());
        for (const key of asked) this.#noteStranger(key);
        this.#listAnswers = true;
        attempt = 0;
        complaint = '';
      } catch (error) {
        if (signal.aborted) return;
        for (const key of asked) this.#asked.add(key);
        this.#listAnswers = false;
        leaveAlone = Math.max(backoff(attempt, listRetries), restAfter(error));
        const { message } = error as Error;
        if (message !== complaint) {
          this.#log.warn({ err: error }, 'The list of SDK connections could not be read; it is tried again');
        }
        complaint = message;
      }
      // Whatever ends the longer pause early may happen often, and is no reason to press an upstream that fails.
      await pause(leaveAlone, undefined, { signal, ref: false }).catch(() => undefined);
      if (!this.#listAnswers) continue;
      const ending = AbortSignal.any([signal, this.#readListNow.signal]);
      const wait = listEvery * (0.9 + Math.random() * 0.2);
      await pause(wait, undefined, { signal: ending, ref: false }).catch(() => undefined);
    }
  }

  #noteStranger(key: string): void {
    if (this.#byKey.has(key)) return;
    // They are asked for again.
    if (this.#strangers.size >= mostStrangers) this.#strangers.clear();
    this.#strangers.add(key);
  }

  /** Serves the connections of the list and no others. One whose facts have changed starts afresh. */
  async #reconcile(listed: readonly ConnectionFacts[]): Promise<void> {
    const wanted = new Map(listed.map((facts) => [facts.key, facts]));
    for (const [key, connection] of this.#byKey) {
      const facts = wanted.get(key);
      if (facts !== undefined && isSame(facts, connection.facts)) continue;
      this.#byKey.delete(key);
      await connection.forget();
      if (facts === undefined) this.#noteStranger(key);
      else await this.#add(facts, null, connection.version);
    }
    for (const [key, facts] of wanted) if (!this.#byKey.has(key)) await this.#add(facts, null);
    this.#listKnown = true;
    this.#nextList?.resolve();
    this.#nextList = Promise.withResolvers();
  }
}

const isSame = (one: ConnectionFacts, other: ConnectionFacts): boolean =>
  one.id === other.id && one.remoteOnly === other.remoteOnly && one.encryptionKey === other.encryptionKey;

/** Lets so many works run at once; the others wait for their turn. */
function turns(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
