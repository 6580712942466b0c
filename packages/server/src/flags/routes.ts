import {
  deleteFeature as deleteOperation,
  getFeatureKeys,
  getFeature as getOperation,
  listFeatures as listOperation,
  postFeature,
  toggleFeature as toggleOperation,
  updateFeature as updateOperation,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { Recorder } from '../record/index.ts';
import { createFeature } from './create-feature.ts';
import { deleteFeature } from './delete-feature.ts';
import { getFeature, listFeatureKeys, listFeatures } from './read-features.ts';
import { toggleFeature } from './toggle-feature.ts';
import type { FeatureTools } from './tools.ts';
import { updateFeature } from './update-feature.ts';

export function featureRoutes(tools: FeatureTools & { readonly recorder: Recorder }): Route[] {
  return [
    bind(listOperation, ({ requester, query }) => listFeatures(requester, query, tools)),
    bind(postFeature, async (call) => {
      const { requester, body, query } = call;
      const flags = { skipSchemaValidation: body.skipSchemaValidation ?? query.skipSchemaValidation ?? false };
      return { feature: call.landed(await createFeature(requester, body, flags, tools)) };
    }),
    bind(getOperation, ({ requester, params, query }) => getFeature(requester, params.id, query.withRevisions, tools)),
    bind(updateOperation, async (call) => {
      const { requester, params, body, query } = call;
      const flags = {
        ignoreWarnings: body.ignoreWarnings ?? query.ignoreWarnings ?? false,
        skipSchemaValidation: body.skipSchemaValidation ?? query.skipSchemaValidation ?? false,
        skipHooks: body.skipHooks ?? false,
      };
      return call.landed(await updateFeature(requester, params.id, body, flags, tools));
    }),
    bind(deleteOperation, async (call) => {
      const { id } = call.params;
      call.landed(await deleteFeature(call.requester, id, tools));
      return { deletedId: id };
    }),
    bind(toggleOperation, async (call) =>
      call.landed(await toggleFeature(call.requester, call.params.id, call.body, tools)),
    ),
    bind(getFeatureKeys, async ({ requester, query }) => listFeatureKeys(requester, query.projectId)),
  ];
}
