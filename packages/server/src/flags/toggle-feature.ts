import type { BodyOf, toggleFeature as toggleOperation } from '@halyard/contract';
import { environmentsOf } from '../organization/index.ts';
import type { Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type FeatureWrite, inProject, writeDirectly } from './direct-write.ts';
import { contentOf } from './feature.ts';
import { requireEnvironments } from './scope.ts';
import { withSwitches } from './switches.ts';
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
    const switches = new Map(Object.entries(environments).map(([name, value]) => [name, on.has(value)]));
    return { content: withSwitches(contentOf(live.state), switches, environmentsOf(states)), gates: [] };
  });
}
