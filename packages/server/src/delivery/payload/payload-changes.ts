import { sql } from 'kysely';
import { announce, type Db } from '../../platform/index.ts';
import type { ConfigurationVersion } from '../../record/index.ts';
import type { Ciphertexts } from '../serving/index.ts';

/** The last version that changed the payload of a connection, and what all processes serve of it. */
export interface PayloadChange extends ConfigurationVersion {
  readonly hash: string;
  /** Null where the payload goes out plain. */
  readonly ciphertexts: Ciphertexts | null;
}

const columns = ['version', 'instant', 'hash', 'ciphertexts'] as const;

/** Settles, once for all processes, which version changed a payload last. */
export class PayloadChanges {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The newest change of each connection. */
  async all(): Promise<Map<string, PayloadChange>> {
    const rows = await this.#db
      .selectFrom('payload_change')
      .distinctOn(['organization', 'connection'])
      .select(['connection', ...columns])
      .orderBy('organization')
      .orderBy('connection')
      .orderBy('version', 'desc')
      .execute();
    return new Map(rows.map(({ connection, ...change }) => [connection, change]));
  }

  async newest(organization: string, connection: string): Promise<PayloadChange | null> {
    const row = await this.#db
      .selectFrom('payload_change')
      .select(columns)
      .where('organization', '=', organization)
      .where('connection', '=', connection)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  /**
   * Takes the newest change where it is this payload already, or newer than this process; else writes this one. Of several
   * processes that compile the same change, the first writes it and its ciphertext is everyone's.
   */
  settle(
    organization: string,
    connection: string,
    fresh: Omit<PayloadChange, 'ciphertexts'>,
    encrypt: () => Ciphertexts | null,
  ): Promise<PayloadChange> {
    return this.#db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtext('payload_change'), hashtext(${connection}))`.execute(tx);
      const newest = await tx
        .selectFrom('payload_change')
        .select(columns)
        .where('organization', '=', organization)
        .where('connection', '=', connection)
        .orderBy('version', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (newest !== undefined && (newest.hash === fresh.hash || newest.version >= fresh.version)) return newest;
      const change = { ...fresh, ciphertexts: encrypt() };
      await tx
        .deleteFrom('payload_change')
        .where('organization', '=', organization)
        .where('connection', '=', connection)
        .execute();
      await tx
        .insertInto('payload_change')
        .values({
          organization,
          connection,
          ...fresh,
          ciphertexts: change.ciphertexts === null ? null : JSON.stringify(change.ciphertexts),
        })
        .execute();
      await announce(tx, { topic: 'payload', organization, connection, version: fresh.version });
      return change;
    });
  }
}
