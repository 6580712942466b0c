import { lstatSync, statSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { completeLibraries, type InstalledPrograms } from './installed-programs.ts';
import type { Layout } from './layout.ts';
import type { ServerUser } from './server-user.ts';

/**
 * A copy of the programs that the user of PostgreSQL can run but not change: it belongs to Halyard's user and lies in
 * a directory of Halyard's, which nobody else may write (other than `/tmp`, where anyone could have been there first).
 * Made once for each version; called under the lock of the life cycle.
 *
 * @returns its directory with `bin`, `lib` and `share`
 */
export async function copyPrograms(installed: InstalledPrograms, layout: Layout, user: ServerUser): Promise<string> {
  const home = join(layout.programCopies, installed.version);
  const native = join(home, 'native');
  const files = await listFiles(installed.native);
  if (isFaithful(installed.native, native, files)) return native;

  // Other versions, damaged copies and halves of an interrupted one: nothing runs from them while none is running.
  await rm(layout.programCopies, { recursive: true, force: true });
  await mkdir(layout.programCopies, { recursive: true });
  const draft = await mkdtemp(`${home}-`);
  for (const file of files) {
    const target = join(draft, 'native', file);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(installed.native, file), target);
    await chmod(target, dirname(file) === 'bin' ? 0o755 : 0o644);
  }
  completeLibraries(join(draft, 'native'));
  await openDirectories(layout.programCopies, user);
  await rename(draft, home);
  return native;
}

/** Whether the copy is whole, ours, and not to be changed by anyone else. */
function isFaithful(source: string, copy: string, files: string[]): boolean {
  return (
    files.every((file) => {
      const found = lstatSync(join(copy, file), { throwIfNoEntry: false });
      return (
        found?.isFile() === true &&
        found.uid === process.geteuid?.() &&
        (found.mode & 0o022) === 0 &&
        found.size === statSync(join(source, file)).size
      );
    }) && completeLibraries(copy)
  );
}

/** All files but the archives for linking and the program for administrators; the links are made anew. */
async function listFiles(native: string): Promise<string[]> {
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.a') && basename(entry.name) !== 'pg_ctl')
    .map((entry) => join(entry.parentPath, entry.name).slice(native.length + 1));
}

async function openDirectories(top: string, user: ServerUser): Promise<void> {
  const entries = await readdir(top, { recursive: true, withFileTypes: true });
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const directory of [top, ...directories]) {
    await chmod(directory, 0o755);
    if (user.isOther) await chown(directory, 0, 0);
  }
}
