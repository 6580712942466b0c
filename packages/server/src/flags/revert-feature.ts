import type { BodyOf, revertFeature as revertOperation } from '@halyard/contract';
import { invalid, notFound, quoted } from '../platform/index.ts';
import type { Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import type { Gate } from '../revisions/index.ts';
import { changedFields } from './content-fields.ts';
import { type FeatureWrite, inProject, writeDirectly } from './direct-write.ts';
import { contentOf, type FeatureContent, featureRevisionKind } from './feature.ts';
import { dependentsGates, schemaGate } from './feature-gates.ts';
import { checkAgainstSchema } from './feature-values.ts';
import { countDependents } from './prerequisites.ts';
import { checkRestored, restoredContent } from './restore-content.ts';
import type { FeatureTools } from './tools.ts';

/** Makes a feature again what it was at one of its published revisions, as a new one. */
export function revertFeature(
  requester: Requester,
  id: string,
  { revision: version, comment, ...body }: BodyOf<typeof revertOperation>,
  tools: FeatureTools,
): Promise<Written<FeatureWrite>> {
  const flags = {
    ignoreWarnings: body.ignoreWarnings ?? false,
    skipSchemaValidation: body.skipSchemaValidation ?? false,
    skipHooks: body.skipHooks ?? false,
  };
  const record = { event: 'feature.revert', comment: comment ?? `Reverted to revision #${version}` } as const;
  return writeDirectly(requester, id, record, flags, tools, async ({ state }, states) => {
    const { organization, members } = requester;
    // What has landed never changes; only the feature could be deleted and made anew, and that is noticed when this lands.
    const target = await tools.revisions.find<FeatureContent>(organization, featureRevisionKind, id, version);
    if (target === null) throw notFound(`revision of ${quoted(id)} with the number`, String(version));
    const before = contentOf(state);
    demand(requester, 'revertFeatures', inProject(before.project));
    if (target.status !== featureRevisionKind.landed) {
      throw invalid(`Revision ${version} is ${target.status}: only what was published can be gone back to.`);
    }
    if (version === state.revision.version) throw invalid(`Revision ${version} is the one that is live.`);
    const content = restoredContent(target.content, before, { states, members });
    const changed = new Set(changedFields(before, content));
    if (changed.size === 0) {
      throw invalid(
        `Revision ${version} has the same content as the one that is live: there is nothing to go back to.`,
      );
    }
    checkRestored(content, before, { feature: id, isNew: false, states, requester, tools });

    const archives = changed.has('archived') && content.archived;
    const valuesChange = changed.has('defaultValue') || changed.has('rules');
    const skips = flags.skipSchemaValidation && requester.may('bypassApprovalFeatures', { projects: [] });
    return {
      content,
      revertsTo: target,
      gates: [
        ...(valuesChange
          ? await misfitGates(organization, { ...content, jsonSchema: before.jsonSchema }, skips, tools)
          : []),
        ...(archives ? dependentsGates(countDependents(id, states)) : []),
      ],
    };
  });
}

/** Values of then that do not fit the schema of today. Who goes back in need is warned of it, but not held up. */
async function misfitGates(
  organization: string,
  content: FeatureContent,
  skips: boolean,
  { kinds }: FeatureTools,
): Promise<Gate[]> {
  const misfits = await checkAgainstSchema(organization, content, kinds, () => false);
  return misfits.length === 0 ? [] : [schemaGate(misfits, skips)];
}
