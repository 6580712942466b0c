import { constants } from 'node:fs';
import { copyFile, type FileHandle, open, rename, stat, truncate } from 'node:fs/promises';

const KEEP_AT_START_BYTES = 1_000_000;
const LARGEST_BYTES = 10_000_000;
const CHECK_EVERY_MS = 60_000;

/** Opens the file that takes what PostgreSQL prints, after putting a long one aside as `….1`. */
export async function openLog(path: string): Promise<FileHandle> {
  if ((await sizeOf(path)) > KEEP_AT_START_BYTES) await rename(path, `${path}.1`);
  return open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
}

/**
 * Keeps the log of a running server small, so that a fault that repeats for months does not fill the disk. The server
 * holds the file open; it is therefore copied and emptied, not renamed. (PostgreSQL appends: it goes on at the top.)
 *
 * @returns stops it
 */
export function keepLogSmall(path: string, { everyMs = CHECK_EVERY_MS, largest = LARGEST_BYTES } = {}): () => void {
  const check = async (): Promise<void> => {
    if ((await sizeOf(path)) <= largest) return;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  };
  let isChecking = false;
  const timer = setInterval(() => {
    // A second one in the middle of the first would copy what is already empty.
    if (isChecking) return;
    isChecking = true;
    void check()
      // A disk that is full or a directory that is gone is noticed by those who need it.
      .catch(() => {})
      .finally(() => {
        isChecking = false;
      });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** What was printed since `offset`, at most the last 64 kB. */
export async function readLogFrom(path: string, offset: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(offset, size - 65_536);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(Math.max(0, size - start)), position: start });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
