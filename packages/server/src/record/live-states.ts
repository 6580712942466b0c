import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { type Db, type Log, oneAtATime, type Tx, unavailable } from '../platform/index.ts';
import { LiveObjects } from './live-objects.ts';
import type { ConfigurationVersion, Live, OrganizationStates, StateReader } from './states.ts';
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

/** The version at which an organization stands in the database. */
export interface Standing extends ConfigurationVersion {
  readonly organization: string;
}

/** Asks for the versions at which all organizations stand. */
export const standingsQuery = 'select organization, version, instant from current_version';

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
  #loaded = false;

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Whether the database has been read: false while all that is known is a copy, or nothing. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Calls the listener whenever an organization moves to another version; also for a new organization. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  organizations(): Iterable<OrganizationStates> {
    return this.#organizations.values();
  }

  of(organization: string): OrganizationStates | undefined {
    return this.#organizations.get(organization);
  }

  /** Takes a copy that was kept elsewhere, until the database can be read. */
  restore(copy: Iterable<OrganizationStates>): void {
    for (const states of copy) this.#replace(states);
  }

  /** Reads everything, as of one instant. What a copy said otherwise changes to what the database says. */
  async load(): Promise<void> {
    const fresh = await this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) => readAll(tx));
    this.#forgetOthers(fresh);
    for (const states of fresh.values()) this.#replace(states);
    this.#loaded = true;
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

  /** Asks where all organizations stand, and reads on for those that have moved. Whoever asks meanwhile shares one asking. */
  readonly catchUpAll: () => Promise<void> = oneAtATime(async () => {
    await this.catchUpTo((await sql.raw<Standing>(standingsQuery).execute(this.#db)).rows);
  });

  /** Reads on for every organization that stands elsewhere than here, known here or new, and forgets those that are gone. */
  async catchUpTo(all: readonly Standing[]): Promise<void> {
    this.#forgetOthers(new Map(all.map((standing) => [standing.organization, standing])));
    for (const { organization, version, instant } of all) {
      const here = this.#organizations.get(organization)?.at;
      if (here?.version !== version || here.instant.getTime() !== instant.getTime()) await this.catchUp(organization);
    }
  }

  async #readOn(organization: string): Promise<void> {
    const known = this.#organizations.get(organization)?.at ?? beginning;
    // One statement, and so one snapshot: no version can slip in between the number and its rows.
    const { rows } = await sql<Standing & { [Key in keyof Row]: Row[Key] | null } & { current: number; same: boolean }>`
      select c.version as current, c.instant, p.kind, p.id, p.version, p.ordinal, p.state, p.date_created, p.date_updated,
        ${known.version} = 0 or exists (
          select from configuration_version v
          where v.organization = c.organization and v.version = ${known.version} and v.instant = ${known.instant}
        ) as same
      from current_version c
      left join published_state p
        on p.organization = c.organization and p.version > ${known.version} and p.version <= c.version
      where c.organization = ${organization}
      order by p.version, p.ordinal`.execute(this.#db);
    const first = rows[0];
    if (first === undefined) return;
    if (!first.same) return this.#readAgain(organization);
    if (first.current <= known.version) return;

    const states = this.#organizations.get(organization) ?? newOrganization(organization);
    const changes = new Map<string, LiveChange>();
    for (const row of rows) {
      if (row.kind === null) continue;
      const change = apply(states, row as Row);
      const key = `${change.kind} ${change.id}`;
      changes.set(key, { ...change, before: changes.get(key)?.before ?? change.before });
    }
    this.#move(states, { version: first.current, instant: first.instant }, [...changes.values()]);
  }

  /** The version that is here never was, as far as the database knows: it was restored, or a copy of it has taken over. */
  async #readAgain(organization: string): Promise<void> {
    this.#log.warn({ organization }, 'The database does not know the version that was here: everything is read again');
    const fresh = await this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) => readAll(tx, organization));
    for (const states of fresh.values()) this.#replace(states);
  }

  #replace({ organization, at, kinds }: OrganizationStates): void {
    const states = this.#organizations.get(organization) ?? newOrganization(organization);
    const changes = differences(states.kinds, kinds);
    states.kinds.clear();
    for (const [kind, objects] of kinds) states.kinds.set(kind, objects);
    if (changes.length > 0 || states.at.version !== at.version) this.#move(states, at, changes);
  }

  #forgetOthers(known: ReadonlyMap<string, unknown>): void {
    for (const states of this.#organizations.values()) {
      if (known.has(states.organization)) continue;
      this.#replace({ ...states, kinds: new Map() });
      this.#organizations.delete(states.organization);
    }
  }

  #move(states: OrganizationStates, at: ConfigurationVersion, changes: readonly LiveChange[]): void {
    const { organization } = states;
    states.at = at;
    this.#organizations.set(organization, states);
    this.#log.debug({ organization, version: at.version, changes: changes.length }, 'Configuration read');
    for (const listener of this.#listeners) listener(states, changes);
  }
}

const beginning: ConfigurationVersion = { version: 0, instant: new Date(0) };

const newOrganization = (organization: string): OrganizationStates => ({
  organization,
  at: beginning,
  kinds: new Map(),
});

/** @param only undefined: all organizations */
async function readAll(tx: Tx, only?: string): Promise<Map<string, OrganizationStates>> {
  const found = await sql.raw<Standing>(standingsQuery).execute(tx);
  const all = new Map<string, OrganizationStates>();
  for (const { organization, version, instant } of found.rows) {
    if (only !== undefined && organization !== only) continue;
    all.set(organization, { ...newOrganization(organization), at: { version, instant } });
  }
  let query = tx
    .selectFrom('live_state')
    .innerJoin('published_state', (join) =>
      join
        .onRef('published_state.organization', '=', 'live_state.organization')
        .onRef('published_state.kind', '=', 'live_state.kind')
        .onRef('published_state.id', '=', 'live_state.id')
        .onRef('published_state.version', '=', 'live_state.version'),
    )
    .selectAll('published_state')
    .orderBy('ordinal');
  if (only !== undefined) query = query.where('live_state.organization', '=', only);
  for (const row of await query.execute()) {
    const states = all.get(row.organization);
    if (states !== undefined) apply(states, row);
  }
  return all;
}

/** Puts the state of a row in its place. */
export function apply(states: OrganizationStates, row: Row): LiveChange {
  const ofKind = states.kinds.get(row.kind) ?? new LiveObjects();
  states.kinds.set(row.kind, ofKind);
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

type Kinds = OrganizationStates['kinds'];

function differences(from: Kinds, to: Kinds): LiveChange[] {
  const changes: LiveChange[] = [];
  for (const kind of new Set([...from.keys(), ...to.keys()])) {
    const before = from.get(kind) ?? new Map<string, Live>();
    const after = to.get(kind) ?? new Map<string, Live>();
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const change = { kind, id, before: before.get(id) ?? null, after: after.get(id) ?? null };
      if (!isDeepStrictEqual(change.before, change.after)) changes.push(change);
    }
  }
  return changes;
}
