import type { SdkWebhook } from '@halyard/contract';
import { type Plain, plainKind } from '../../record/index.ts';
import type { Resource } from '../../resources/index.ts';
import type { LastRun } from './webhook-history.ts';

/** A webhook that is told when the payload of one of its connections has changed. */
export interface SdkWebhookState
  extends Omit<
    SdkWebhook,
    | 'id'
    | 'signingKey'
    | 'headers'
    | 'sdks'
    | 'lastSuccess'
    | 'error'
    | 'consecutiveFailures'
    | 'dateCreated'
    | 'dateUpdated'
  > {
  readonly sdks: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Encrypted. */
  readonly signingKey: string;
}

export type StoredSdkWebhook = Plain<SdkWebhookState>;

export const sdkWebhookKind = plainKind<SdkWebhookState>('sdk-webhook', 'SDK webhook');

export const sdkWebhookResource: Resource<SdkWebhookState> = {
  kind: sdkWebhookKind,
  auditName: 'sdkWebhook',
  name: ({ name }) => name,
  secrets: ['signingKey', 'headers'],
};

/** The place for which the signing key of a webhook is encrypted. */
export const signingKeyPlace = (organization: string, id: string): string => `sdk-webhook ${organization} ${id}`;

/** Its queue; the key of its work is the webhook's id. */
export const sdkWebhookQueue = 'sdk-webhook';
/** The same, once and whatever comes of it. */
export const sdkWebhookTestQueue = 'sdk-webhook-test';

/**
 * @param run absent: it was never called
 * @param signingKey null: not for this caller, and neither are the headers
 */
export function showSdkWebhook(
  { id, state, dateCreated, dateUpdated }: StoredSdkWebhook,
  run: LastRun | undefined,
  signingKey: string | null,
): SdkWebhook {
  const { headers, signingKey: _encrypted, sdks, ...shown } = state;
  return {
    id,
    ...shown,
    sdks: [...sdks],
    ...(signingKey === null ? {} : { headers: { ...headers }, signingKey }),
    lastSuccess: run?.lastSuccess?.toISOString() ?? null,
    error: run === undefined || run.succeeded ? '' : run.text,
    consecutiveFailures: run?.consecutiveFailures ?? 0,
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
  };
}
