import { z } from 'zod';
import { timestamp } from './common.ts';
import { prerequisite, savedGroupMatch } from './rule-targeting.ts';

const patch = z.strictObject({
  ruleId: z.string().optional(),
  coverage: z.number().min(0).max(1).nullable().optional(),
  condition: z.string().nullable().optional(),
  savedGroups: z.array(savedGroupMatch).nullable().optional(),
  prerequisites: z.array(prerequisite).nullable().optional(),
  allEnvironments: z.boolean().nullable().optional(),
  environments: z.array(z.string()).nullable().optional(),
  force: z.unknown().optional(),
  enabled: z.boolean().nullable().optional(),
});

const actions = z.array(
  z.strictObject({ targetType: z.literal('feature-rule').optional(), targetId: z.string().optional(), patch }),
);

const healthAction = z.enum(['rollback', 'hold', 'warn']);

const schedule = {
  ruleId: z.string(),
  name: z.string().optional(),
  environment: z.string().nullable().optional(),
  templateId: z.string().optional(),
  startActions: actions.optional(),
  steps: z
    .array(
      z.strictObject({
        interval: z.number().positive().nullable(),
        actions: actions.optional(),
        approvalNotes: z.string().nullable().optional(),
        monitored: z.boolean().optional(),
        holdConditions: z
          .strictObject({ minSampleSize: z.int().positive().optional(), requiresApproval: z.boolean().optional() })
          .optional(),
      }),
    )
    .optional(),
  endActions: actions.optional(),
  startDate: timestamp.nullable().optional(),
  cutoffDate: timestamp.nullable().optional(),
  monitoringConfig: z
    .strictObject({
      datasourceId: z.string(),
      exposureQueryId: z.string(),
      guardrailMetricIds: z.array(z.string()).min(1),
      signalMetricIds: z.array(z.string()).optional(),
      updateScheduleMinutes: z.number().min(10).nullable().optional(),
      monitoringMode: z.enum(['auto', 'manual']).optional(),
      autoUpdate: z.boolean().optional(),
      srmAction: healthAction.optional(),
      noTrafficAction: healthAction.optional(),
      noTrafficGracePeriodHours: z.number().positive().nullable().optional(),
      multipleExposureAction: healthAction.optional(),
    })
    .optional(),
  lockdownConfig: z.strictObject({ mode: z.enum(['none', 'locked']) }).optional(),
  requiresStartApproval: z.boolean().nullable().optional(),
};

/** What a draft does to the ramp schedule of a rule when it lands. */
export const rampAction = z
  .discriminatedUnion('mode', [
    z.strictObject({ mode: z.literal('create'), ...schedule }),
    z.strictObject({ mode: z.literal('update'), rampScheduleId: z.string(), ...schedule }),
    z.strictObject({
      mode: z.literal('detach'),
      rampScheduleId: z.string(),
      ruleId: z.string(),
      deleteScheduleWhenEmpty: z.boolean().optional(),
    }),
  ])
  .meta({ id: 'RampAction' });
export type RampAction = z.output<typeof rampAction>;
