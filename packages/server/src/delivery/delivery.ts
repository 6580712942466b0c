import { affectedFeatures, prepareAffected, type RuleKinds } from '../flags/index.ts';
import type { Clock, Log, News, Presence } from '../platform/index.ts';
import type { Live, LiveChange, LiveStates, OrganizationStates } from '../record/index.ts';
import { readerOf } from '../record/index.ts';
import { type ConnectionState, connectionKind, type LiveConnection } from './connection.ts';
import { DeliveredConnection } from './payload/delivered-connection.ts';
import type { PayloadChanges } from './payload/payload-changes.ts';
import type { PayloadSource } from './serving/index.ts';
import type { PayloadListeners } from './webhooks/listeners.ts';

interface OrganizationDelivery {
  readonly states: OrganizationStates;
  /** By id. */
  readonly connections: Map<string, DeliveredConnection>;
}

export interface DeliveryTools {
  readonly live: LiveStates;
  readonly changes: PayloadChanges;
  readonly presence: Presence;
  readonly listeners: PayloadListeners;
  readonly kinds: RuleKinds;
  readonly clock: Clock;
  readonly log: Log;
  /** Notes that SDKs use a connection. */
  readonly noteUse: (connection: DeliveredConnection) => void;
}

/**
 * Delivers payloads: follows the published states in memory, finds the connections whose payload a change can reach, and
 * keeps what they serve up to date.
 */
export class Delivery implements PayloadSource {
  readonly #tools: DeliveryTools;
  readonly #organizations = new Map<string, OrganizationDelivery>();
  readonly #byKey = new Map<string, DeliveredConnection>();

  constructor(tools: DeliveryTools) {
    this.#tools = tools;
  }

  /** Takes up all connections that are known, and follows the states from then on. */
  start(): void {
    const { live, changes, listeners } = this.#tools;
    changes.tellBy((of) => listeners.telling(of));
    for (const states of live.organizations()) this.#takeUp(states);
    live.onChange((states, changes) => this.#follow(states, changes));
  }

  /** The connection of a client key; undefined: there is none. */
  find(key: string): DeliveredConnection | undefined {
    return this.#byKey.get(key);
  }

  /** Undefined: the organization has no such connection. */
  connection(organization: string, id: string): DeliveredConnection | undefined {
    return this.#organizations.get(organization)?.connections.get(id);
  }

  use(key: string): DeliveredConnection | undefined {
    const connection = this.#byKey.get(key);
    if (connection !== undefined) this.#tools.noteUse(connection);
    return connection;
  }

  isNoKey(): boolean {
    const { live, presence } = this.#tools;
    return live.loaded && presence.answers;
  }

  age(): number | null {
    const { presence, clock } = this.#tools;
    return presence.answers ? null : presence.age(clock.now());
  }

  connections(): Iterable<DeliveredConnection> {
    return this.#byKey.values();
  }

  /** Hears what other processes have settled, and that others listen than before. */
  hear(news: News): void {
    const { changes, log } = this.#tools;
    if (news.topic === 'listeners') {
      this.#listen().catch((error: unknown) => log.warn({ err: error }, 'Listeners of payloads could not be read'));
    }
    if (news.topic !== 'payload') return;
    const { organization, connection } = news;
    if ((changes.of(connection)?.version ?? 0) >= news.version) return;
    changes.read({ organization, connection }).then(
      () => this.#organizations.get(organization)?.connections.get(connection)?.noteChange(),
      (error: unknown) => log.warn({ err: error, connection }, 'A change of a payload could not be read'),
    );
  }

  catchUp(): Promise<void> {
    return this.#tools.live.catchUpAll();
  }

  /** Reads what other processes have settled, and who listens, while nothing was heard of them. */
  async closeGap(): Promise<void> {
    await this.#tools.changes.load();
    for (const connection of this.#byKey.values()) connection.noteChange();
    await this.#listen();
  }

  /** Reads who listens to payloads, and compiles those that nobody has asked for so far. */
  async #listen(): Promise<void> {
    await this.#tools.listeners.load();
    for (const connection of this.#byKey.values()) connection.listen();
  }

  stop(): void {
    for (const connection of this.#byKey.values()) connection.close();
  }

  #takeUp(states: OrganizationStates): OrganizationDelivery {
    prepareAffected(readerOf(states));
    const taken = { states, connections: new Map() };
    this.#organizations.set(states.organization, taken);
    for (const live of states.kinds.get(connectionKind.name)?.values() ?? [])
      this.#connect(taken, live as LiveConnection).listen();
    return taken;
  }

  #follow(states: OrganizationStates, changes: readonly LiveChange[]): void {
    const organization = this.#organizations.get(states.organization);
    if (organization?.states !== states) {
      this.#takeUp(states);
      return;
    }
    const affected = affectedFeatures(readerOf(states), changes);
    // First those that become others: what they served is of no version from now on.
    for (const { kind, id, before, after } of changes) {
      if (kind === connectionKind.name) this.#reconnect(organization, id, before, after);
    }
    for (const connection of organization.connections.values()) connection.note(affected);
  }

  /** A connection was made, changed or deleted. Streams of a changed one are closed: their SDKs come back to the new one. */
  #reconnect(organization: OrganizationDelivery, id: string, before: Live | null, after: Live | null): void {
    const old = organization.connections.get(id);
    if (before !== null) this.#byKey.delete((before.state as ConnectionState).key);
    organization.connections.delete(id);
    if (after === null) {
      this.#tools.changes.forget(id);
    } else {
      const fresh = this.#connect(organization, after as LiveConnection);
      if (old?.served !== null) void fresh.refresh();
    }
    old?.close();
  }

  #connect(organization: OrganizationDelivery, live: LiveConnection): DeliveredConnection {
    const { kinds, changes, presence, log, listeners, live: states } = this.#tools;
    const connection = new DeliveredConnection(live, organization.states, {
      kinds,
      changes,
      log,
      databaseAnswers: () => presence.answers,
      catchUp: (id) => states.catchUp(id),
      listened: (listened) => listeners.listenTo(listened),
    });
    organization.connections.set(live.id, connection);
    this.#byKey.set(live.state.key, connection);
    return connection;
  }
}
