import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FileLock,
  type Journal,
  type Log,
  type Presence,
  readSealed,
  tryLock,
  writeSealed,
} from '../platform/index.ts';
import { keepStates, type LiveStates, type OrganizationStates, readKeptStates } from '../record/index.ts';
import { connectionKind } from './connection.ts';
import { keepChanges, readKeptChanges } from './payload/changes-on-disk.ts';
import type { ChangedConnection, PayloadChange, PayloadChanges } from './payload/payload-changes.ts';

/** Everything that payloads are made of, as it was known to be at an instant. */
interface Copy {
  readonly known: Date;
  readonly states: ReadonlyMap<string, OrganizationStates>;
  readonly changes: readonly (ChangedConnection & { readonly change: PayloadChange })[];
}

/** What a copy is known to hold: it is no good if it holds less. */
interface Knowledge {
  readonly at: string;
  readonly versions: Readonly<Record<string, number>>;
}

const knowledge = { file: 'known', content: 'knowledge' };
const confirmEvery = 5_000;

export interface LastKnownGoodTools {
  readonly dataDirectory: string;
  readonly key: Buffer;
  readonly live: LiveStates;
  readonly changes: PayloadChanges;
  readonly presence: Presence;
  readonly log: Log;
}

/**
 * The last known good on disk: what a process serves that starts while the database is away. Every process keeps a copy of
 * its own in the data directory, and reads the best of all that lie there.
 */
export class LastKnownGood {
  readonly #tools: LastKnownGoodTools;
  readonly #own: Claim;
  readonly #journals: readonly Journal[];
  #timer: NodeJS.Timeout | undefined;
  #confirming: Promise<void> | null = null;

  private constructor(tools: LastKnownGoodTools, own: Claim) {
    this.#tools = tools;
    this.#own = own;
    // Before anyone else hears of a change: what SDKs are told is on disk by then.
    const place = { directory: own.directory, key: tools.key, log: tools.log };
    this.#journals = [keepStates(tools.live, place), keepChanges(tools.changes, place)];
    tools.live.onChange((_states, changes) => {
      // Nothing is left on disk of a connection that is deleted.
      const deleted = changes.some(({ kind, after }) => kind === connectionKind.name && after === null);
      if (deleted && this.#timer !== undefined) for (const journal of this.#journals) void journal.rewrite();
    });
  }

  /** Opens the copy of this process; nothing is read or written yet. To be called before anyone listens to the states. */
  static async open(tools: LastKnownGoodTools): Promise<LastKnownGood> {
    return new LastKnownGood(tools, await claim(rootIn(tools.dataDirectory)));
  }

  /**
   * Takes the best copy there is.
   *
   * @returns false: there is none that is good
   */
  async restore(): Promise<boolean> {
    const { live, changes, presence, log } = this.#tools;
    const copy = await this.#best();
    if (copy === null || live.loaded) return false;
    for (const { change, ...of } of copy.changes) changes.note(of, change);
    live.restore(copy.states.values());
    presence.recall(copy.known);
    log.warn({ known: copy.known }, 'The database is away: serving what was last known');
    return true;
  }

  /** Keeps a copy of everything from now on. */
  async begin(): Promise<void> {
    this.#timer = setInterval(() => void this.#confirm(), confirmEvery);
    this.#timer.unref();
    for (const journal of this.#journals) await journal.rewrite();
    await this.#confirm();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#confirm();
    for (const journal of this.#journals) await journal.close();
    this.#own.lock.release();
  }

  /** Writes down up to when the copy is known to be the newest there is. */
  #confirm(): Promise<void> {
    this.#confirming ??= this.#writeKnowledge()
      .catch((error: unknown) => {
        this.#tools.log.warn({ err: error }, 'What was last known could not be written down; it is tried again');
      })
      .finally(() => {
        this.#confirming = null;
      });
    return this.#confirming;
  }

  async #writeKnowledge(): Promise<void> {
    const { live, presence, key } = this.#tools;
    const { known } = presence;
    if (known === null || !this.#journals.every((journal) => journal.isWhole)) return;
    const versions = Object.fromEntries(
      [...live.organizations()].map(({ organization, at }) => [organization, at.version]),
    );
    // First what it speaks of must be on disk.
    for (const journal of this.#journals) await journal.sync();
    const entry: Knowledge = { at: known.toISOString(), versions };
    await writeSealed(join(this.#own.directory, knowledge.file), key, knowledge.content, entry);
  }

  async #best(): Promise<Copy | null> {
    let best: Copy | null = null;
    for (const directory of await copiesIn(rootIn(this.#tools.dataDirectory))) {
      const copy = await this.#read(directory);
      if ('problem' in copy) this.#tools.log.warn({ directory, ...copy }, 'A copy on disk is not used');
      else if (best === null || copy.known > best.known) best = copy;
    }
    return best;
  }

  async #read(directory: string): Promise<Copy | { problem: string }> {
    const { key } = this.#tools;
    const reading = await readSealed(join(directory, knowledge.file), key, knowledge.content);
    if ('problem' in reading) return reading;
    const kept = await readKeptStates(directory, key);
    if ('problem' in kept) return kept;
    const changes = await readKeptChanges(directory, key);
    if ('problem' in changes) return changes;
    const { at, versions } = reading.entries[0] as Knowledge;
    for (const [organization, version] of Object.entries(versions)) {
      const here = kept.states.get(organization)?.at.version ?? 0;
      if (here < version)
        return { problem: `${organization} was known at version ${version}, but is there at ${here}` };
    }
    return { known: new Date(at), ...kept, ...changes };
  }
}

const rootIn = (dataDirectory: string) => join(dataDirectory, 'last-known-good');

interface Claim {
  readonly directory: string;
  readonly lock: FileLock;
}

/** Claims the first directory that no living process has. */
async function claim(root: string): Promise<Claim> {
  for (let number = 1; ; number++) {
    const directory = join(root, String(number));
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(directory, 'lock'), 'exclusive');
    if (lock !== undefined) return { directory, lock };
  }
}

async function copiesIn(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map((name) => join(root, name));
}
