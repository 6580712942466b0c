/** What of an event decides who is told of it. */
export interface RoutedEvent {
  readonly event: string;
  readonly objectId: string;
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly environments: readonly string[];
}

/** What of a webhook decides what it is told of. */
export interface Subscription {
  readonly id: string;
  readonly enabled: boolean;
  /** Names and wildcards. */
  readonly events: readonly string[];
  /** Each lets everything through as long as it is empty. */
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  readonly environments: readonly string[];
}

/** The event that tries a webhook out; its object is the webhook. */
export const testEvent = 'webhook.test';

const filters = ['projects', 'tags', 'environments'] as const;

/** Whether a webhook is told of an event. A test is told to its webhook alone, whatever that wants to hear. */
export function isTold(webhook: Subscription, event: RoutedEvent): boolean {
  if (event.event === testEvent) return event.objectId === webhook.id;
  return (
    webhook.enabled &&
    webhook.events.some((wanted) => covers(wanted, event.event)) &&
    filters.every((filter) => webhook[filter].length === 0 || webhook[filter].some((id) => event[filter].includes(id)))
  );
}

/** `feature.*` covers every name that begins with `feature.`, however deep. */
const covers = (wanted: string, name: string): boolean =>
  wanted.endsWith('.*') ? name.startsWith(wanted.slice(0, -1)) : wanted === name;
