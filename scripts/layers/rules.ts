import { posix } from 'node:path';
import { MODULES, PACKAGES, type Place, placeOf } from './places.ts';

const OURS = /^@halyard\/([^/]+)/;

/**
 * Why a file may not import something; `undefined` when it may.
 *
 * @param path of the importing file, from the top of the repository
 */
export function objectionTo(path: string, specifier: string): string | undefined {
  const from = placeOf(path);
  if (from.package === undefined) return objectionFromOutside(from, path, specifier);
  const named = OURS.exec(specifier)?.[1];
  if (named !== undefined) return objectionToPackage(from, from.package, named);
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(path), specifier);
  const to = placeOf(target);
  if (to.package === undefined) return `is outside of the packages (${target})`;
  if (from.use === 'production' && to.use !== 'production') return 'is for tests only';
  if (to.package !== from.package) {
    const objection = objectionToPackage(from, from.package, to.package);
    const isAid = from.use !== 'production' && to.use === 'testing';
    return objection ?? (isAid ? undefined : `is inside another package: import @halyard/${to.package}`);
  }
  return from.package === 'server' && to.use === 'production' ? objectionToModule(from, to) : undefined;
}

/** From outside, the packages are used as each other's tests use them: by their faces, and what is for tests. */
function objectionFromOutside(from: Place, path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) {
    return OURS.test(specifier) && specifier.split('/').length > 2 ? 'is inside another package' : undefined;
  }
  const to = placeOf(posix.join(posix.dirname(path), specifier));
  if (to.package === undefined) {
    const isElsewhere = to.folder !== undefined && to.folder !== from.folder;
    return isElsewhere ? `is of ${to.folder}: what both need belongs into the testing folder of a package` : undefined;
  }
  if (to.use === 'testing' || to.isFace) return undefined;
  return `is inside ${to.module === undefined ? `the package ${to.package}` : `the module ${to.module}`}: import its index.ts`;
}

function objectionToPackage(from: Place, importer: string, imported: string): string | undefined {
  if (imported === importer) {
    return from.use === 'production' ? 'is the package itself: import the file' : undefined;
  }
  const allowed = PACKAGES[importer] ?? [];
  if (allowed.includes(imported)) return undefined;
  const rule = allowed.length === 0 ? 'nothing of ours' : `only ${allowed.join(', ')} of ours`;
  return `is not for ${importer}, which may import ${rule}`;
}

function objectionToModule(from: Place, to: Place): string | undefined {
  if (to.module === undefined) {
    return from.module === undefined || from.use === 'testing' ? undefined : 'joins the modules and is above them';
  }
  if (to.module === from.module) return undefined;
  if (!to.isFace) return `is inside the module ${to.module}: import its index.ts`;
  if (from.use !== 'production' || from.module === undefined) return undefined;
  if (MODULES.indexOf(to.module) < MODULES.indexOf(from.module)) return undefined;
  return `is of a module above: ${from.module} may import ${before(from.module)}`;
}

function before(module: string): string {
  const lower = MODULES.slice(0, Math.max(0, MODULES.indexOf(module)));
  return lower.length === 0 ? 'no other module' : `only ${lower.join(', ')}`;
}
