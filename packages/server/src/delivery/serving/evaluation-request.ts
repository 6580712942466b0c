import type { JsonValue, RemoteEvaluationRequest } from '@halyard/evaluation';
import { z } from 'zod';
import { checkBody } from '../../http/index.ts';

const mostEntries = 1_000;
const tooMany = `must have at most ${mostEntries} entries`;

const mapOf = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string(), value).refine((entries) => Object.keys(entries).length <= mostEntries, tooMany);

const document = z.object({
  attributeName: z.string(),
  attributeValue: z.string(),
  assignments: mapOf(z.string()),
});

/** SDKs write what they have not got as null, and newer ones more than is known here. */
const schema = z.object({
  attributes: mapOf(z.unknown()).nullish(),
  forcedVariations: mapOf(z.number()).nullish(),
  forcedFeatures: z
    .array(z.tuple([z.string(), z.custom<JsonValue>()]))
    .max(mostEntries, tooMany)
    .nullish(),
  url: z.string().nullish(),
  stickyBucketAssignmentDocs: mapOf(document).nullish(),
});

/**
 * Reads what a client asks values for (flags A28).
 *
 * @param body JSON; undefined: it sent none
 * @throws Refusal (invalid) that names what is of the wrong type or too large
 */
export function readEvaluationRequest(body: unknown): RemoteEvaluationRequest {
  const { attributes, forcedVariations, forcedFeatures, url, stickyBucketAssignmentDocs } = checkBody(
    schema,
    body ?? {},
  );
  return {
    attributes: attributes ?? {},
    ...(forcedVariations && { forcedVariations }),
    ...(forcedFeatures && { forcedFeatures: new Map(forcedFeatures) }),
    ...(url && { url }),
    // Its presence alone switches sticky bucketing on.
    ...(stickyBucketAssignmentDocs && { stickyBucketAssignmentDocs }),
  };
}
