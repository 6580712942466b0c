import { join } from 'node:path';
import { Journal, type Log, readSealed, type SealedPosition } from '../../platform/index.ts';
import type { ChangedConnection, PayloadChange, PayloadChanges } from './payload-changes.ts';

/** One entry for each change, of which the last of a connection counts. */
type Entry = ChangedConnection & Omit<PayloadChange, 'instant'> & { readonly instant: string };

const content = 'payload changes';
const pathIn = (directory: string) => join(directory, 'payload-changes');

/** Keeps the newest changes of payloads on disk, beside the states that they were made of. */
export function keepChanges(changes: PayloadChanges, tools: { directory: string; key: Buffer; log: Log }): Journal {
  const journal = new Journal({
    path: pathIn(tools.directory),
    key: tools.key,
    content,
    log: tools.log,
    snapshot: () => [...changes.known()].map(({ change, ...of }) => entryOf(of, change)),
  });
  changes.onChange((of, change) => journal.append(entryOf(of, change)));
  return journal;
}

/** The changes that were kept in a directory; or why they cannot be used. */
export async function readKeptChanges(
  directory: string,
  key: Buffer,
): Promise<
  { changes: (ChangedConnection & { change: PayloadChange })[]; position: SealedPosition } | { problem: string }
> {
  const reading = await readSealed(pathIn(directory), key, content);
  if ('problem' in reading) return reading;
  const changes = (reading.entries as Entry[]).map(({ organization, connection, instant, ...rest }) => ({
    organization,
    connection,
    change: { ...rest, instant: new Date(instant) },
  }));
  return { changes, position: reading.position };
}

const entryOf = (of: ChangedConnection, { instant, ...change }: PayloadChange): Entry => ({
  ...of,
  ...change,
  instant: instant.toISOString(),
});
