import { sql } from 'kysely';
import type { Tx } from '../platform/index.ts';

/** Registers the tags that something is labelled with; those that are known stay as they are. */
export async function registerTags(tx: Tx, organization: string, tags: readonly string[]): Promise<void> {
  if (tags.length === 0) return;
  const ids = [...new Set(tags)];
  // As one parameter: a statement takes no more than 65,535 of them.
  await tx
    .insertInto('tag')
    .columns(['organization', 'id'])
    .expression(sql`select ${organization}::text, unnest(${ids}::text[])`)
    .onConflict((on) => on.doNothing())
    .execute();
}
