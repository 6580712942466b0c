import { isDeepStrictEqual } from 'node:util';
import { listWithout, type References } from '../../organization/index.ts';
import type { NewId } from '../../platform/index.ts';
import { type PublicationPart, plainObjects, writeAudit } from '../../record/index.ts';
import type { Requester } from '../../requester/index.ts';
import { auditEntry } from '../../resources/index.ts';
import { eventWebhookKind, eventWebhookResource } from './event-webhook.ts';

/**
 * Filters of event webhooks name projects and environments; those that are deleted are taken out. Where it was the last one,
 * the webhook is switched off: it must not hear of everything because what it wanted to hear of is gone.
 */
export const eventWebhookReferences = (newId: NewId): References => ({
  changesOnProjectDeletion: (_states, project, by) => pruned('projects', project, by, newId),
  changesOnEnvironmentDeletion: (_states, environment, by) => pruned('environments', environment, by, newId),
});

function pruned(
  filter: 'projects' | 'environments',
  deleted: string,
  { organization, actor }: Requester,
  newId: NewId,
): PublicationPart {
  return {
    async also(tx, { instant }) {
      const webhooks = plainObjects(tx, eventWebhookKind, organization);
      await webhooks.lock();
      for (const webhook of await webhooks.all()) {
        const { id, state: before } = webhook;
        const named = before[filter];
        if (!named.includes(deleted)) continue;
        const enabled = before.enabled && named.some((other) => other !== deleted);
        const state = { ...before, [filter]: listWithout(named, deleted), enabled };
        if (isDeepStrictEqual(state, before)) continue;
        await webhooks.put({ ...webhook, state, dateUpdated: instant });
        const entry = auditEntry(eventWebhookResource, 'update', id, before, state);
        await writeAudit(tx, newId, organization, actor, instant, [entry]);
      }
    },
  };
}
