import { z } from 'zod';

/** Why a landing was refused or what it passed over, and what would clear it. */
export const publishGate = z
  .strictObject({
    type: z.string(),
    severity: z.enum(['blocker', 'warning']),
    messages: z.array(z.string()),
    override: z.enum(['ignoreWarnings', 'skipSchemaValidation', 'skipHooks']).nullable(),
    requiresPermission: z.string().nullable(),
    resolution: z.strictObject({ action: z.string(), method: z.string(), path: z.string() }).nullable(),
  })
  .meta({ id: 'PublishGate' });
export type PublishGate = z.output<typeof publishGate>;

/** A gate that a landing got past, and by what. */
export const bypassedGate = z
  .strictObject({
    type: z.string(),
    outcome: z.literal('bypassed'),
    via: z.enum([
      'ignoreWarnings',
      'skipSchemaValidation',
      'skipHooks',
      'bypassApprovalPermission',
      'restApiBypassesReviews',
      'revertsBypassApproval',
    ]),
  })
  .meta({ id: 'BypassedGate' });
export type BypassedGate = z.output<typeof bypassedGate>;

/** Reasons of a 409 that a client may branch on. */
export const conflictCodes = [
  'conflict',
  'checklist_incomplete',
  'pending_draft_publish_failed',
  'invalid_status',
  'requires_full_refresh',
  'dimension_already_up_to_date',
] as const;

/** The body of every refusal: a message for people, and for some statuses what a client may branch on. */
export const errorBody = z
  .looseObject({
    message: z.string(),
    status: z.int().optional(),
    code: z.enum(conflictCodes).optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    conflicts: z.array(z.unknown()).optional(),
    gates: z.array(publishGate).optional(),
    warnings: z.array(z.string()).optional(),
    items: z.array(z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.output<typeof errorBody>;

/** The body of a refusal on the public SDK routes. */
export const sdkErrorBody = z.strictObject({ status: z.int(), error: z.string() }).meta({ id: 'SdkError' });
