import { isDeepStrictEqual } from 'node:util';
import type { NewId } from '../platform/index.ts';
import { type PublicationPart, plainObjects, writeAudit } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { auditEntry, type Resource } from './kit.ts';

/**
 * What must become of all objects of a kind that no payload reads when something else is published, such as the deletion of
 * what they name.
 *
 * @param change the state that an object takes on; one that stays as it is is not written
 */
export function plainChanges<State extends object>(
  resource: Resource<State>,
  { organization, actor }: Requester,
  newId: NewId,
  change: (state: State) => State,
): PublicationPart {
  return {
    async also(tx, { instant }) {
      const objects = plainObjects(tx, resource.kind, organization);
      await objects.lock();
      for (const object of await objects.all()) {
        const { id, state: before } = object;
        const state = change(before);
        if (isDeepStrictEqual(state, before)) continue;
        await objects.put({ ...object, state, dateUpdated: instant });
        const entry = auditEntry(resource, 'update', id, before, state);
        await writeAudit(tx, newId, organization, actor, instant, [entry]);
      }
    },
  };
}
