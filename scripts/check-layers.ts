/**
 * Holds the rule of the house: dependencies between the packages, and between the modules of the server, point downwards
 * only, and a module is imported by its `index.ts`. Part of `npm run lint`.
 */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Import, readImports } from './layers/imports.ts';
import { JOINING_FOLDERS, MODULES, PACKAGES } from './layers/places.ts';
import { objectionTo } from './layers/rules.ts';

const SOURCES = '{packages,bench,e2e,scripts}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}';
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', 'fixtures']);

/** All violations below the top of a repository, as lines for people, and how many files were read. */
export function checkLayers(root: string): { violations: string[]; files: number } {
  const files = list(root, SOURCES);
  const violations = [...unknownFolders(root), ...files.flatMap((path) => checkFile(root, path))];
  return { violations, files: files.length };
}

function checkFile(root: string, path: string): string[] {
  let imports: Import[];
  try {
    imports = readImports(path, readFileSync(join(root, path), 'utf8'));
  } catch (error) {
    return [`${path}:1: cannot be read: ${(error as Error).message}`];
  }
  return imports.flatMap(({ specifier, line }) => {
    const objection = objectionTo(path, specifier);
    return objection === undefined ? [] : [`${path}:${line}: imports ${specifier}, which ${objection}`];
  });
}

/** A new package or module gets its place in the order before it gets its first file. */
function unknownFolders(root: string): string[] {
  const unknown = (parent: string, kind: string, known: string[], beside: string[] = []): string[] =>
    foldersIn(join(root, parent))
      .filter((name) => !known.includes(name) && !beside.includes(name))
      .map((name) => `${parent}/${name}:1: is no ${kind} that scripts/layers/places.ts knows: ${known.join(', ')}`);
  return [
    ...unknown('packages', 'package', Object.keys(PACKAGES)),
    ...unknown('packages/server/src', 'module', MODULES, JOINING_FOLDERS),
  ];
}

function foldersIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_OURS.has(entry.name))
    .map(({ name }) => name);
}

function list(root: string, pattern: string): string[] {
  return globSync(pattern, {
    cwd: root,
    withFileTypes: true,
    exclude: ({ name }) => NOT_OURS.has(name),
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

if (import.meta.main) {
  const { violations, files } = checkLayers(dirname(import.meta.dirname));
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  if (violations.length > 0) process.exitCode = 1;
  else process.stdout.write(`Layers OK (files read: ${files})\n`);
}
