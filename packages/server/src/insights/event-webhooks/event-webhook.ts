import type { EventWebhook } from '@halyard/contract';
import type { LastRun } from '../../delivery/index.ts';
import { type Plain, plainKind } from '../../record/index.ts';
import type { Resource } from '../../resources/index.ts';

/** A webhook that is told of events. */
export interface EventWebhookState extends Pick<EventWebhook, 'name' | 'url' | 'enabled' | 'payloadType' | 'method'> {
  readonly events: readonly string[];
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly environments: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Encrypted. */
  readonly signingKey: string;
}

export type StoredEventWebhook = Plain<EventWebhookState>;

export const eventWebhookKind = plainKind<EventWebhookState>('event-webhook', 'event webhook');

export const eventWebhookResource: Resource<EventWebhookState> = {
  kind: eventWebhookKind,
  auditName: 'eventWebhook',
  name: ({ name }) => name,
  secrets: ['signingKey', 'headers'],
};

/** The place for which the signing key of a webhook is encrypted. */
export const signingKeyPlace = (organization: string, id: string): string => `event-webhook ${organization} ${id}`;

/** @param run absent: it was never called */
export function showEventWebhook(
  { id, state, dateCreated, dateUpdated }: StoredEventWebhook,
  run: LastRun | undefined,
  signingKey: string,
): EventWebhook {
  return {
    id,
    ...state,
    events: [...state.events],
    projects: [...state.projects],
    tags: [...state.tags],
    environments: [...state.environments],
    headers: { ...state.headers },
    signingKey,
    lastRunAt: run?.at.toISOString() ?? null,
    lastState: run === undefined ? 'none' : run.succeeded ? 'success' : 'error',
    lastResponseBody: run?.text ?? null,
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
  };
}
