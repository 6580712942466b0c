import { featureKind } from '../../src/flags/feature.ts';
import { newFeature } from '../objects.ts';
import type { TestService } from '../service.ts';
import { inlineExperiment } from './states.ts';

/**
 * Creates a feature of texts with an experiment between `control`, `red` and `blue`, in which every German gets `red`.
 * Experiments come in by parts of the service that are not built yet, so it is published directly.
 */
export async function newExperiment(service: TestService): Promise<{ readonly id: string }> {
  const { id } = await newFeature(service, { valueType: 'string', defaultValue: 'none' });
  const rule = inlineExperiment({
    id: 'fr_experiment',
    trackingKey: `experiment-${id}`,
    condition: '{"country":"DE"}',
    values: [
      { value: 'control', weight: 0, name: 'The control' },
      { value: 'red', weight: 1, name: 'The red one' },
      { value: 'blue', weight: 0 },
    ],
  });
  await service.recorder.publish(service.id, { type: 'system' }, (states) => {
    const live = states.get(featureKind, id);
    if (live === null) throw new Error(`There is no feature ${id}.`);
    return {
      publication: { changes: [{ kind: featureKind, id, state: { ...live.state, rules: [rule] } }], audit: [] },
      result: null,
    };
  });
  return { id };
}
