import {
  deleteFeature as deleteOperation,
  getFeatureKeys,
  getFeature as getOperation,
  getStaleFeatures,
  listFeatures as listOperation,
  postFeature,
  revertFeature as revertOperation,
  toggleFeature as toggleOperation,
  updateFeature as updateOperation,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { Recorder } from '../record/index.ts';
import { createFeature } from './create-feature.ts';
import { deleteFeature } from './delete-feature.ts';
import type { FeatureWrite } from './direct-write.ts';
import { getFeature, listFeatureKeys, listFeatures } from './read-features.ts';
import { revertFeature } from './revert-feature.ts';
import { showFeature, showRevision } from './show.ts';
import { staleFeatures } from './stale-features.ts';
import { toggleFeature } from './toggle-feature.ts';
import type { FeatureTools } from './tools.ts';
import { updateFeature } from './update-feature.ts';
import { featureRoutesV1 } from './v1/routes.ts';

/** The interface of features, in both versions. */
export function featureRoutes(tools: FeatureTools & { readonly recorder: Recorder }): Route[] {
  return [
    bind(listOperation, async ({ requester, query }) => {
      const { items, fields, context } = await listFeatures(requester, query, tools);
      return { features: items.map((live) => showFeature(live, context)), ...fields };
    }),
    bind(postFeature, async (call) => {
      const { requester, body, query } = call;
      const flags = { skipSchemaValidation: body.skipSchemaValidation ?? query.skipSchemaValidation ?? false };
      const { live, context } = call.landed(await createFeature(requester, body, flags, tools));
      return { feature: showFeature(live, context) };
    }),
    bind(getOperation, async ({ requester, params, query }) => {
      const { live, context, revisions } = await getFeature(requester, params.id, query.withRevisions, tools);
      const feature = showFeature(live, context);
      if (revisions === null) return { feature };
      const shown = revisions.map((revision) => showRevision(live.id, revision, tools.kinds));
      return { feature: { ...feature, revisions: shown } };
    }),
    bind(updateOperation, async (call) => {
      const { requester, params, body, query } = call;
      const flags = {
        ignoreWarnings: body.ignoreWarnings ?? query.ignoreWarnings ?? false,
        skipSchemaValidation: body.skipSchemaValidation ?? query.skipSchemaValidation ?? false,
        skipHooks: body.skipHooks ?? false,
      };
      return showWrite(call.landed(await updateFeature(requester, params.id, body, flags, tools)));
    }),
    bind(deleteOperation, async (call) => {
      const { id } = call.params;
      call.landed(await deleteFeature(call.requester, id, tools));
      return { deletedId: id };
    }),
    bind(toggleOperation, async (call) =>
      showWrite(call.landed(await toggleFeature(call.requester, call.params.id, call.body, tools))),
    ),
    bind(revertOperation, async (call) =>
      showWrite(call.landed(await revertFeature(call.requester, call.params.id, call.body, tools))),
    ),
    bind(getStaleFeatures, async ({ requester, query }) => ({
      features: await staleFeatures(requester, query.ids, tools),
    })),
    bind(getFeatureKeys, async ({ requester, query }) => listFeatureKeys(requester, query.projectId)),
    ...featureRoutesV1(tools),
  ];
}

const showWrite = ({ live, context, bypassed }: FeatureWrite) => ({
  feature: showFeature(live, context),
  ...(bypassed.length === 0 ? {} : { bypassedGates: [...bypassed] }),
});
