import { z } from 'zod';
import { idParams, overrideFlags, reason } from './common.ts';
import { bypassedGate } from './errors.ts';
import { feature, featureV1 } from './features.ts';
import { operation } from './operation.ts';

const common = {
  method: 'POST',
  summary: 'Publish again what a feature was at one of its published revisions',
  permission: 'revertFeatures',
  params: idParams,
  body: z.strictObject({
    /** The number of a published revision. */
    revision: z.number(),
    comment: reason.optional(),
    ...overrideFlags,
  }),
  errors: [404, 409, 422],
} as const;

const bypassedGates = z.array(bypassedGate).optional();

export const revertFeature = operation({
  ...common,
  id: 'revertFeatureV2',
  path: '/v2/features/{id}/revert',
  tag: 'features-v2',
  description:
    'It becomes a new revision. An environment that the old one did not know keeps its switch. Where its values do not fit the ' +
    'schema that the feature has today, `ignoreWarnings` reverts all the same.',
  response: z.strictObject({ feature, bypassedGates }),
});

export const revertFeatureV1 = operation({
  ...common,
  id: 'revertFeature',
  path: '/v1/features/{id}/revert',
  tag: 'features',
  description: 'Use `POST /v2/features/{id}/revert`.',
  response: z.strictObject({ feature: featureV1, bypassedGates }),
  deprecated: true,
});
