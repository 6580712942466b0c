import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  DataDirectoryError,
  type FileLock,
  type Log,
  readCheckedFile,
  removeDrafts,
  tryLock,
  writeCheckedFile,
} from '../../platform/index.ts';

const knowledge = z.strictObject({
  key: z.string(),
  /** Up to which the payload is right. */
  version: z.int(),
  /** Milliseconds since 1970: when that was last known to be the newest. */
  knownAt: z.number(),
});

const payload = knowledge.extend({
  id: z.string(),
  remoteOnly: z.boolean(),
  encryptionKey: z.string().nullable(),
  /** Whether it was read with a secret key. */
  withSecretKey: z.boolean(),
  /** The version that changed it last. */
  change: z.int(),
  hashed: z.boolean(),
  hash: z.string(),
  /** The payload as it goes out, without the braces around it. */
  members: z.string(),
  /** The same, plain and with unhashed operands; null: it is no other, or not known. */
  plainMembers: z.string().nullable(),
});

/** Up to which version a payload is right, and when that was last known to be the newest. */
export type Knowledge = z.output<typeof knowledge>;

/** A payload with all that is needed to serve it. */
export type KeptPayload = z.output<typeof payload>;

const payloadKind = 'edge-payload-1';
const knowledgeKind = 'edge-knowledge-1';
const payloadEnding = '.payload';
const knowledgeEnding = '.known';

/** The last payload of each connection, on disk: what an edge serves when it starts without its upstream. */
export class KeptPayloads {
  readonly #directory: string;
  readonly #log: Log;
  readonly #lock: FileLock;
  #failing = false;

  private constructor(directory: string, lock: FileLock, log: Log) {
    this.#directory = directory;
    this.#lock = lock;
    this.#log = log;
  }

  /**
   * Makes the folder where there is none, and makes sure that it is this edge's alone and can be written to: without it the
   * copies are none.
   *
   * @throws DataDirectoryError when another edge has it
   */
  static async open(dataDirectory: string, log: Log): Promise<KeptPayloads> {
    const directory = join(dataDirectory, 'edge');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(directory, 'lock'), 'exclusive');
    if (lock === undefined) {
      throw new DataDirectoryError(
        `The data directory ${dataDirectory} is in use by a running Halyard edge: stop that one, or set HALYARD_DATA_DIR to ` +
          'another directory.',
      );
    }
    try {
      await removeDrafts(directory);
      const trial = join(directory, 'trial');
      await writeCheckedFile(trial, 'edge-trial-1', '');
      await rm(trial);
    } catch (error) {
      lock.release();
      throw error;
    }
    return new KeptPayloads(directory, lock, log);
  }

  /** Leaves the folder to another edge. */
  close(): void {
    this.#lock.release();
  }

  /** All of them. What cannot be used is told to the log, and left out. */
  async all(): Promise<KeptPayload[]> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith(payloadEnding));
    const kept = await Promise.all(names.map((name) => this.#read(name.slice(0, -payloadEnding.length))));
    return kept.filter((one) => one !== null);
  }

  /** The highest version that was ever served with this key, as far as it is known: nothing older may follow. */
  async knowledge(key: string): Promise<Knowledge | null> {
    return this.#readFile(`${nameOf(key)}${knowledgeEnding}`, knowledgeKind, nameOf(key), knowledge);
  }

  /**
   * Keeps a new payload. Where the disk fails, serving goes on without the copy: then the older one stays, which an edge
   * that is started again without its upstream serves, until that answers.
   */
  async keep(kept: KeptPayload): Promise<void> {
    await this.#write(`${nameOf(kept.key)}${payloadEnding}`, payloadKind, kept);
  }

  /** Keeps that the payload which is there is right up to a later version, or was known to be at a later time. */
  async note(known: Knowledge): Promise<void> {
    await this.#write(`${nameOf(known.key)}${knowledgeEnding}`, knowledgeKind, known);
  }

  async remove(key: string): Promise<void> {
    for (const ending of [payloadEnding, knowledgeEnding]) {
      await rm(join(this.#directory, `${nameOf(key)}${ending}`), { force: true }).catch((error: unknown) =>
        this.#log.error({ err: error }, 'The copy of a payload that is no longer served could not be removed'),
      );
    }
  }

  async #read(name: string): Promise<KeptPayload | null> {
    const kept = await this.#readFile(`${name}${payloadEnding}`, payloadKind, name, payload);
    if (kept === null) return null;
    const later = await this.#readFile(`${name}${knowledgeEnding}`, knowledgeKind, name, knowledge);
    return later === null || later.version < kept.version ? kept : { ...kept, ...later };
  }

  /** @param name that the key in the file must have: a file that was copied to another name is not of that connection */
  async #readFile<Shape extends typeof knowledge>(
    file: string,
    kind: string,
    name: string,
    shape: Shape,
  ): Promise<z.output<Shape> | null> {
    const { content, problem } = await readCheckedFile(join(this.#directory, file), kind);
    const refuse = (reason: string | null) => {
      if (reason !== null) this.#log.warn({ file }, `A copy on disk is not used: ${reason}`);
      return null;
    };
    if (content === null) return refuse(problem);
    const read = shape.safeParse(parsed(content.toString()));
    if (!read.success) return refuse('its content is not what an edge writes');
    return nameOf(read.data.key) === name ? read.data : refuse('it belongs to another client key');
  }

  async #write(file: string, kind: string, content: object): Promise<void> {
    try {
      await writeCheckedFile(join(this.#directory, file), kind, JSON.stringify(content));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.#log.error({ err: error }, 'Payloads cannot be kept on disk; they are served all the same');
      this.#failing = true;
    }
  }
}

const nameOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
