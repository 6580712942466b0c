import { type Kysely, sql } from 'kysely';

const statements = [
  // Where features are named in source code. The feature need not exist (yet).
  `create table code_reference (
     organization text collate "C" not null references organization on delete cascade,
     repo text collate "C" not null,
     branch text collate "C" not null,
     feature text collate "C" not null,
     refs json not null,
     date_updated timestamptz not null,
     primary key (organization, repo, branch, feature)
   )`,
  `create index code_reference_feature on code_reference (organization, feature)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
