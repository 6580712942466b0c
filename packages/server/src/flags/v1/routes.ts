import {
  deleteFeatureV1,
  getFeatureKeysV1,
  getFeatureV1,
  getStaleFeaturesV1,
  listFeaturesV1,
  postFeatureV1,
  revertFeatureV1,
  toggleFeatureV1,
  updateFeatureV1,
} from '@halyard/contract';
import { bind, type Route } from '../../http/index.ts';
import type { Recorder } from '../../record/index.ts';
import { createFeature } from '../create-feature.ts';
import { deleteFeature } from '../delete-feature.ts';
import type { FeatureWrite } from '../direct-write.ts';
import { getFeature, listFeatureKeys, listFeatures } from '../read-features.ts';
import { revertFeature } from '../revert-feature.ts';
import { showFeatureV1, showRevisionV1 } from '../show.ts';
import { staleFeatures } from '../stale-features.ts';
import { toggleFeature } from '../toggle-feature.ts';
import type { FeatureTools } from '../tools.ts';
import { updateFeature } from '../update-feature.ts';
import { askedContent } from './asked-content.ts';

/** The v1 interface of features: the same features, whose rules are shown and written by environment. */
export function featureRoutesV1(tools: FeatureTools & { readonly recorder: Recorder }): Route[] {
  return [
    bind(listFeaturesV1, async ({ requester, query }) => {
      const { items, fields, context } = await listFeatures(requester, { ...query, archived: true }, tools);
      return { features: items.map((live) => showFeatureV1(live, context)), ...fields };
    }),
    bind(postFeatureV1, async (call) => {
      const { id, valueType, defaultValue, ...body } = call.body;
      const flags = { skipSchemaValidation: body.skipSchemaValidation ?? false };
      const input = { ...askedContent(body), id, valueType, defaultValue };
      const { live, context } = call.landed(await createFeature(call.requester, input, flags, tools));
      return { feature: showFeatureV1(live, context) };
    }),
    bind(getFeatureV1, async ({ requester, params, query }) => {
      const { live, context, revisions } = await getFeature(requester, params.id, query.withRevisions, tools);
      const feature = showFeatureV1(live, context);
      if (revisions === null) return { feature };
      return { feature: { ...feature, revisions: revisions.map((each) => showRevisionV1(live.id, each, context)) } };
    }),
    bind(updateFeatureV1, async (call) => {
      const { requester, params, body } = call;
      const flags = {
        ignoreWarnings: body.ignoreWarnings ?? false,
        skipSchemaValidation: body.skipSchemaValidation ?? false,
        skipHooks: body.skipHooks ?? false,
      };
      return showWrite(call.landed(await updateFeature(requester, params.id, askedContent(body), flags, tools)));
    }),
    bind(deleteFeatureV1, async (call) => {
      const { id } = call.params;
      call.landed(await deleteFeature(call.requester, id, tools));
      return { deletedId: id };
    }),
    bind(toggleFeatureV1, async (call) =>
      showWrite(call.landed(await toggleFeature(call.requester, call.params.id, call.body, tools))),
    ),
    bind(revertFeatureV1, async (call) =>
      showWrite(call.landed(await revertFeature(call.requester, call.params.id, call.body, tools))),
    ),
    bind(getStaleFeaturesV1, async ({ requester, query }) => ({
      features: await staleFeatures(requester, query.ids, tools),
    })),
    bind(getFeatureKeysV1, async ({ requester, query }) => listFeatureKeys(requester, query.projectId)),
  ];
}

const showWrite = ({ live, context, bypassed }: FeatureWrite) => ({
  feature: showFeatureV1(live, context),
  ...(bypassed.length === 0 ? {} : { bypassedGates: [...bypassed] }),
});
