import { z } from 'zod';
import { timestamp } from './common.ts';
import { sdkErrorBody } from './errors.ts';

/**
 * A public route that SDKs call with a client key. It is described with the operations but is none: the service answers it
 * from memory before anything else, without a credential, and refuses in a form of its own.
 */
export interface SdkRoute {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Path from the root of the host, in which the client key is `{clientKey}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
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
];
