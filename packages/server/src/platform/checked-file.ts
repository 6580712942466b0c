import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What a checked file holds; where it holds nothing that can be used, why. A file that does not exist is no problem. */
export type CheckedContent =
  | { readonly content: Buffer; readonly problem: null }
  | { readonly content: null; readonly problem: string | null };

const firstWord = 'halyard-file';
const longestHead = 300;
const draftEnding = '.draft';
const longestWrite = 60_000;

const headOf = (kind: string, content: Buffer): string =>
  `${firstWord} ${kind} ${content.length} ${createHash('sha256').update(content).digest('hex')}`;

/**
 * Writes a file of mode 0600 whole or not at all: whoever reads it at any moment, also after a crash, finds what was there
 * before or what is there now. Its first line says what it is and carries a checksum.
 *
 * @param kind one word that tells files of different use apart, with a number that rises when the content changes its form
 */
export async function writeCheckedFile(path: string, kind: string, text: string | Buffer): Promise<void> {
  const content = Buffer.from(text);
  const draft = `${path}.${randomUUID()}${draftEnding}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${headOf(kind, content)}\n`);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Reads what `writeCheckedFile` wrote. Anything else that may lie there is a problem in words, never an error. */
export async function readCheckedFile(path: string, kind: string): Promise<CheckedContent> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return nothing(code === 'ENOENT' ? null : `it cannot be read: ${message}`);
  }
  const end = bytes.subarray(0, longestHead).indexOf('\n');
  const head = end < 0 ? [] : bytes.toString('latin1', 0, end).split(' ');
  if (head[0] !== firstWord) return nothing('it is no file of Halyard, or its beginning is damaged');
  if (head[1] !== kind) return nothing(`it is of another kind or version: ${head[1]} instead of ${kind}`);
  const content = bytes.subarray(end + 1);
  if (head[2] !== String(content.length)) {
    return nothing(`it has ${content.length} bytes of content instead of ${head[2]}: it was cut off or added to`);
  }
  if (head.join(' ') !== headOf(kind, content)) return nothing('its content is damaged: the checksum does not fit');
  return { content, problem: null };
}

const nothing = (problem: string | null): CheckedContent => ({ content: null, problem });

/** Removes from a directory what processes that were killed while they wrote have left there. */
export async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(draftEnding)) continue;
    const draft = join(directory, name);
    const written = await stat(draft).catch(() => null);
    // Another process may be writing this very moment.
    if (written !== null && Date.now() - written.mtimeMs > longestWrite) await rm(draft, { force: true });
  }
}
