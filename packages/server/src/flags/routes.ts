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
    bind(listOperation, (call) => listFeatures(call, tools)),
    bind(postFeature, async (call) => ({ feature: await createFeature(call, tools) })),
    bind(getOperation, (call) => getFeature(call, tools)),
    bind(updateOperation, (call) => updateFeature(call, tools)),
    bind(deleteOperation, async (call) => {
      await deleteFeature(call, tools);
      return { deletedId: call.params.id };
    }),
    bind(toggleOperation, (call) => toggleFeature(call, tools)),
    bind(getFeatureKeys, async (call) => listFeatureKeys(call)),
  ];
}
