import type { BodyOf, postCodeRefs } from '@halyard/contract';
import { sql } from 'kysely';
import { type Db, inParts, type Tx } from '../../platform/index.ts';

/** A place in source code, with what the uploading tool knows it by. */
export type StoredReference = BodyOf<typeof postCodeRefs>['refs'][number];

/** Which feature in which branch of which repository: there is one row for each. */
export interface CodePlace {
  readonly repo: string;
  readonly branch: string;
  readonly feature: string;
}

export interface CodeReferenceRow extends CodePlace {
  readonly refs: readonly StoredReference[];
  readonly date_updated: Date;
}

/** The order in which references are listed. */
const order = ['repo', 'branch', 'feature'] as const;

const rowsOf = (db: Db | Tx, organization: string) =>
  db.selectFrom('code_reference').where('organization', '=', organization);

/** Without the references themselves, which may be many. */
export const allPlaces = (db: Db, organization: string): Promise<CodePlace[]> =>
  rowsOf(db, organization).select(order).orderBy('repo').orderBy('branch').orderBy('feature').execute();

/** The rows of some places, in the order of the list. */
export async function rowsAt(db: Db, organization: string, places: readonly CodePlace[]): Promise<CodeReferenceRow[]> {
  if (places.length === 0) return [];
  return rowsOf(db, organization)
    .select([...order, 'refs', 'date_updated'])
    .where((eb) => eb.or(places.map(({ repo, branch, feature }) => eb.and({ repo, branch, feature }))))
    .orderBy('repo')
    .orderBy('branch')
    .orderBy('feature')
    .execute();
}

export const rowsOfFeature = (db: Db, organization: string, feature: string): Promise<CodeReferenceRow[]> =>
  rowsOf(db, organization)
    .select([...order, 'refs', 'date_updated'])
    .where('feature', '=', feature)
    .orderBy('repo')
    .orderBy('branch')
    .execute();

/** The features that are named in a branch, as far as is known. */
export async function featuresNamedIn(tx: Tx, organization: string, repo: string, branch: string): Promise<string[]> {
  const rows = await rowsOf(tx, organization)
    .select('feature')
    .where('repo', '=', repo)
    .where('branch', '=', branch)
    .where(sql<boolean>`json_array_length(refs) > 0`)
    .execute();
  return rows.map(({ feature }) => feature);
}

/** Replaces what is known of the places. */
export async function putReferences(tx: Tx, organization: string, rows: readonly CodeReferenceRow[]): Promise<void> {
  const values = rows.map((row) => ({ ...row, organization, refs: JSON.stringify(row.refs) }));
  for (const some of inParts(values)) {
    await tx
      .insertInto('code_reference')
      .values(some)
      .onConflict((on) =>
        on.columns(['organization', ...order]).doUpdateSet((eb) => ({
          refs: eb.ref('excluded.refs'),
          date_updated: eb.ref('excluded.date_updated'),
        })),
      )
      .execute();
  }
}

/** Forgets where a feature is named, since it is deleted. */
export async function forgetReferences(tx: Tx, organization: string, feature: string): Promise<void> {
  await tx
    .deleteFrom('code_reference')
    .where('organization', '=', organization)
    .where('feature', '=', feature)
    .execute();
}
