import { sql } from 'kysely';
import type { Db, Tx } from './connect.ts';

/** From here on, until the transaction ends, nobody else writes such objects of the organization: they can be judged together. */
export async function lockWrites(db: Db | Tx, kind: string, organization: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${kind}), hashtext(${organization}))`.execute(db);
}
