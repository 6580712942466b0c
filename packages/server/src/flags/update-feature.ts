import { requireProjects, settingsOf } from '../organization/index.ts';
import type { StateReader, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import type { Gate } from '../revisions/index.ts';
import { type AskedContent, admitContent } from './admit-content.ts';
import { changedFields, namedFields, reachesSdks } from './content-fields.ts';
import { type FeatureWrite, inProject, type WriteFlags, writeDirectly } from './direct-write.ts';
import { contentOf, type FeatureContent } from './feature.ts';
import { checkAgainstSchema } from './feature-values.ts';
import { countDependents } from './prerequisites.ts';
import type { FeatureTools } from './tools.ts';

/** Changes what is asked and publishes the change; what is left out stays. */
export function updateFeature(
  requester: Requester,
  id: string,
  asked: AskedContent,
  flags: WriteFlags,
  tools: FeatureTools,
): Promise<Written<FeatureWrite>> {
  return writeDirectly(requester, id, { event: 'feature.update' }, flags, tools, async ({ state }, states) => {
    const before = contentOf(state);
    const where = inProject(before.project);
    demand(requester, 'editFeatureDrafts', where);
    // What exactly must be allowed is known once the change is; who may land nothing at all is told before it is judged.
    if (mayReachSdks(asked)) demand(requester, 'publishFeatures', where);
    if (asked.project !== undefined && asked.project !== before.project) demandMove(requester, asked.project, states);

    const content = await admitContent(asked, before, { feature: id, isNew: false, states, requester, tools });
    const skips = flags.skipSchemaValidation && requester.may('bypassApprovalFeatures', { projects: [] });
    const sent = { default: !skips && asked.defaultValue !== undefined, rules: !skips && asked.rules !== undefined };
    const changed = new Set(changedFields(before, content));
    return {
      content,
      gates: [
        ...(await schemaGates(requester, content, changed, sent, states, tools)),
        ...(changed.has('archived') && content.archived ? dependentsGates(countDependents(id, states)) : []),
      ],
    };
  });
}

/** Whether something is named that SDKs get to feel; who archives needs another right. */
const mayReachSdks = (asked: AskedContent): boolean =>
  namedFields(asked).some((field) => (field === 'archived' ? asked.archived === false : reachesSdks(field)));

/** To move a feature into a project takes the right to change features there. */
function demandMove(requester: Requester, to: string, states: StateReader): void {
  if (to !== '') requireProjects(states, [to]);
  demand(requester, 'editFeatureDrafts', inProject(to));
}

/** @throws Refusal (invalid) when a value that was sent does not fit; those that were there before are a gate */
async function schemaGates(
  { organization }: Requester,
  content: FeatureContent,
  changed: ReadonlySet<keyof FeatureContent>,
  sent: { default: boolean; rules: boolean },
  states: StateReader,
  { kinds }: FeatureTools,
): Promise<Gate[]> {
  if (!changed.has('defaultValue') && !changed.has('rules') && !changed.has('jsonSchema')) return [];
  const misfits = await checkAgainstSchema(organization, content, kinds, sent);
  return misfits.length === 0 ? [] : [schemaGate(misfits, settingsOf(states).blockPublishOnSchemaError)];
}

const schemaGate = (messages: string[], blocks: boolean): Gate => ({
  type: 'schema-validation',
  severity: 'warning',
  messages,
  override: blocks ? 'skipSchemaValidation' : 'ignoreWarnings',
  requiresPermission: blocks ? 'bypassApprovalFeatures' : null,
  resolution: null,
});

/** Only counts: the caller may not be able to see them. */
const dependentsGates = (dependents: number): Gate[] => (dependents === 0 ? [] : [dependentsGate(dependents)]);

const dependentsGate = (dependents: number): Gate => ({
  type: 'archive-dependents',
  severity: 'warning',
  messages: [
    dependents === 1
      ? 'Another feature has this one as a prerequisite and will serve nothing while it is archived.'
      : `${dependents} other features have this one as a prerequisite and will serve nothing while it is archived.`,
  ],
  override: 'ignoreWarnings',
  requiresPermission: null,
  resolution: null,
});
