import type { BodyOf, toggleFeature as toggleOperation } from '@halyard/contract';
import type { Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type FeatureWrite, inProject, writeDirectly } from './direct-write.ts';
import { contentOf } from './feature.ts';
import { requireEnvironments } from './scope.ts';
import type { FeatureTools } from './tools.ts';

const on = new Set<unknown>([true, 'true', '1', 1]);
const noOverride = { ignoreWarnings: false, skipSchemaValidation: false, skipHooks: false };

/** Switches a feature on or off in the environments that are named, all of them or none. */
export function toggleFeature(
  requester: Requester,
  id: string,
  { environments, reason }: BodyOf<typeof toggleOperation>,
  tools: FeatureTools,
): Promise<Written<FeatureWrite>> {
  const record = { event: 'feature.toggle', reason } as const;
  return writeDirectly(requester, id, record, noOverride, tools, async (live, states) => {
    const named = Object.keys(environments);
    // Also for those that are in the wanted state already: who may not switch them learns nothing by asking.
    demand(requester, 'publishFeatures', { ...inProject(live.state.project), environments: named });
    requireEnvironments(states, named, 'environments');
    const content = contentOf(live.state);
    const switches = Object.entries(environments).map(([name, value]) => [name, { enabled: on.has(value) }] as const);
    const changed = switches.filter(([name, { enabled }]) => content.environments[name]?.enabled !== enabled);
    return {
      content: { ...content, environments: { ...content.environments, ...Object.fromEntries(changed) } },
      gates: [],
    };
  });
}
