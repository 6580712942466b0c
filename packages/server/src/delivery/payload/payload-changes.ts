import { type RawBuilder, sql } from 'kysely';
import { announcement, type Db } from '../../platform/index.ts';
import type { ConfigurationVersion } from '../../record/index.ts';
import type { Ciphertexts } from '../serving/index.ts';

/** The last version that changed the payload of a connection, and what all processes serve of it. */
export interface PayloadChange extends ConfigurationVersion {
  readonly hash: string;
  /** Null where the payload goes out plain. */
  readonly ciphertexts: Ciphertexts | null;
}

/** A connection, with its organization. */
export interface ChangedConnection {
  readonly organization: string;
  readonly connection: string;
}

type Listener = (of: ChangedConnection, change: PayloadChange) => void;

/**
 * Has others told of a change: a part of the statement that settles it, over its one row of `written`, whose column `changed`
 * is false where it is the first payload of the connection. It returns a row when there is work for that.
 */
type Telling = (of: ChangedConnection) => RawBuilder<unknown>;

const columns = ['version', 'instant', 'hash', 'ciphertexts'] as const;

/** Settles, once for all processes, which version changed a payload last; and keeps the newest change of each in memory. */
export class PayloadChanges {
  readonly #db: Db;
  readonly #newest = new Map<string, ChangedConnection & { readonly change: PayloadChange }>();
  readonly #listeners: Listener[] = [];
  #telling: Telling = () => sql`select from written where false`;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Calls the listener with each change that was not known before. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Has others told of each change, once, by the process that settles it. */
  tellBy(telling: Telling): void {
    this.#telling = telling;
  }

  /** The newest change that is known of a connection. */
  of(connection: string): PayloadChange | null {
    return this.#newest.get(connection)?.change ?? null;
  }

  known(): Iterable<ChangedConnection & { readonly change: PayloadChange }> {
    return this.#newest.values();
  }

  note(of: ChangedConnection, change: PayloadChange): void {
    const known = this.of(of.connection);
    if (known?.version === change.version && known.hash === change.hash) return;
    this.#newest.set(of.connection, { ...of, change });
    for (const listener of this.#listeners) listener(of, change);
  }

  forget(connection: string): void {
    this.#newest.delete(connection);
  }

  /** Reads the newest change of every connection. */
  async load(): Promise<void> {
    const rows = await this.#db
      .selectFrom('payload_change')
      .select(['organization', 'connection', ...columns])
      .execute();
    for (const { organization, connection, ...change } of rows) this.note({ organization, connection }, change);
  }

  /** Reads the newest change of a connection, which another process has settled. */
  async read(of: ChangedConnection): Promise<void> {
    const change = await rowOf(this.#db, of).executeTakeFirst();
    if (change !== undefined) this.note(of, change);
  }

  /**
   * Takes the newest change where it is this payload already, or newer than this process; else writes this one. Of several
   * processes that compile the same change, the first writes it and its ciphertext is everyone's.
   *
   * One statement, since SDKs wait for it: the row's own lock makes processes take turns.
   */
  async settle(of: ChangedConnection, fresh: PayloadChange): Promise<PayloadChange> {
    const { version, instant, hash, ciphertexts } = fresh;
    const news = announcement({ topic: 'payload', ...of, version });
    const { rows } = await sql`
      with written as (
        insert into payload_change as known (organization, connection, version, instant, hash, ciphertexts)
        values (${of.organization}, ${of.connection}, ${version}, ${instant}, ${hash},
                ${ciphertexts === null ? null : JSON.stringify(ciphertexts)})
        on conflict (organization, connection) do update
          set version = excluded.version, instant = excluded.instant, hash = excluded.hash,
              ciphertexts = excluded.ciphertexts
          where known.version < excluded.version and known.hash <> excluded.hash
        returning connection, xmax::text <> '0' as changed
      ), told as (${this.#telling(of)})
      select ${news}, (select ${announcement({ topic: 'work' })} from told) from written`.execute(this.#db);
    const settled = rows.length > 0 ? fresh : await rowOf(this.#db, of).executeTakeFirst();
    // Nobody deletes such a row but with its connection, which then asks for nothing any more.
    const change = settled ?? fresh;
    this.note(of, change);
    return change;
  }
}

const rowOf = (db: Db, { organization, connection }: ChangedConnection) =>
  db
    .selectFrom('payload_change')
    .select(columns)
    .where('organization', '=', organization)
    .where('connection', '=', connection);
