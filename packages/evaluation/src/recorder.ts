import { textOf } from './coercion.ts';
import type { EnteredExperiment, Experiment, ExperimentResult } from './payload.ts';
import type { TrackExperiment } from './user.ts';

/** Collects the experiments that evaluations enter. */
export interface ExperimentRecorder {
  /** To be given to evaluations as `User.trackExperiment`. */
  readonly track: TrackExperiment;
  /** What was entered so far, in order, each assignment once. */
  readonly entered: readonly EnteredExperiment[];
}

/**
 * What makes two assignments the same: attribute, value, experiment and variation (flags 8.5, step 21).
 */
export function assignmentKey(experiment: Experiment, result: ExperimentResult): string {
  return JSON.stringify([result.hashAttribute, textOf(result.hashValue), experiment.key, result.variationId]);
}

/**
 * Makes a recorder. Remote evaluation (flags A28) uses one for each feature, instead of a tracking callback.
 *
 * @example
 * const recorder = recordExperiments();
 * evaluator.evaluate('checkout', { attributes, trackExperiment: recorder.track });
 * recorder.entered // [{ experiment, result }]
 */
export function recordExperiments(): ExperimentRecorder {
  const known = new Set<string>();
  const entered: EnteredExperiment[] = [];
  return {
    entered,
    track(experiment, result) {
      const key = assignmentKey(experiment, result);
      if (known.has(key)) return;
      known.add(key);
      entered.push({ experiment, result });
    },
  };
}
