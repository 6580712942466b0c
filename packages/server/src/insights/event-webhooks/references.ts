import { listWithout, type References } from '../../organization/index.ts';
import type { NewId } from '../../platform/index.ts';
import { plainChanges } from '../../resources/index.ts';
import { type EventWebhookState, eventWebhookResource } from './event-webhook.ts';

/**
 * Filters of event webhooks name projects and environments; those that are deleted are taken out. Where it was the last one,
 * the webhook is switched off: it must not hear of everything because what it wanted to hear of is gone.
 */
export const eventWebhookReferences = (newId: NewId): References => ({
  changesOnProjectDeletion: (_states, project, by) =>
    plainChanges(eventWebhookResource, by, newId, (state) => pruned('projects', project, state)),
  changesOnEnvironmentDeletion: (_states, environment, by) =>
    plainChanges(eventWebhookResource, by, newId, (state) => pruned('environments', environment, state)),
});

function pruned(filter: 'projects' | 'environments', deleted: string, webhook: EventWebhookState): EventWebhookState {
  const named = webhook[filter];
  if (!named.includes(deleted)) return webhook;
  const enabled = webhook.enabled && named.some((other) => other !== deleted);
  return { ...webhook, [filter]: listWithout(named, deleted), enabled };
}
