import type { FeatureContent } from '../../src/flags/feature.ts';
import type { TestService } from '../service.ts';

/**
 * Adds a revision to a feature that did not land, with the content of its newest one.
 *
 * @param date when it was last changed
 * @returns its version
 */
export async function addRevision(
  { db, id: organization }: TestService,
  feature: string,
  { status, date, content = {} }: { status: string; date: Date; content?: Partial<FeatureContent> },
): Promise<number> {
  const newest = await db
    .selectFrom('revision')
    .selectAll()
    .where('organization', '=', organization)
    .where('entity', '=', feature)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const version = newest.version + 1;
  await db
    .insertInto('revision')
    .values({
      ...newest,
      id: `frev_${version}_${feature}`,
      version,
      status,
      content: JSON.stringify({ ...(newest.content as FeatureContent), ...content }),
      created_by: JSON.stringify({ type: 'system' }),
      published_by: null,
      date_created: date,
      date_updated: date,
      date_published: null,
    })
    .execute();
  return version;
}
