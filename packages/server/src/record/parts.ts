import type { Tx } from '../platform/index.ts';
import type { Publication, StateChange } from './publish.ts';
import type { ConfigurationVersion } from './states.ts';

/** Some of what one transaction makes true; each area that has a share in it states its own. */
export type PublicationPart = Partial<Publication>;

/** Several parts as one publication, which holds them in this order. */
export function together(parts: readonly PublicationPart[]): Publication {
  return {
    changes: async (tx, landed) => {
      const changes: StateChange[] = [];
      for (const part of parts) changes.push(...(await changesOf(part, tx, landed)));
      return changes;
    },
    audit: parts.flatMap((part) => part.audit ?? []),
    events: (landed) => parts.flatMap((part) => part.events?.(landed) ?? []),
    also: async (tx, landed) => {
      for (const part of parts) await part.also?.(tx, landed);
    },
  };
}

/** What a part changes, once the landing holds its lock. */
export async function changesOf(
  { changes = [] }: PublicationPart,
  tx: Tx,
  landed: ConfigurationVersion,
): Promise<readonly StateChange[]> {
  return typeof changes === 'function' ? changes(tx, landed) : (changes ?? []);
}
