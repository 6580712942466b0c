import type { Migration } from 'kysely/migration';
import * as foundation from './0001-foundation.ts';
import * as webhooks from './0002-webhooks.ts';
import * as codeReferences from './0003-code-references.ts';
import * as revertsAndDrafts from './0004-reverts-and-drafts.ts';

/** Every migration, in order. One that has been released is never edited: the next change is a new file. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-foundation': foundation,
  '0002-webhooks': webhooks,
  '0003-code-references': codeReferences,
  '0004-reverts-and-drafts': revertsAndDrafts,
};
