import type { FeatureDependents as Dependents, RuleKinds } from '../flags/index.ts';
import { FeatureDependents, featureKind } from '../flags/index.ts';
import { environmentKind, projectKind, settingsKind } from '../organization/index.ts';
import type { Db, Log, News } from '../platform/index.ts';
import type { Live, LiveChange, LiveStates, OrganizationStates } from '../record/index.ts';
import { readerOf } from '../record/index.ts';
import { attributeKind } from '../targeting/index.ts';
import { type ConnectionState, connectionKind, type LiveConnection } from './connection.ts';
import { DeliveredConnection } from './payload/delivered-connection.ts';
import { type PayloadChange, PayloadChanges } from './payload/payload-changes.ts';
import type { PayloadSource } from './serving/index.ts';

/** Kinds of which every payload of the organization may read any part. */
const readByAll = new Set([environmentKind, projectKind, settingsKind, attributeKind].map(({ name }) => name));

interface OrganizationDelivery {
  readonly states: OrganizationStates;
  readonly dependents: Dependents;
  /** By id. */
  readonly connections: Map<string, DeliveredConnection>;
}

/**
 * Delivers payloads: follows the published states in memory, finds the connections whose payload a change can reach, and
 * keeps what they serve up to date.
 */
export class Delivery implements PayloadSource {
  readonly #live: LiveStates;
  readonly #changes: PayloadChanges;
  readonly #kinds: RuleKinds;
  readonly #log: Log;
  readonly #noteUse: (connection: DeliveredConnection) => void;
  readonly #organizations = new Map<string, OrganizationDelivery>();
  readonly #byKey = new Map<string, DeliveredConnection>();
  #lastChanges = new Map<string, PayloadChange>();

  /** @param tools `noteUse` notes that SDKs use a connection */
  constructor(tools: {
    db: Db;
    live: LiveStates;
    kinds: RuleKinds;
    log: Log;
    noteUse: (connection: DeliveredConnection) => void;
  }) {
    this.#live = tools.live;
    this.#changes = new PayloadChanges(tools.db);
    this.#kinds = tools.kinds;
    this.#log = tools.log;
    this.#noteUse = tools.noteUse;
  }

  /** Takes up all connections, once the states are loaded, and follows the states from then on. */
  async start(): Promise<void> {
    this.#lastChanges = await this.#changes.all();
    for (const states of this.#live.organizations()) this.#takeUp(states);
    this.#live.onChange((states, changes) => this.#follow(states, changes));
  }

  /** The connection of a client key; undefined: there is none. */
  find(key: string): DeliveredConnection | undefined {
    return this.#byKey.get(key);
  }

  use(key: string): DeliveredConnection | undefined {
    const connection = this.#byKey.get(key);
    if (connection !== undefined) this.#noteUse(connection);
    return connection;
  }

  /** All connections are known from the start on. */
  get knowsAllKeys(): boolean {
    return true;
  }

  age(): number | null {
    return null;
  }

  connections(): Iterable<DeliveredConnection> {
    return this.#byKey.values();
  }

  /** Hears what other processes have settled. */
  hear(news: News): void {
    if (news.topic !== 'payload') return;
    const connection = this.#organizations.get(news.organization)?.connections.get(news.connection);
    connection?.noteChange().catch((error: unknown) => {
      this.#log.warn({ err: error, connection: news.connection }, 'A change of a payload could not be read');
    });
  }

  stop(): void {
    for (const connection of this.#byKey.values()) connection.close();
  }

  #takeUp(states: OrganizationStates): OrganizationDelivery {
    const taken = { states, dependents: new FeatureDependents(readerOf(states)), connections: new Map() };
    this.#organizations.set(states.organization, taken);
    for (const live of states.kinds.get(connectionKind.name)?.values() ?? [])
      this.#connect(taken, live as LiveConnection);
    return taken;
  }

  #follow(states: OrganizationStates, changes: readonly LiveChange[]): void {
    const organization = this.#organizations.get(states.organization);
    if (organization === undefined) {
      this.#takeUp(states);
      return;
    }
    const { dependents, connections } = organization;
    dependents.apply(changes);
    const features = changes.filter(({ kind }) => kind === featureKind.name).map(({ id }) => id);
    const affected = changes.some(({ kind }) => readByAll.has(kind))
      ? 'all'
      : dependents.withDependents([...features, ...dependents.crossed(states.at.instant)]);
    for (const connection of connections.values()) connection.note(affected);
    for (const { kind, id, before, after } of changes) {
      if (kind === connectionKind.name) this.#reconnect(organization, id, before, after);
    }
  }

  /** A connection was made, changed or deleted. Streams of a changed one are closed: their SDKs come back to the new one. */
  #reconnect(organization: OrganizationDelivery, id: string, before: Live | null, after: Live | null): void {
    const old = organization.connections.get(id);
    if (before !== null) this.#byKey.delete((before.state as ConnectionState).key);
    organization.connections.delete(id);
    if (after !== null) {
      const fresh = this.#connect(organization, after as LiveConnection, old);
      if (old?.served !== null) void fresh.refresh();
    }
    old?.close();
  }

  #connect(organization: OrganizationDelivery, live: LiveConnection, old?: DeliveredConnection): DeliveredConnection {
    const change = old?.served?.change ?? this.#lastChanges.get(live.id) ?? null;
    this.#lastChanges.delete(live.id);
    const connection = new DeliveredConnection(live, organization.states, change, {
      kinds: this.#kinds,
      changes: this.#changes,
      log: this.#log,
      catchUp: (id) => this.#live.catchUp(id),
    });
    organization.connections.set(live.id, connection);
    this.#byKey.set(live.state.key, connection);
    return connection;
  }
}
