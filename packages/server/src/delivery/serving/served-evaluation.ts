import {
  compilePayload,
  type EvaluablePayload,
  type FlagEvaluation,
  flagEvaluation,
  type RemoteEvaluation,
  remoteEvaluation,
} from '@halyard/evaluation';
import { invalid } from '../../platform/index.ts';
import type { Served } from './source.ts';
import { boundedExpression } from './time-bound.ts';

/** Evaluates what a connection serves, for one user at a time. To be called within `withinTime`. */
export interface ServedEvaluation {
  readonly remote: RemoteEvaluation;
  readonly flags: FlagEvaluation;
}

const prepared = new WeakMap<Served, ServedEvaluation>();

/** Said by an edge that serves a payload which it cannot read. */
const notEvaluable =
  'This edge cannot evaluate values of this SDK connection: its payload is encrypted or has hashed operands, which an edge can ' +
  'read only with HALYARD_EDGE_SECRET_KEY.';

/**
 * The evaluation of what is served: compiled when it is first asked for, and kept for as long as that is served.
 *
 * @throws Refusal (invalid) when it is not known here in a form from which values can be evaluated
 */
export function evaluationOf(served: Served): ServedEvaluation {
  let evaluation = prepared.get(served);
  if (evaluation === undefined) {
    evaluation = prepare(served);
    prepared.set(served, evaluation);
  }
  return evaluation;
}

function prepare({ unhashed, change }: Served): ServedEvaluation {
  if (unhashed === null) throw invalid(notEvaluable);
  const { features, experiments, savedGroups } = unhashed;
  const payload: EvaluablePayload = {
    features: JSON.parse(features),
    ...(experiments !== undefined && { experiments: JSON.parse(experiments) }),
    ...(savedGroups !== undefined && { savedGroups: JSON.parse(savedGroups) }),
  };
  const evaluator = compilePayload(payload, { regularExpression: boundedExpression });
  return {
    remote: remoteEvaluation({ ...payload, dateUpdated: change.instant.toISOString() }, evaluator),
    flags: flagEvaluation(payload, evaluator, change.version),
  };
}
