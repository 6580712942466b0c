import { sql } from 'kysely';
import { type Db, type Log, unavailable } from '../platform/index.ts';
import type { Live, OrganizationStates, StateReader } from './states.ts';
import { readerOf } from './states.ts';

/** What a version changed of one object. */
export interface LiveChange {
  readonly kind: string;
  readonly id: string;
  /** Null: it did not exist. */
  readonly before: Live | null;
  /** Null: it is deleted. */
  readonly after: Live | null;
}

type Listener = (states: OrganizationStates, changes: readonly LiveChange[]) => void;

interface Row {
  readonly kind: string;
  readonly id: string;
  readonly version: number;
  readonly ordinal: number;
  readonly state: unknown;
  readonly date_created: Date;
  readonly date_updated: Date;
}

/**
 * The newest published states of all organizations, in memory. Each organization stands at exactly one configuration
 * version and moves on by reading the rows that came after it: when another process announces a version, after a gap in the
 * news, or when a request asks for a version that is not here yet.
 */
export class LiveStates {
  readonly #db: Db;
  readonly #log: Log;
  readonly #organizations = new Map<string, OrganizationStates>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #listeners: Listener[] = [];

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Calls the listener, once loaded, whenever an organization moves to a newer version; also for a new organization. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  organizations(): Iterable<OrganizationStates> {
    return this.#organizations.values();
  }

  of(organization: string): OrganizationStates | undefined {
    return this.#organizations.get(organization);
  }

  /** Reads everything, as of one instant. */
  async load(): Promise<void> {
    await this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        for (const { organization, version, instant } of await tx.selectFrom('configuration').selectAll().execute()) {
          this.#organizations.set(organization, { organization, at: { version, instant }, kinds: new Map() });
        }
        const rows = await tx
          .selectFrom('live_state')
          .innerJoin('published_state', (join) =>
            join
              .onRef('published_state.organization', '=', 'live_state.organization')
              .onRef('published_state.kind', '=', 'live_state.kind')
              .onRef('published_state.id', '=', 'live_state.id')
              .onRef('published_state.version', '=', 'live_state.version'),
          )
          .selectAll('published_state')
          .orderBy('ordinal')
          .execute();
        for (const row of rows) apply(this.#organizations.get(row.organization), row);
      });
  }

  /**
   * A reader at the given version or a newer one.
   *
   * @throws Refusal (unavailable) where that version does not exist
   */
  async at(organization: string, version: number): Promise<StateReader> {
    const here = this.#organizations.get(organization);
    if (here === undefined || here.at.version < version) {
      await this.catchUp(organization);
      // A run that was under way may have read before the version was there; the next one has not.
      if (this.#standsBefore(organization, version)) await this.catchUp(organization);
    }
    const states = this.#organizations.get(organization);
    if (states === undefined || states.at.version < version) {
      throw unavailable('The configuration is not here yet; ask again.', 1);
    }
    return readerOf(states);
  }

  #standsBefore(organization: string, version: number): boolean {
    return (this.#organizations.get(organization)?.at.version ?? 0) < version;
  }

  /** Reads what came after the version that is here. One run at a time for an organization. */
  catchUp(organization: string): Promise<void> {
    const running = this.#running.get(organization);
    if (running !== undefined) return running;
    const run = this.#readOn(organization).finally(() => this.#running.delete(organization));
    this.#running.set(organization, run);
    return run;
  }

  /** Reads on for every organization that has moved, known here or new. */
  async catchUpAll(): Promise<void> {
    const rows = await this.#db.selectFrom('configuration').select(['organization', 'version']).execute();
    for (const { organization, version } of rows) {
      if (this.#standsBefore(organization, version)) await this.catchUp(organization);
    }
  }

  async #readOn(organization: string): Promise<void> {
    const known = this.#organizations.get(organization)?.at.version ?? 0;
    // One statement, and so one snapshot: no version can slip in between the number and its rows.
    const { rows } = await sql<{ current: number; instant: Date } & { [Key in keyof Row]: Row[Key] | null }>`
      select c.version as current, c.instant, p.kind, p.id, p.version, p.ordinal, p.state, p.date_created, p.date_updated
      from configuration c
      left join published_state p
        on p.organization = c.organization and p.version > ${known} and p.version <= c.version
      where c.organization = ${organization}
      order by p.version, p.ordinal`.execute(this.#db);
    const first = rows[0];
    if (first === undefined || first.current <= known) return;

    const states = this.#organizations.get(organization) ?? newOrganization(organization);
    const before = new Map<string, LiveChange>();
    for (const row of rows) {
      if (row.kind === null) continue;
      const change = apply(states, row as Row);
      const key = `${change.kind} ${change.id}`;
      before.set(key, { ...change, before: before.get(key)?.before ?? change.before });
    }
    states.at = { version: first.current, instant: first.instant };
    this.#organizations.set(organization, states);
    this.#log.debug({ organization, version: first.current, changes: before.size }, 'Configuration read');
    for (const listener of this.#listeners) listener(states, [...before.values()]);
  }
}

const newOrganization = (organization: string): OrganizationStates => ({
  organization,
  at: { version: 0, instant: new Date(0) },
  kinds: new Map(),
});

function apply(states: OrganizationStates | undefined, row: Row): LiveChange {
  const ofKind = states?.kinds.get(row.kind) ?? new Map<string, Live>();
  states?.kinds.set(row.kind, ofKind);
  const before = ofKind.get(row.id) ?? null;
  if (row.state === null) {
    ofKind.delete(row.id);
    return { kind: row.kind, id: row.id, before, after: null };
  }
  const after: Live = {
    kind: row.kind,
    id: row.id,
    version: row.version,
    ordinal: row.ordinal,
    dateCreated: row.date_created,
    dateUpdated: row.date_updated,
    state: row.state,
  };
  ofKind.set(row.id, after);
  return { kind: row.kind, id: row.id, before, after };
}
