import { type Kysely, sql } from 'kysely';

const statements = [
  // The id of the revision whose content this one restores.
  `alter table revision add column reverted_from text collate "C"`,
  // Drafts are few among the revisions of objects that are changed often.
  `create index revision_open on revision (organization, kind, entity)
   where status in ('draft', 'pending-review', 'approved', 'changes-requested')`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
