import { join } from 'node:path';
import { completeLibraries, findInstalledPrograms, type InstalledPrograms } from './installed-programs.ts';
import type { Layout } from './layout.ts';
import { copyPrograms } from './program-copy.ts';
import { firstObstacle } from './reach.ts';
import type { ServerUser } from './server-user.ts';

/** The programs of PostgreSQL that Halyard runs. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly majorVersion: string;
}

/**
 * The programs as the user of PostgreSQL can run them: the installed ones, or a copy in the data directory where they
 * lie below a closed directory (a clone in `/root`) or are incomplete and cannot be completed (a read-only image).
 */
export async function providePrograms(
  layout: Layout,
  user: ServerUser,
  installed: InstalledPrograms = findInstalledPrograms(),
): Promise<Programs> {
  const usable = completeLibraries(installed.native) && isReachable(installed.native, user);
  const native = usable ? installed.native : await copyPrograms(installed, layout, user);
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    majorVersion: installed.version.split('.')[0] ?? '',
  };
}

/** A program, a library and a file of the catalogue stand for the rest, which npm wrote with the same modes. */
function isReachable(native: string, user: ServerUser): boolean {
  const samples = ['bin/postgres', 'lib/libpq.so.5', 'share/postgresql/postgres.bki'];
  return samples.every((sample) => firstObstacle(join(native, sample), user) === undefined);
}
