import { z } from 'zod';
import { timestamp } from './common.ts';
import { sdkErrorBody } from './errors.ts';

/**
 * A public route that SDKs and OpenFeature providers call with a client key. It is described with the operations but is none: the service answers it
 * from memory before anything else, without a credential, and refuses in a form of its own.
 */
export interface SdkRoute {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Path from the root of the host. Where it does not hold the client key as `{clientKey}`, a header does. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly body?: z.ZodType;
  /** Shape of the 200 answer. */
  readonly response: { readonly type: 'application/json' | 'text/event-stream'; readonly schema: z.ZodType };
  /** Shape of every refusal. */
  readonly refusal: z.ZodType;
}

/** What every payload holds; an SDK connection's options decide what else. */
const payload = z
  .looseObject({
    status: z.literal(200),
    features: z.record(z.string(), z.unknown()),
    dateUpdated: timestamp,
    encryptedFeatures: z.string().optional(),
  })
  .meta({ id: 'SdkPayload' });

const mostEntries = 1_000;
const tooMany = `must have at most ${mostEntries} entries`;

const mapOf = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string(), value).refine((entries) => Object.keys(entries).length <= mostEntries, tooMany);

/** Whom remote evaluation is asked for. SDKs write what they have not got as null, and newer ones more than is known here. */
export const remoteEvaluationBody = z
  .looseObject({
    attributes: mapOf(z.unknown()).nullish(),
    forcedVariations: mapOf(z.number()).nullish(),
    forcedFeatures: z
      .array(z.tuple([z.string(), z.unknown()]))
      .max(mostEntries, tooMany)
      .nullish(),
    url: z.string().nullish(),
    stickyBucketAssignmentDocs: mapOf(
      z.looseObject({ attributeName: z.string(), attributeValue: z.string(), assignments: mapOf(z.string()) }),
    ).nullish(),
  })
  .meta({ id: 'RemoteEvaluationRequest' });

const evaluated = z
  .strictObject({
    features: z.record(
      z.string(),
      z.strictObject({ defaultValue: z.unknown(), rules: z.array(z.unknown()).optional() }),
    ),
    experiments: z.array(z.unknown()).optional(),
    dateUpdated: timestamp,
  })
  .meta({ id: 'RemoteEvaluation' });

const flagErrorCode = z.enum(['PARSE_ERROR', 'INVALID_CONTEXT', 'FLAG_NOT_FOUND', 'GENERAL']);
const flag = z
  .strictObject({
    key: z.string(),
    value: z.unknown().optional(),
    reason: z.enum(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'UNKNOWN']),
    variant: z.string().optional(),
    metadata: z.strictObject({ configVersion: z.int(), source: z.string(), valueType: z.string() }),
  })
  .meta({ id: 'Flag' });
const failedFlag = z
  .strictObject({ key: z.string(), errorCode: flagErrorCode, errorDetails: z.string() })
  .meta({ id: 'FailedFlag' });
const flags = z
  .strictObject({
    flags: z.array(z.union([flag, failedFlag])),
    metadata: z.strictObject({ configVersion: z.int() }),
    eventStreams: z.array(
      z.strictObject({
        type: z.literal('sse'),
        endpoint: z.strictObject({ requestUri: z.string() }),
        inactivityDelaySec: z.int(),
      }),
    ),
  })
  .meta({ id: 'Flags' });
const flagRefusal = z
  .strictObject({ key: z.string().optional(), errorCode: flagErrorCode.optional(), errorDetails: z.string() })
  .meta({ id: 'FlagError' });
const flagContext = z
  .looseObject({ context: z.looseObject({ targetingKey: z.unknown().optional() }) })
  .meta({ id: 'FlagContext' });
const providers = 'OpenFeature Remote Evaluation Protocol 0.3; the credential is a client key. ';

export const sdkRoutes: readonly SdkRoute[] = [
  {
    id: 'getSdkFeatures',
    method: 'GET',
    path: '/api/features/{clientKey}',
    summary: 'The payload of an SDK connection',
    description:
      'For SDKs; needs no credential. Answers `304` to an `If-None-Match` that names the current `ETag`. ' +
      '`X-Service-Min-Config-Version` asks for a payload of at least that configuration version. After a refusal with ' +
      '`x-unrecoverable: 1` it is no use to ask again.',
    response: { type: 'application/json', schema: payload },
    refusal: sdkErrorBody,
  },
  {
    id: 'streamSdkFeatures',
    method: 'GET',
    path: '/sub/{clientKey}',
    summary: 'A stream of the changes of a payload',
    description:
      'For SDKs; needs no credential. Server-sent events: `features` carries the whole payload, `features-updated` asks to fetch it. ' +
      'Also served below `/api`.',
    response: { type: 'text/event-stream', schema: z.string() },
    refusal: sdkErrorBody,
  },
  {
    id: 'evaluateSdkFeatures',
    method: 'POST',
    path: '/api/eval/{clientKey}',
    summary: 'What one user gets, without the definitions behind it',
    description: 'For SDKs of a connection that is set to remote evaluation; needs no credential.',
    body: remoteEvaluationBody,
    response: { type: 'application/json', schema: evaluated },
    refusal: sdkErrorBody,
  },
  {
    id: 'evaluateFlags',
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags',
    summary: 'All flags of a connection for one user',
    description: `${providers}Answers \`304\` to an \`If-None-Match\` that names the current \`ETag\`.`,
    body: flagContext,
    response: { type: 'application/json', schema: flags },
    refusal: flagRefusal,
  },
  {
    id: 'evaluateFlag',
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags/{key}',
    summary: 'One flag for one user',
    description: providers.trim(),
    body: flagContext,
    response: { type: 'application/json', schema: flag },
    refusal: flagRefusal,
  },
  {
    id: 'streamFlagChanges',
    method: 'GET',
    path: '/ofrep/v1/events/{clientKey}',
    summary: 'A stream that tells when to evaluate again',
    description: `${providers}Server-sent events of type \`refetchEvaluation\`.`,
    response: { type: 'text/event-stream', schema: z.string() },
    refusal: flagRefusal,
  },
];
