import { z } from 'zod';
import { timestamp } from './common.ts';
import { savedGroup } from './saved-groups.ts';

/** A change of one field of an object, as the revisions of the general form hold them. */
const proposedChange = z.strictObject({
  op: z.enum(['add', 'replace']),
  path: z.string().regex(/^\/[^/]+$/),
  value: z.unknown(),
});

const activityLogEntry = z.strictObject({
  id: z.string(),
  userId: z.string(),
  action: z.enum(['created', 'merged']),
  dateCreated: timestamp,
});

/** One numbered version of a saved group. */
export const savedGroupRevision = z
  .strictObject({
    id: z.string(),
    version: z.int().optional(),
    status: z.enum(['draft', 'pending-review', 'approved', 'changes-requested', 'merged', 'discarded']),
    authorId: z.string(),
    authorEmail: z.string().optional(),
    contributors: z.array(z.string()).optional(),
    reviews: z.array(z.never()),
    activityLog: z.array(activityLogEntry),
    resolution: z
      .strictObject({ action: z.enum(['merged', 'discarded']), userId: z.string(), dateCreated: timestamp })
      .optional(),
    dateCreated: timestamp,
    dateUpdated: timestamp,
    baseSavedGroup: savedGroup,
    proposedSavedGroup: savedGroup,
    proposedChanges: z.array(proposedChange),
  })
  .meta({ id: 'SavedGroupRevision' });
export type SavedGroupRevision = z.output<typeof savedGroupRevision>;
