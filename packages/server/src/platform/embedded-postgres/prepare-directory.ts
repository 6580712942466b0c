import { chmodSync, chownSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { chmod, chown, lchown, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DataDirectoryError } from './data-directory-error.ts';
import { type Layout, layoutOf } from './layout.ts';
import { firstObstacle } from './reach.ts';
import { nameOf, type ServerUser } from './server-user.ts';

const BETTER_PLACE = '/var/lib/halyard';

/**
 * Makes the data directory and the directory of the locks, and refuses what could not work. Safe to run at the same
 * time in several processes; all else is made under the lock of the life cycle.
 */
export function prepareDataDirectory(path: string): Layout {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && !existing.isDirectory()) {
    throw new DataDirectoryError(`The data directory ${path} is a file: set HALYARD_DATA_DIR to a directory.`);
  }
  // Root must not write where another user could lay links for it.
  if (existing !== undefined && process.geteuid?.() === 0 && existing.uid !== 0) {
    const owner = nameOf(existing.uid);
    throw new DataDirectoryError(
      `The data directory ${path} belongs to ${owner}, and Halyard was started as root: start it as ${owner}, ` +
        `or give the directory to root (chown root '${path}').`,
    );
  }
  // Two steps: the mode would otherwise close the directories above it as well, to PostgreSQL among others.
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const layout = layoutOf(realpathSync(path));
  makeOwnDirectory(layout.locks);
  return layout;
}

/** Makes what PostgreSQL needs besides its files, and opens the way there to its user. */
export async function prepareServerDirectory(layout: Layout, user: ServerUser): Promise<void> {
  openTheWay(layout.dataDirectory, user);
  makeOwnDirectory(layout.server);
  await mkdir(layout.socketDirectory, { recursive: true, mode: 0o700 });
  if (!user.isOther) return;
  await chown(layout.server, 0, user.gid);
  await chmod(layout.server, 0o710);
  await lchown(layout.socketDirectory, user.uid, user.gid);
}

/** Makes a directory, or makes sure that it is one of our own and not what somebody else has put there. */
function makeOwnDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  if (found.isDirectory() && found.uid === process.geteuid?.()) return;
  throw new DataDirectoryError(
    `${path} ${found.isDirectory() ? `belongs to ${nameOf(found.uid)}` : 'is a symbolic link'}: start Halyard as the user ` +
      `it was first started as, or set HALYARD_DATA_DIR to another directory.`,
  );
}

/**
 * Lets the user of PostgreSQL pass the data directory (pass, not list). The directories above it are not ours to
 * change: where one of them is closed, the operator is told of a better place.
 */
function openTheWay(dataDirectory: string, user: ServerUser): void {
  const parent = dirname(dataDirectory);
  const obstacle = parent === dataDirectory ? undefined : firstObstacle(parent, user);
  if (obstacle !== undefined) {
    throw new DataDirectoryError(
      `The data directory ${dataDirectory} cannot be reached by ${user.name}, as whom PostgreSQL runs when Halyard is ` +
        `root: ${obstacle} is closed to it. Set HALYARD_DATA_DIR to a directory such as ${BETTER_PLACE}, or start ` +
        `Halyard as an unprivileged user.`,
    );
  }
  if (firstObstacle(dataDirectory, user) === undefined) return;
  const { mode } = statSync(dataDirectory);
  // A group without rights loses nothing when its place is given to the group of PostgreSQL.
  if ((mode & 0o070) === 0) {
    chownSync(dataDirectory, 0, user.gid);
    chmodSync(dataDirectory, (mode & 0o7777) | 0o010);
  } else {
    chmodSync(dataDirectory, (mode & 0o7777) | 0o001);
  }
}
