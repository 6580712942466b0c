import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServerUser } from './server-user.ts';

const SEARCH = 0o1;
const READ = 0o4;

/**
 * The first directory on the way to `path` that `user` may not pass, or `path` itself when it may not be read there;
 * `undefined` when the user gets through. Judged by owner, group and mode, as the kernel does, because Halyard (root)
 * passes everywhere and could not find out by trying.
 */
export function firstObstacle(path: string, user: ServerUser): string | undefined {
  if (!user.isOther) return undefined;
  for (const directory of ancestorsOf(path)) {
    if (!allows(statSync(directory), user, SEARCH)) return directory;
  }
  const stats = statSync(path);
  return allows(stats, user, stats.isDirectory() ? SEARCH : READ) ? undefined : path;
}

function allows(stats: Stats, user: ServerUser, wanted: number): boolean {
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
  return ((stats.mode >> shift) & wanted) === wanted;
}

/** From the root downwards, without the path itself. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}
