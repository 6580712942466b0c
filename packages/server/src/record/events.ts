import { randomUUID } from 'node:crypto';
import { announce, inParts, type Tx } from '../platform/index.ts';
import type { Actor } from './actor.ts';

/** Version of the event payloads, as receivers know it. */
const apiVersion = '2024-07-31';

/** What happened, for those who subscribe to events. */
export interface EventDraft {
  /** Full name, such as `feature.updated`. */
  readonly event: string;
  readonly object: string;
  readonly objectId: string;
  readonly data: {
    /** The resource after the change (before it, when deleted), in its API shape. */
    readonly object: object;
    readonly previous_attributes?: object;
    readonly changes?: object;
  };
  /** For routing: the union of before and after. */
  readonly projects: readonly string[];
  readonly tags: readonly string[];
  /** The environments affected; none: no environment-filtered subscription hears of it. */
  readonly environments: readonly string[];
}

/** An event as it is stored and sent. */
export interface EventPayload extends Omit<EventDraft, 'objectId'> {
  readonly api_version: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly containsSecrets: boolean;
  readonly user: Actor | null;
}

/** Writes the events and marks each for delivery. */
export async function writeEvents(
  tx: Tx,
  organization: string,
  actor: Actor,
  instant: Date,
  drafts: readonly EventDraft[],
): Promise<void> {
  if (drafts.length === 0) return;
  const rows = drafts.map((draft) => {
    const { event, object, objectId, data, projects, tags, environments } = draft;
    const payload: EventPayload = {
      event,
      object,
      api_version: apiVersion,
      created: instant.getTime(),
      data,
      projects,
      tags,
      environments,
      containsSecrets: false,
      user: actor,
    };
    return {
      id: `event-${randomUUID()}`,
      organization,
      event,
      object,
      object_id: objectId,
      data: JSON.stringify(payload),
      date_created: instant,
    };
  });
  for (const some of inParts(rows)) {
    await tx.insertInto('event').values(some).execute();
    await tx
      .insertInto('outbox')
      .values(some.map((row) => ({ event: row.id })))
      .execute();
  }
  await announce(tx, { topic: 'work' });
}
