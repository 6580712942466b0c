import {
  compilePayload,
  type EvaluablePayload,
  type Evaluator,
  type FlagEvaluation,
  flagEvaluation,
  type RemoteEvaluation,
  remoteEvaluation,
} from '@halyard/evaluation';
import { invalid } from '../../platform/index.ts';
import type { PayloadText } from './payload-text.ts';
import type { Served } from './source.ts';
import { boundedExpression } from './time-bound.ts';

/*
 * Evaluations of what is served, for one user at a time, to be called within a `TimeBound`. They are compiled when they are
 * first asked for, and kept for as long as that is served.
 */

/** What a user of an SDK gets: from the payload as it is served, so that SDKs treat secure attributes as they always do. */
export const remoteEvaluationOf = keptFor(({ text, change }): RemoteEvaluation => {
  const { payload, evaluator } = compile(text);
  return remoteEvaluation({ ...payload, dateUpdated: change.instant.toISOString() }, evaluator);
});

/** What a user of OpenFeature gets, who knows nothing of hashed attributes. */
export const flagEvaluationOf = keptFor(({ unhashed, change }): FlagEvaluation => {
  const { payload, evaluator } = compile(unhashed);
  return flagEvaluation(payload, evaluator, change.version);
});

function keptFor<Evaluation extends object>(prepare: (served: Served) => Evaluation): (served: Served) => Evaluation {
  const prepared = new WeakMap<Served, Evaluation>();
  return (served) => {
    const known = prepared.get(served);
    if (known !== undefined) return known;
    const fresh = prepare(served);
    prepared.set(served, fresh);
    return fresh;
  };
}

/** Said by an edge that serves a payload which it cannot read. */
const notEvaluable =
  'This edge cannot evaluate values of this SDK connection: its payload is encrypted or has hashed operands, which an edge can ' +
  'read only with HALYARD_EDGE_SECRET_KEY.';

/** @throws Refusal (invalid) where the text is not known here */
function compile(text: PayloadText | null): { payload: EvaluablePayload; evaluator: Evaluator } {
  if (text === null) {
    throw invalid(notEvaluable);
  }
  const { features, experiments, savedGroups } = text;
  const payload: EvaluablePayload = {
    features: JSON.parse(features),
    ...(experiments !== undefined && { experiments: JSON.parse(experiments) }),
    ...(savedGroups !== undefined && { savedGroups: JSON.parse(savedGroups) }),
  };
  return { payload, evaluator: compilePayload(payload, { regularExpression: boundedExpression }) };
}
