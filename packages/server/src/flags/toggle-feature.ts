import type { BypassedGate, Feature, toggleFeature as toggleOperation } from '@halyard/contract';
import type { Call } from '../http/index.ts';
import { inProject, writeDirectly } from './direct-write.ts';
import { contentOf } from './feature.ts';
import { requireEnvironments } from './scope.ts';
import type { FeatureTools } from './tools.ts';

const on = new Set<unknown>([true, 'true', '1', 1]);
const noOverride = { ignoreWarnings: false, skipSchemaValidation: false, skipHooks: false };

/** Switches a feature on or off in the environments that the body names, all of them or none. */
export function toggleFeature(
  call: Call<typeof toggleOperation>,
  tools: FeatureTools,
): Promise<{ feature: Feature; bypassedGates?: BypassedGate[] }> {
  const { body, params } = call;
  const write = { event: 'feature.toggle', reason: body.reason, flags: noOverride } as const;
  return writeDirectly(call, params.id, write, tools, async (live, states) => {
    const named = Object.keys(body.environments);
    // Also for those that are in the wanted state already: who may not switch them learns nothing by asking.
    call.demand('publishFeatures', { ...inProject(live.state.project), environments: named });
    requireEnvironments(states, named, 'environments');
    const content = contentOf(live.state);
    const switches = Object.entries(body.environments).map(([id, value]) => [id, { enabled: on.has(value) }] as const);
    const changed = switches.filter(([id, { enabled }]) => content.environments[id]?.enabled !== enabled);
    return {
      content: { ...content, environments: { ...content.environments, ...Object.fromEntries(changed) } },
      gates: [],
    };
  });
}
