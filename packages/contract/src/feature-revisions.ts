import { z } from 'zod';
import { description, timestamp } from './common.ts';
import { eventUser } from './event-users.ts';
import { featureRule, featureRuleV1 } from './feature-rules.ts';
import { rampAction } from './ramp-actions.ts';
import { prerequisite } from './rule-targeting.ts';

/** What a revision says of the feature beside its values and rules. */
const metadata = z
  .strictObject({
    description: description.optional(),
    owner: z.string().optional(),
    project: z.string().optional(),
    targetingAllProjects: z.boolean().optional(),
    targetingProjects: z.array(z.string()).optional(),
    tags: z.array(z.string()).optional(),
    neverStale: z.boolean().optional(),
    valueType: z.string().optional(),
    jsonSchema: z
      .strictObject({
        schemaType: z.enum(['schema', 'simple']).optional(),
        schema: z.string().optional(),
        simple: z.record(z.string(), z.unknown()).optional(),
        date: timestamp.optional(),
        enabled: z.boolean().optional(),
      })
      .optional(),
    customFields: z.record(z.string(), z.unknown()).optional(),
    baseConfig: z.string().nullable().optional(),
  })
  .meta({ id: 'FeatureRevisionMetadata' });

const review = z.strictObject({
  userId: z.string(),
  user: eventUser.optional(),
  status: z.enum(['approved', 'changes-requested', 'approved-stale', 'changes-requested-stale']),
  timestamp,
});

const common = {
  id: z.string(),
  featureId: z.string(),
  baseVersion: z.int(),
  version: z.int(),
  comment: z.string(),
  date: timestamp,
  status: z.string(),
  defaultValue: z.string().optional(),
  definitions: z.record(z.string(), z.string()).optional(),
  environmentsEnabled: z.record(z.string(), z.boolean()).optional(),
  metadata: metadata.optional(),
  rampActions: z.array(rampAction).optional(),
};

const prerequisiteIds = z.array(z.strictObject({ id: z.string() }));
const fullPrerequisites = z.array(prerequisite);

/** One numbered version of a feature: a draft, or what was published. */
export const featureRevision = z
  .strictObject({
    ...common,
    createdBy: eventUser.optional(),
    publishedBy: eventUser.optional(),
    defaultValueConfig: z.string().nullable().optional(),
    rules: z.array(featureRule),
    envPrerequisites: z.record(z.string(), prerequisiteIds).optional(),
    prerequisites: prerequisiteIds.optional(),
    autoPublishOnApproval: z.boolean().optional(),
    scheduledPublishAt: timestamp.nullable().optional(),
    scheduledPublishLockEdits: z.boolean().optional(),
    scheduledPublishLockOthers: z.boolean().optional(),
    scheduledPublishBypassApproval: z.boolean().optional(),
    scheduledPublishLastError: z.string().optional(),
    autoPublishEnabledBy: z.string().optional(),
    scheduledPublishAttempts: z.int().optional(),
    scheduledPublishGaveUpAt: timestamp.optional(),
    reviews: z.array(review).optional(),
  })
  .meta({ id: 'FeatureRevision' });
export type FeatureRevision = z.output<typeof featureRevision>;

/** The same in the v1 shape, which events carry too: rules by environment, people as text. */
export const featureRevisionV1 = z
  .strictObject({
    ...common,
    createdBy: z.string().optional(),
    publishedBy: z.string().optional(),
    rules: z.record(z.string(), z.array(featureRuleV1)),
    envPrerequisites: z.record(z.string(), fullPrerequisites).optional(),
    prerequisites: fullPrerequisites.optional(),
  })
  .meta({ id: 'FeatureRevisionV1' });
export type FeatureRevisionV1 = z.output<typeof featureRevisionV1>;

/** The live revision of a feature, in short. */
export const featureRevisionSummary = z
  .strictObject({
    id: z.string().optional(),
    version: z.int(),
    comment: z.string(),
    date: timestamp,
    createdBy: eventUser.optional(),
    publishedBy: eventUser.optional(),
  })
  .meta({ id: 'FeatureRevisionSummary' });
