import type { BoundedEvaluation } from '../../flags/index.ts';
import type { Clock } from '../../platform/index.ts';
import { boundedExpression, timeBound } from './time-bound.ts';

/** Evaluations that an organization asks for beside those of its connections; they have a time of their own. */
export function boundedEvaluation(clock: Clock): BoundedEvaluation {
  const bound = timeBound({ clock });
  return {
    regularExpression: boundedExpression,
    each: (organization, parts, evaluate, otherwise) => bound.each({ id: organization }, parts, evaluate, otherwise),
  };
}
