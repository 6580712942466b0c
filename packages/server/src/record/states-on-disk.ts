import { join } from 'node:path';
import { Journal, type Log, readSealed, type SealedPosition } from '../platform/index.ts';
import { apply, type LiveStates } from './live-states.ts';
import type { Live, OrganizationStates } from './states.ts';

/*
 * The states of all organizations as a journal of three kinds of entries:
 * - some of the objects of an organization, in its snapshot;
 * - the version at which it stands once all of them are there;
 * - what a later version changed, with that version.
 */

type KeptObject = readonly [
  kind: string,
  id: string,
  version: number,
  ordinal: number,
  created: string,
  updated: string,
  state: unknown,
];

interface Entry {
  readonly organization: string;
  readonly objects?: readonly KeptObject[];
  readonly at?: { readonly version: number; readonly instant: string };
}

const content = 'states';
const pathIn = (directory: string) => join(directory, content);
const objectsAtOnce = 200;

/** Keeps the states on disk as they change: what is served when the process starts and the database is away. */
export function keepStates(live: LiveStates, tools: { directory: string; key: Buffer; log: Log }): Journal {
  const journal = new Journal({
    path: pathIn(tools.directory),
    key: tools.key,
    content,
    log: tools.log,
    snapshot: () => snapshotOf([...live.organizations()].map(frozen)),
  });
  live.onChange(({ organization, at }, changes) => {
    const objects = changes.map(({ kind, id, after }): KeptObject => (after === null ? gone(kind, id) : kept(after)));
    journal.append({ organization, objects, at: { version: at.version, instant: at.instant.toISOString() } });
  });
  return journal;
}

/** The states that were kept in a directory, by organization; or why they cannot be used. */
export async function readKeptStates(
  directory: string,
  key: Buffer,
): Promise<{ states: Map<string, OrganizationStates>; position: SealedPosition } | { problem: string }> {
  const reading = await readSealed(pathIn(directory), key, content);
  if ('problem' in reading) return reading;
  const states = new Map<string, OrganizationStates>();
  const unfinished = new Set<string>();
  for (const entry of reading.entries as Entry[]) {
    const { organization, objects = [], at } = entry;
    const known = states.get(organization) ?? {
      organization,
      at: { version: 0, instant: new Date(0) },
      kinds: new Map(),
    };
    states.set(organization, known);
    for (const object of objects) apply(known, rowOf(object));
    if (at === undefined) unfinished.add(organization);
    else {
      unfinished.delete(organization);
      known.at = { version: at.version, instant: new Date(at.instant) };
    }
  }
  if (unfinished.size > 0) return { problem: 'an organization is not complete' };
  return { states, position: reading.position };
}

interface Frozen extends Pick<OrganizationStates, 'organization' | 'at'> {
  readonly objects: readonly Live[];
}

const frozen = ({ organization, at, kinds }: OrganizationStates): Frozen => ({
  organization,
  at,
  objects: [...kinds.values()].flatMap((objects) => [...objects.values()]),
});

function* snapshotOf(organizations: readonly Frozen[]): Iterable<Entry> {
  for (const { organization, at, objects } of organizations) {
    for (let from = 0; from < objects.length; from += objectsAtOnce) {
      yield { organization, objects: objects.slice(from, from + objectsAtOnce).map(kept) };
    }
    yield { organization, at: { version: at.version, instant: at.instant.toISOString() } };
  }
}

const kept = ({ kind, id, version, ordinal, dateCreated, dateUpdated, state }: Live): KeptObject => [
  kind,
  id,
  version,
  ordinal,
  dateCreated.toISOString(),
  dateUpdated.toISOString(),
  state,
];

const gone = (kind: string, id: string): KeptObject => [kind, id, 0, 0, '', '', null];

const rowOf = ([kind, id, version, ordinal, created, updated, state]: KeptObject) => ({
  kind,
  id,
  version,
  ordinal,
  state,
  date_created: new Date(created),
  date_updated: new Date(updated),
});
