import type { Experiment, ExperimentResult } from './payload.ts';

/**
 * Texts that an experiment and one of its variations decide, whoever the user is: each is written once and kept. For the
 * experiments of one payload, which an evaluator reports as the same objects each time.
 */
export class VariationTexts {
  readonly #texts = new Map<Experiment, string[]>();

  of(experiment: Experiment, { variationId }: ExperimentResult, write: () => string): string {
    let texts = this.#texts.get(experiment);
    if (texts === undefined) {
      texts = [];
      this.#texts.set(experiment, texts);
    }
    return (texts[variationId] ??= write());
  }
}
