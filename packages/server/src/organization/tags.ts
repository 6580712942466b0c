import type { Tx } from '../platform/index.ts';

/** Registers the tags that something is labelled with; those that are known stay as they are. */
export async function registerTags(tx: Tx, organization: string, tags: readonly string[]): Promise<void> {
  if (tags.length === 0) return;
  await tx
    .insertInto('tag')
    .values([...new Set(tags)].map((id) => ({ organization, id })))
    .onConflict((on) => on.doNothing())
    .execute();
}
