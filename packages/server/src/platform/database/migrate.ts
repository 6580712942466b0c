import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Db } from './connect.ts';
import { migrations } from './migrations/index.ts';

const oldestServer = 15;

/** The database cannot be used as it is. The message is one line that says why and what would do. */
export class DatabaseError extends Error {}

/**
 * Brings the schema up to date, under an advisory lock: processes that start together take turns.
 *
 * @returns the names of the migrations that were applied
 * @throws DatabaseError when the server is too old or holds a newer schema than this build knows
 */
export async function migrate(db: Db): Promise<string[]> {
  const { rows } = await sql<{
    major: number;
  }>`select current_setting('server_version_num')::int / 10000 as major`.execute(db);
  const major = rows[0]?.major ?? 0;
  if (major < oldestServer) {
    throw new DatabaseError(`The database is PostgreSQL ${major}; Halyard needs ${oldestServer} or newer.`);
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const message = error instanceof Error ? error.message : String(error);
    if (/corrupted migrations/.test(message)) {
      throw new DatabaseError(
        `The database was made by a newer Halyard than this one (${message}). Start that one instead.`,
      );
    }
    throw error;
  }
  return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName);
}
