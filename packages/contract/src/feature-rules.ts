import { z } from 'zod';
import { description, timestamp } from './common.ts';
import { prerequisite, savedGroupMatch, savedGroupTargeting } from './rule-targeting.ts';

/** Start and end of a rule; both entries or none. A null timestamp leaves that side open. */
const scheduleRule = z
  .strictObject({ enabled: z.boolean(), timestamp: timestamp.nullable() })
  .meta({ id: 'ScheduleRule' });
export type ScheduleRule = z.output<typeof scheduleRule>;

const configKey = z.string().nullable().optional();
const coverage = z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1');
const hashVersion = z.literal([1, 2]);
const safeRolloutStatus = z.enum(['running', 'released', 'rolled-back', 'stopped']);
const scheduleType = z.enum(['none', 'schedule', 'ramp']);
const variation = { value: z.string(), variationId: z.string() };
const variations = z.array(z.strictObject({ ...variation, config: configKey }));
const variationsV1 = z.array(z.strictObject(variation));

/** A slice of a namespace that an inline experiment claims. */
const namespaceValue = z
  .strictObject({ enabled: z.boolean(), name: z.string(), range: z.array(z.number()).length(2) })
  .meta({ id: 'NamespaceValue' });
export type NamespaceValue = z.output<typeof namespaceValue>;

const experimentValues = z.array(
  z.strictObject({ value: z.string(), weight: z.number(), name: z.string().optional() }),
);

// ---- Rules in answers -------------------------------------------------------------------------------------------------

const shownRule = {
  id: z.string(),
  description,
  condition: z.string().optional(),
  enabled: z.boolean(),
  scheduleRules: z.array(scheduleRule).optional(),
  scheduleType: scheduleType.optional(),
  rampScheduleId: z.string().optional(),
  savedGroupTargeting: z.array(savedGroupTargeting).optional(),
  prerequisites: z.array(prerequisite).optional(),
  allProjects: z.boolean().optional(),
  projects: z.array(z.string()).optional(),
};

/** Where a rule applies, in the flat list of the v2 interface. */
const shownScope = {
  allEnvironments: z.boolean(),
  environments: z.array(z.string()).optional(),
  pendingRamp: z.enum(['create', 'detach']).optional(),
};

const ruleTypes = {
  force: {
    type: z.literal('force'),
    value: z.string(),
    sparse: z.boolean().optional(),
  },
  rollout: {
    type: z.literal('rollout'),
    value: z.string(),
    sparse: z.boolean().optional(),
    coverage,
    hashAttribute: z.string(),
    seed: z.string().optional(),
    hashVersion: hashVersion.optional(),
  },
  experiment: {
    type: z.literal('experiment'),
    trackingKey: z.string().optional(),
    hashAttribute: z.string().optional(),
    fallbackAttribute: z.string().optional(),
    disableStickyBucketing: z.boolean().optional(),
    bucketVersion: z.number().optional(),
    minBucketVersion: z.number().optional(),
    namespace: namespaceValue.optional(),
    coverage: coverage.optional(),
    value: experimentValues.optional(),
  },
  'experiment-ref': {
    type: z.literal('experiment-ref'),
    variations,
    experimentId: z.string(),
    sparse: z.boolean().optional(),
  },
  'contextual-bandit-ref': {
    type: z.literal('contextual-bandit-ref'),
    variations,
    contextualBanditId: z.string(),
  },
  'safe-rollout': {
    type: z.literal('safe-rollout'),
    controlValue: z.string(),
    variationValue: z.string(),
    seed: z.string().optional(),
    hashAttribute: z.string().optional(),
    trackingKey: z.string().optional(),
    safeRolloutId: z.string().optional(),
    status: safeRolloutStatus.optional(),
  },
};

/** A rule of the v1 interface, listed under the environment it applies to. */
export const featureRuleV1 = z
  .discriminatedUnion('type', [
    z.strictObject({ ...shownRule, ...ruleTypes.force }),
    z.strictObject({ ...shownRule, ...ruleTypes.rollout }),
    z.strictObject({ ...shownRule, ...ruleTypes.experiment }),
    z.strictObject({ ...shownRule, ...ruleTypes['experiment-ref'] }),
    z.strictObject({ ...shownRule, ...ruleTypes['contextual-bandit-ref'] }),
    z.strictObject({ ...shownRule, ...ruleTypes['safe-rollout'] }),
  ])
  .meta({ id: 'FeatureRuleV1' });
export type FeatureRuleV1 = z.output<typeof featureRuleV1>;

/** A rule of the v2 interface, in the one list of its feature, with its own scope. */
export const featureRule = z
  .discriminatedUnion('type', [
    z.strictObject({ ...shownRule, ...ruleTypes.force, config: configKey, ...shownScope }),
    z.strictObject({ ...shownRule, ...ruleTypes.rollout, config: configKey, ...shownScope }),
    z.strictObject({ ...shownRule, ...ruleTypes.experiment, ...shownScope }),
    z.strictObject({ ...shownRule, ...ruleTypes['experiment-ref'], ...shownScope }),
    z.strictObject({ ...shownRule, ...ruleTypes['contextual-bandit-ref'], ...shownScope }),
    z.strictObject({ ...shownRule, ...ruleTypes['safe-rollout'], ...shownScope }),
  ])
  .meta({ id: 'FeatureRule' });
export type FeatureRule = z.output<typeof featureRule>;

// ---- Rules in requests ------------------------------------------------------------------------------------------------

/** Longest part of a rule's id that is the caller's own; the suffix of copies for single environments comes after it. */
const longestStem = 256;
const longestSuffix = 100;
const ruleId = z
  .string()
  .max(longestStem + longestSuffix, { abort: true })
  .refine((id) => id.replace(/__.*/s, '').length <= longestStem, `must be at most ${longestStem} characters long`);

const commonInput = {
  id: ruleId.optional(),
  description: description.optional(),
  condition: z.string().optional(),
  enabled: z.boolean().optional(),
  scheduleRules: z.array(scheduleRule).optional(),
  /** Which editor shows the schedule; kept as sent. */
  scheduleType: scheduleType.optional(),
  prerequisites: z.array(prerequisite).optional(),
  allProjects: z.boolean().optional(),
  projects: z.array(z.string()).optional(),
};

const savedGroupInput = {
  savedGroups: z.array(savedGroupMatch).optional(),
  savedGroupTargeting: z.array(savedGroupTargeting).optional().meta({ deprecated: true }),
};

const ruleInput = {
  ...commonInput,
  ...savedGroupInput,
  /** Shown where a ramp drives the rule; may be sent back unchanged. */
  rampScheduleId: z.string().optional(),
  allEnvironments: z.boolean().optional(),
  environments: z.array(z.string()).optional(),
};

const rolloutInput = {
  ...ruleTypes.rollout,
  hashAttribute: z.string().min(1, 'must not be empty: name the attribute whose hash decides, such as "id"'),
};

/**
 * A rule as a v2 body brings it in. Inline experiments come in through v1 only; safe rollouts and contextual bandits may
 * only be sent back where the feature has them already.
 */
export const featureRuleInput = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ ...ruleInput, ...ruleTypes.force, config: configKey }),
      z.strictObject({ ...ruleInput, ...rolloutInput, config: configKey }),
      z.strictObject({ ...ruleInput, ...ruleTypes['experiment-ref'] }),
      z.strictObject({
        ...ruleInput,
        ...ruleTypes['safe-rollout'],
        hashAttribute: z.string(),
        safeRolloutId: z.string(),
      }),
      z.strictObject({ ...ruleInput, ...ruleTypes['contextual-bandit-ref'] }),
    ],
    {
      error: (issue) =>
        (issue.input as { type?: unknown } | null)?.type === 'experiment'
          ? 'inline experiment rules can be written through /v1/features only'
          : undefined,
    },
  )
  .meta({ id: 'FeatureRuleInput' });
export type FeatureRuleInput = z.output<typeof featureRuleInput>;

/**
 * A rule as a v1 body brings it in, in the list of an environment. The values of an inline experiment are `values`, or `value`
 * as old clients call them.
 */
export const featureRuleInputV1 = z
  .discriminatedUnion('type', [
    z.strictObject({ ...commonInput, ...savedGroupInput, ...ruleTypes.force }),
    z.strictObject({ ...commonInput, ...savedGroupInput, ...rolloutInput }),
    z.strictObject({ ...commonInput, ...savedGroupInput, ...ruleTypes['experiment-ref'], variations: variationsV1 }),
    z.strictObject({
      ...commonInput,
      ...ruleTypes.experiment,
      condition: z.string(),
      values: experimentValues.optional(),
      value: experimentValues.optional().meta({ deprecated: true }),
    }),
  ])
  .meta({ id: 'FeatureRuleInputV1' });
export type FeatureRuleInputV1 = z.output<typeof featureRuleInputV1>;
