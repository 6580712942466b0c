import { createHmac, randomUUID } from 'node:crypto';
import { fdatasync, renameSync, writeSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { backoff } from './backoff.ts';
import type { Log } from './log.ts';

/*
 * Files that say the truth or nothing: a line for each entry, and before it a seal over it, over all lines before it and
 * over a key of the installation. So a line that was changed, left out or put in is noticed, and so is a file of another
 * installation.
 */

const newline = 10;
const writeAtOnce = 256 * 1024;
const format = 1;

/** The first line. Each writing anew is another generation. */
interface Header {
  readonly halyard: string;
  readonly format: number;
  readonly generation: string;
}

const headerOf = (content: string): Header => ({ halyard: content, format, generation: randomUUID() });
/** The line behind everything that was there when the file was begun. */
const endOfSnapshot = 'end of snapshot';

/** @param before the seal of the line before; empty for the first line */
function sealOf(key: Buffer, before: string, json: string): string {
  return createHmac('sha256', key).update(before).update('\n').update(json).digest('base64url').slice(0, 22);
}

/** How far a sealed file goes. */
export interface SealedPosition {
  readonly generation: string;
  /** Entries appended since it was begun. */
  readonly appended: number;
}

export type SealedReading =
  | { readonly entries: readonly unknown[]; readonly position: SealedPosition }
  | { readonly problem: string };

/**
 * Reads all entries of a sealed file. A last line that was not written to its end is left out: the process was killed over
 * it, and what stands before it is whole.
 *
 * @param content what the file must say it holds
 * @returns the problem where there is no file, or where any line is not as it was written
 */
export async function readSealed(path: string, key: Buffer, content: string): Promise<SealedReading> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    return { problem: (error as Error).message };
  }
  const entries: unknown[] = [];
  let seal = '';
  for (let from = 0, to = bytes.indexOf(newline); to !== -1; from = to + 1, to = bytes.indexOf(newline, from)) {
    const line = bytes.toString('utf8', from, to);
    const json = line.slice(seal.length === 0 ? line.indexOf(' ') + 1 : seal.length + 1);
    seal = sealOf(key, seal, json);
    if (line !== `${seal} ${json}`) return { problem: `line ${entries.length + 1} is not as Halyard wrote it` };
    entries.push(JSON.parse(json));
  }
  const header = entries.shift() as Partial<Header> | undefined;
  if (header?.halyard !== content || header.format !== format) return { problem: `it does not hold ${content}` };
  const end = entries.indexOf(endOfSnapshot);
  if (end === -1) return { problem: 'it was not begun to the end' };
  entries.splice(end, 1);
  return { entries, position: { generation: header.generation ?? '', appended: entries.length - end } };
}

/** Seals line after line. */
class Lines {
  readonly #key: Buffer;
  #seal = '';

  constructor(key: Buffer) {
    this.#key = key;
  }

  add(json: string): string {
    this.#seal = sealOf(this.#key, this.#seal, json);
    return `${this.#seal} ${json}\n`;
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly lines: Lines;
  readonly generation: string;
  appended: number;
  /** Bytes of the snapshot it began with, and of everything in it. */
  readonly begun: number;
  size: number;
}

export interface JournalOptions {
  readonly path: string;
  readonly key: Buffer;
  /** What it holds, as its readers ask for it. */
  readonly content: string;
  /** Everything there is at the moment, as entries. What they refer to must not change while they are written. */
  readonly snapshot: () => Iterable<object>;
  readonly log: Log;
}

const leastGrowth = 4 * 1024 * 1024;

/**
 * A sealed file that begins with everything there is and goes on with what changes. Changes are handed to the operating
 * system before `append` returns, so they outlive a killed process. Where so much has been appended that the file could be
 * half as long, it is written anew beside the old one, which stands until then.
 */
export class Journal {
  readonly #options: JournalOptions;
  #file: OpenFile | null = null;
  /** What was appended while the file is written anew. */
  #queue: string[] = [];
  #rewriting: Promise<void> | null = null;
  /** Somebody asked for it to be written anew while that was under way. */
  #again = false;
  #retry: NodeJS.Timeout | undefined;
  #attempt = 0;
  #closed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** How far the file goes; null: it is not whole, and written anew as soon as that is possible. */
  get position(): SealedPosition | null {
    return this.#file && { generation: this.#file.generation, appended: this.#file.appended };
  }

  append(entry: object): void {
    const json = JSON.stringify(entry);
    if (this.#rewriting !== null) this.#queue.push(json);
    const file = this.#file;
    if (file === null) return;
    try {
      write(file, json);
    } catch (error) {
      this.#lose(error);
      return;
    }
    const couldBeHalf = file.size - file.begun > Math.max(leastGrowth, file.begun);
    if (couldBeHalf && this.#rewriting === null) void this.rewrite();
  }

  /** Writes the file anew: of what is gone by now, nothing is left in it. A failure is logged and tried again later. */
  rewrite(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    clearTimeout(this.#retry);
    if (this.#rewriting !== null) this.#again = true;
    this.#rewriting ??= this.#writeUntilAsked()
      .catch((error: unknown) => this.#lose(error))
      .finally(() => {
        this.#rewriting = null;
        this.#again = false;
        this.#queue = [];
      });
    return this.#rewriting;
  }

  /** Makes sure that what was appended outlives the machine as well. */
  async sync(): Promise<void> {
    if (this.#file !== null) await promisify(fdatasync)(this.#file.handle.fd);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#rewriting;
    await this.#file?.handle.close();
    this.#file = null;
  }

  async #writeUntilAsked(): Promise<void> {
    do {
      this.#again = false;
      this.#queue = [];
      await this.#writeAnew();
    } while (this.#again);
    this.#attempt = 0;
  }

  async #writeAnew(): Promise<void> {
    const { path, key, content, snapshot } = this.#options;
    const entries = snapshot();
    const draft = `${path}.new`;
    const handle = await open(draft, 'w', 0o600);
    try {
      const lines = new Lines(key);
      let size = 0;
      const header = headerOf(content);
      let text = lines.add(JSON.stringify(header));
      const flush = async () => {
        size += (await handle.write(text)).bytesWritten;
        text = '';
      };
      for (const entry of entries) {
        text += lines.add(JSON.stringify(entry));
        if (text.length > writeAtOnce) await flush();
      }
      text += lines.add(JSON.stringify(endOfSnapshot));
      await flush();
      await handle.datasync();
      // From here to the end nothing waits: what was appended meanwhile goes into the new file, and later entries follow it.
      const { generation } = header;
      const fresh: OpenFile = { handle, lines, generation, appended: 0, begun: size, size };
      for (const json of this.#queue) write(fresh, json);
      renameSync(draft, path);
      const old = this.#file;
      this.#file = fresh;
      await old?.handle.close();
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Something could not be written: nothing may follow the gap, so the file is written anew. */
  #lose(reason: unknown): void {
    const { path, log } = this.#options;
    log.warn({ err: reason, path }, 'A file could not be written; it is tried again');
    const lost = this.#file;
    this.#file = null;
    lost?.handle.close().catch(() => undefined);
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.rewrite(), backoff(this.#attempt++, { first: 1_000, most: 60_000 }));
    this.#retry.unref();
  }
}

function write(file: OpenFile, json: string): void {
  const bytes = Buffer.from(file.lines.add(json));
  for (let written = 0; written < bytes.length; ) written += writeSync(file.handle.fd, bytes, written);
  file.size += bytes.length;
  file.appended++;
}
