import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MODULES, PACKAGES } from './places.ts';

const root = dirname(dirname(import.meta.dirname));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** What docs/architecture.md lists, beside whether it says that it is to come. */
const listed = {
  packages: [...page.matchAll(/^packages\/(\w+) +.*? → (.*?)(?: +\(to come\))?$/gm)].map(
    ([line, name = '', may = '']) => ({
      name,
      imports: may === 'nothing of ours' ? [] : may.split(', '),
      exists: !line.endsWith('(to come)'),
    }),
  ),
  modules: [...page.matchAll(/^\| `(\w+)` +\| (to come: )?/gm)].map(([, name = '', toCome]) => ({
    name,
    exists: toCome === undefined,
  })),
};

describe('docs/architecture.md', () => {
  test('lists the packages and what each may import, as the layer rule has them', () => {
    expect(Object.fromEntries(listed.packages.map(({ name, imports }) => [name, imports]))).toEqual(PACKAGES);
  });

  test('lists the modules in the order of the layer rule', () => {
    expect(listed.modules.map(({ name }) => name)).toEqual(MODULES);
  });

  test('says "to come" of those that are not there, and of no other', () => {
    const paths = [
      ...listed.packages.map((one) => ({ ...one, path: `packages/${one.name}` })),
      ...listed.modules.map((one) => ({ ...one, path: `packages/server/src/${one.name}` })),
    ];
    const wrong = paths.filter(({ path, exists }) => existsSync(join(root, path)) !== exists).map(({ path }) => path);
    expect(wrong).toEqual([]);
  });
});
