import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The environment of the programs: our own, with what is installed here first, and a place for compiled code. */
export function environmentFor(root, given = process.env) {
  const binaries = join(root, 'node_modules', '.bin');
  const path = (given.PATH ?? '').split(delimiter).filter((entry) => entry !== binaries);
  const cache = compileCache(root);
  return {
    ...given,
    PATH: [binaries, ...path].join(delimiter),
    // npm sets it; without npm the arguments are meant from where we were called.
    INIT_CWD: given.INIT_CWD ?? process.cwd(),
    ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: given.NODE_COMPILE_CACHE ?? cache }),
  };
}

/** Where Node keeps compiled code between starts; in a read-only installation it does without. */
function compileCache(root) {
  const directory = join(root, '.cache', 'node');
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return directory;
  } catch {
    return undefined;
  }
}
