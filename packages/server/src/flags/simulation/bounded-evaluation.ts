import type { RegularExpressionFactory } from '@halyard/evaluation';

/**
 * How an evaluation is kept from taking long: what it searches, and for what, is written by anybody. `delivery`, which
 * evaluates for SDKs, fills this port.
 */
export interface BoundedEvaluation {
  /** Evaluators are compiled with it. */
  readonly regularExpression: RegularExpressionFactory;
  /**
   * The results of all parts, in their order.
   *
   * @param otherwise what stands for a part that does not fit into the time
   * @throws Refusal (tooMany) where the organization has used up its time for evaluations that are slow
   */
  each<Part, Result>(
    organization: string,
    parts: readonly Part[],
    evaluate: (part: Part) => Result,
    otherwise: (part: Part) => Result,
  ): readonly Result[];
}
