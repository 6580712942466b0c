import { environmentsOf, requireProjects, settingsOf } from '../organization/index.ts';
import type { StateReader, Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import type { Gate } from '../revisions/index.ts';
import { type AskedContent, admitContent, admitDraft } from './admit-content.ts';
import { changedFields, namedFields, reachesSdks } from './content-fields.ts';
import { type FeatureWrite, inProject, type WriteFlags, writeDirectly } from './direct-write.ts';
import { contentOf, type FeatureContent, type StoredRule } from './feature.ts';
import { dependentsGates, schemaGate } from './feature-gates.ts';
import { checkAgainstSchema } from './feature-values.ts';
import { countDependents } from './prerequisites.ts';
import { environmentView } from './scope.ts';
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

    const admission = { feature: id, isNew: false, states, requester, tools };
    const content = await admitContent(asked, before, admission);
    const draft = await admitDraft(asked, content, admission);
    const skips = flags.skipSchemaValidation && requester.may('bypassApprovalFeatures', { projects: [] });
    const sent = skips ? () => false : valuesSent(asked, content, states);
    if (draft !== null && asked.draft !== undefined) {
      const sentAsDraft = skips ? () => false : valuesSent(asked.draft, draft, states);
      await checkAgainstSchema(requester.organization, draft, tools.kinds, sentAsDraft);
    }
    const changed = new Set(changedFields(before, content));
    return {
      content,
      draft,
      gates: [
        ...(await schemaGates(requester, content, changed, sent, states, tools)),
        ...(changed.has('archived') && content.archived ? dependentsGates(countDependents(id, states)) : []),
      ],
    };
  });
}

/** Whether something is named that SDKs get to feel; who archives needs another right. */
const mayReachSdks = (asked: AskedContent): boolean =>
  (asked.ruleLists?.size ?? 0) > 0 ||
  namedFields(asked).some((field) => {
    if (field === 'archived') return asked.archived === false;
    if (field === 'environments') return namesSwitches(asked);
    return reachesSdks(field);
  });

const namesSwitches = ({ environments = {} }: AskedContent): boolean =>
  Object.values(environments).some(({ enabled }) => enabled !== undefined);

/** Which values of the content the request itself brings; null stands for the default value. */
function valuesSent(
  { defaultValue, rules, ruleLists }: AskedContent,
  content: FeatureContent,
  states: StateReader,
): (rule: StoredRule | null) => boolean {
  const { applies } = environmentView(content, environmentsOf(states));
  const lists = [...(ruleLists?.keys() ?? [])];
  return (rule) => {
    if (rule === null) return defaultValue !== undefined;
    return rules !== undefined || lists.some((id) => applies(rule, id));
  };
}

/** To move a feature into a project takes the right to change features there. */
function demandMove(requester: Requester, to: string, states: StateReader): void {
  if (to !== '') requireProjects(requester, states, [to]);
  demand(requester, 'editFeatureDrafts', inProject(to));
}

/** @throws Refusal (invalid) when a value that was sent does not fit; those that were there before are a gate */
async function schemaGates(
  { organization }: Requester,
  content: FeatureContent,
  changed: ReadonlySet<keyof FeatureContent>,
  isSent: (rule: StoredRule | null) => boolean,
  states: StateReader,
  { kinds }: FeatureTools,
): Promise<Gate[]> {
  if (!changed.has('defaultValue') && !changed.has('rules') && !changed.has('jsonSchema')) return [];
  const misfits = await checkAgainstSchema(organization, content, kinds, isSent);
  return misfits.length === 0 ? [] : [schemaGate(misfits, settingsOf(states).blockPublishOnSchemaError)];
}
