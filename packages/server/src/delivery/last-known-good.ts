import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FileLock,
  type Journal,
  type Log,
  type Presence,
  readCheckedFile,
  type SealedPosition,
  tryLock,
  writeCheckedFile,
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

/** How far the files of a copy went when it was known to be the newest there is: one that ends before is no good. */
interface Knowledge {
  readonly at: string;
  readonly states: SealedPosition;
  readonly changes: SealedPosition;
}

const knowledge = { file: 'known', kind: 'knowledge-1' };
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
  readonly #states: Journal;
  readonly #changes: Journal;
  #timer: NodeJS.Timeout | undefined;
  #confirming: Promise<void> | null = null;

  private constructor(tools: LastKnownGoodTools, own: Claim) {
    this.#tools = tools;
    this.#own = own;
    // Before anyone else hears of a change: what SDKs are told is on disk by then.
    const place = { directory: own.directory, key: tools.key, log: tools.log };
    this.#states = keepStates(tools.live, place);
    this.#changes = keepChanges(tools.changes, place);
    tools.live.onChange((_states, changes) => {
      const deleted = changes.some(({ kind, after }) => kind === connectionKind.name && after === null);
      // Nothing is left on disk of a connection that is deleted, once everyone has heard of it.
      if (deleted && this.#timer !== undefined) setImmediate(() => void this.#writeAnew());
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
    await this.#writeAnew();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#confirm();
    await this.#states.close();
    await this.#changes.close();
    this.#own.lock.release();
  }

  async #writeAnew(): Promise<void> {
    await Promise.all([this.#states.rewrite(), this.#changes.rewrite()]);
    await this.#confirm();
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
    const { known } = this.#tools.presence;
    const [states, changes] = [this.#states.position, this.#changes.position];
    if (known === null || states === null || changes === null) return;
    // First what it speaks of must be on disk.
    await this.#states.sync();
    await this.#changes.sync();
    const entry: Knowledge = { at: known.toISOString(), states, changes };
    await writeCheckedFile(join(this.#own.directory, knowledge.file), knowledge.kind, JSON.stringify(entry));
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
    const knowing = await readCheckedFile(join(directory, knowledge.file), knowledge.kind);
    if (knowing.content === null) return { problem: knowing.problem ?? 'nobody knows how old it is' };
    const states = await readKeptStates(directory, key);
    if ('problem' in states) return states;
    const known = JSON.parse(knowing.content.toString()) as Knowledge;
    if (endsBefore(states.position, known.states)) return { problem: endedEarly };
    const changes = await this.#readChanges(directory, known.changes);
    return { known: new Date(known.at), states: states.states, changes };
  }

  /** Payloads can be compiled without their settled changes: then this process dates and encrypts them for itself. */
  async #readChanges(directory: string, known: SealedPosition): Promise<Copy['changes']> {
    const kept = await readKeptChanges(directory, this.#tools.key);
    if (!('problem' in kept) && !endsBefore(kept.position, known)) return kept.changes;
    const problem = 'problem' in kept ? kept.problem : endedEarly;
    this.#tools.log.warn({ directory, problem }, 'Payloads on disk have lost the dates of their last changes');
    return [];
  }
}

const endedEarly = 'it ends before what it is known to have held';

/** A file that was written anew since is whole in itself. */
const endsBefore = (found: SealedPosition, known: SealedPosition): boolean =>
  found.generation === known.generation && found.appended < known.appended;

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
