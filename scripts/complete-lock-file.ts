/**
 * Adds to the lock file the optional packages for other platforms that npm left out because the registry it was
 * written with does not have them. Without their entries `npm ci` refuses the lock file. Run it after `npm install`:
 *   node scripts/complete-lock-file.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, Entry>>;
}

const systems = ['android', 'darwin', 'freebsd', 'win32', 'openharmony', 'linux'];
const processors = ['arm64', 'x64', 'ppc64', 'riscv64', 's390x', 'ia32', 'loong64', 'arm'];

/** Optional dependencies without an entry, by the path that their entry would have. */
export function missingPackages({ packages }: LockFile): Record<string, Entry> {
  const missing: Record<string, Entry> = {};
  for (const [from, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (isInstalledFor(packages, from, name, version)) continue;
      missing[freePath(packages, from, name)] = {
        version,
        ...platformOf(name),
        ...(dev ? { dev } : {}),
        optional: true,
      };
    }
  }
  return missing;
}

/** Whether Node would find a package, of the version that is wanted, from another one's folder. */
function isInstalledFor(packages: LockFile['packages'], from: string, name: string, version: string): boolean {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const found = packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`];
    if (found !== undefined) return !/^\d/.test(version) || found.version === version;
    if (base === '') return false;
  }
}

/** Beside the package that wants it; within it where another version lies there. */
function freePath(packages: LockFile['packages'], from: string, name: string): string {
  const beside = `${from.slice(0, Math.max(0, from.lastIndexOf('node_modules/')))}node_modules/${name}`;
  return beside in packages ? `${from}/node_modules/${name}` : beside;
}

/** The platform that a package is for, of which its name tells. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const os = systems.find((system) => name.includes(system));
  const cpu = processors.find((processor) => name.includes(processor));
  if (os === undefined || cpu === undefined) throw new Error(`Which platform is ${name} for?`);
  const libc = name.includes('musl') ? ['musl'] : name.includes('gnu') ? ['glibc'] : null;
  return { os: [os], cpu: [cpu], ...(libc === null ? {} : { libc }) };
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '..', 'package-lock.json');
  const lock = JSON.parse(readFileSync(path, 'utf8')) as LockFile;
  const missing = missingPackages(lock);
  const entries = Object.entries({ ...lock.packages, ...missing }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`);
  process.stdout.write(`Added: ${Object.keys(missing).length}\n`);
}
