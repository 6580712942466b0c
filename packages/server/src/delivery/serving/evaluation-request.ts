import { remoteEvaluationBody } from '@halyard/contract';
import type { JsonValue, RemoteEvaluationRequest } from '@halyard/evaluation';
import { checkBody } from '../../http/index.ts';

/**
 * Reads what a client asks values for (flags A28).
 *
 * @param body JSON; undefined: it sent none
 * @throws Refusal (invalid) that names what is of the wrong type or too large
 */
export function readEvaluationRequest(body: unknown): RemoteEvaluationRequest {
  const asked = checkBody(remoteEvaluationBody, body ?? {});
  const { attributes, forcedVariations, forcedFeatures, url, stickyBucketAssignmentDocs } = asked;
  return {
    attributes: attributes ?? {},
    ...(forcedVariations && { forcedVariations }),
    // Whatever a body holds is JSON.
    ...(forcedFeatures && { forcedFeatures: new Map(forcedFeatures as [string, JsonValue][]) }),
    ...(url && { url }),
    // Its presence alone switches sticky bucketing on.
    ...(stickyBucketAssignmentDocs && { stickyBucketAssignmentDocs }),
  };
}
