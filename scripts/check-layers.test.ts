import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkLayers } from './check-layers.ts';

const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

/** A small repository with these files. */
function repository(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'halyard-layers-'));
  trees.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const violations = (files: Record<string, string>): string[] => checkLayers(repository(files)).violations;
const importing = (specifier: string): string => `import { thing } from '${specifier}';\n`;

/** What is wrong with a file of the module flags, or another one, that imports this. */
const flags = (specifier: string, path = 'packages/server/src/flags/rules.ts') =>
  violations({ [path]: importing(specifier) });

function run(root: string): { code: number; output: string } {
  cpSync(join(import.meta.dirname, 'layers'), join(root, 'scripts/layers'), { recursive: true });
  cpSync(join(import.meta.dirname, 'check-layers.ts'), join(root, 'scripts/check-layers.ts'));
  symlinkSync(join(dirname(import.meta.dirname), 'node_modules'), join(root, 'node_modules'));
  try {
    const output = execFileSync(process.execPath, [join(root, 'scripts/check-layers.ts')], { encoding: 'utf8' });
    return { code: 0, output };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, output: stdout };
  }
}

describe('packages', () => {
  test.each([
    ['web', 'contract'],
    ['server', 'contract'],
    ['server', 'evaluation'],
    ['server', 'statistics'],
    ['server', 'warehouse'],
  ])('%s may import %s', (importer, imported) => {
    expect(violations({ [`packages/${importer}/src/a.ts`]: importing(`@halyard/${imported}`) })).toEqual([]);
  });

  test.each([
    ['contract', 'evaluation', 'nothing of ours'],
    ['evaluation', 'contract', 'nothing of ours'],
    ['statistics', 'evaluation', 'nothing of ours'],
    ['warehouse', 'statistics', 'nothing of ours'],
    ['web', 'server', 'only contract of ours'],
    ['web', 'evaluation', 'only contract of ours'],
    ['server', 'web', 'only contract, evaluation, statistics, warehouse of ours'],
  ])('%s may not import %s', (importer, imported, rule) => {
    const path = `packages/${importer}/src/a.ts`;
    const line = `${path}:2: imports @halyard/${imported}, which is not for ${importer}, which may import ${rule}`;
    expect(violations({ [path]: `\n${importing(`@halyard/${imported}`)}` })).toEqual([line]);
    // Neither by the path of the file, nor below the name, nor in a test.
    for (const specifier of [`../../${imported}/src/index.ts`, `@halyard/${imported}/deeper`]) {
      expect(violations({ [path]: importing(specifier) })).toHaveLength(1);
    }
    expect(violations({ [`packages/${importer}/src/a.test.ts`]: importing(`@halyard/${imported}`) })).toHaveLength(1);
  });

  test('are imported by their name, not by a path into them', () => {
    expect(violations({ 'packages/web/src/a.ts': importing('../../contract/src/features.ts') })).toEqual([
      'packages/web/src/a.ts:1: imports ../../contract/src/features.ts, which is inside another package: import @halyard/contract',
    ]);
  });

  test('do not import what lies outside of them', () => {
    expect(violations({ 'packages/web/src/a.ts': importing('../../../scripts/run.mjs') })).toEqual([
      'packages/web/src/a.ts:1: imports ../../../scripts/run.mjs, which is outside of the packages (scripts/run.mjs)',
    ]);
  });

  test('may use what npm and Node bring', () => {
    expect(violations({ 'packages/evaluation/src/a.ts': importing('node:fs') + importing('zod') })).toEqual([]);
  });

  test('are used by e2e, bench and scripts through their faces and what is for tests', () => {
    const allowed = [
      '@halyard/contract',
      '../packages/evaluation/src/index.ts',
      '../packages/server/src/flags/index.ts',
      '../packages/server/testing/service.ts',
      '../packages/server/testing/flags/states.ts',
      './support/rows.ts',
      'node:fs',
    ];
    for (const path of ['e2e/a.ts', 'e2e/a.test.ts', 'bench/b.ts', 'scripts/c.ts']) {
      for (const specifier of allowed) expect(violations({ [path]: importing(specifier) })).toEqual([]);
    }
    expect(violations({ 'bench/b.ts': importing('../packages/server/src/flags/store.ts') })).toEqual([
      'bench/b.ts:1: imports ../packages/server/src/flags/store.ts, which is inside the module flags: import its index.ts',
    ]);
    expect(violations({ 'e2e/a.test.ts': importing('../packages/evaluation/src/hash.ts') })).toEqual([
      'e2e/a.test.ts:1: imports ../packages/evaluation/src/hash.ts, which is inside the package evaluation: import its index.ts',
    ]);
    expect(violations({ 'bench/b.ts': importing('@halyard/contract/src/features.ts') })).toHaveLength(1);
  });

  test('are what e2e, bench and scripts share, not each other', () => {
    expect(violations({ 'bench/support/b.ts': importing('../../e2e/support/a.ts') })).toEqual([
      'bench/support/b.ts:1: imports ../../e2e/support/a.ts, which is of e2e: what both need belongs into the testing folder of a package',
    ]);
    expect(violations({ 'scripts/testing/c.ts': importing('../run.mjs') })).toEqual([]);
  });

  test('must be known', () => {
    expect(violations({ 'packages/helpers/src/a.ts': '' })).toEqual([
      'packages/helpers:1: is no package that scripts/layers/places.ts knows: contract, evaluation, statistics, warehouse, web, server',
    ]);
  });
});

describe('modules of the server', () => {
  test('import the index of the modules before them, and their own files', () => {
    expect(flags('../platform/index.ts')).toEqual([]);
    expect(flags('../configuration/index.ts')).toEqual([]);
    expect(flags('./store.ts')).toEqual([]);
    expect(flags('../store.ts', 'packages/server/src/flags/payload/compile.ts')).toEqual([]);
  });

  test('do not import a module above them', () => {
    expect(flags('../delivery/index.ts')).toEqual([
      'packages/server/src/flags/rules.ts:1: imports ../delivery/index.ts, which is of a module above: flags may import only platform, record, requester, http, resources, organization, access, revisions, targeting, configuration',
    ]);
    expect(flags('../record/index.ts', 'packages/server/src/platform/clock.ts')).toEqual([
      'packages/server/src/platform/clock.ts:1: imports ../record/index.ts, which is of a module above: platform may import no other module',
    ]);
  });

  test('do not import the inside of another module', () => {
    const line =
      'packages/server/src/flags/rules.ts:1: imports ../platform/clock.ts, which is inside the module platform: import its index.ts';
    expect(flags('../platform/clock.ts')).toEqual([line]);
    expect(flags('../platform/database/index.ts')).toHaveLength(1);
  });

  test('do not import the files that join them', () => {
    expect(flags('../app.ts')).toEqual([
      'packages/server/src/flags/rules.ts:1: imports ../app.ts, which joins the modules and is above them',
    ]);
  });

  test('are joined by files that import any index, and nothing deeper', () => {
    const app = 'packages/server/src/app.ts';
    expect(flags('./insights/index.ts', app)).toEqual([]);
    expect(flags('./main.ts', app)).toEqual([]);
    expect(flags('./insights/routes.ts', app)).toEqual([
      'packages/server/src/app.ts:1: imports ./insights/routes.ts, which is inside the module insights: import its index.ts',
    ]);
  });

  test('are joined by the folder of the commands as well', () => {
    const command = 'packages/server/src/commands/keys.ts';
    for (const specifier of ['../insights/index.ts', '../operator-services.ts', './tools.ts']) {
      expect(flags(specifier, command)).toEqual([]);
    }
    expect(flags('../insights/routes.ts', command)).toHaveLength(1);
    expect(flags('../commands/tools.ts')).toEqual([
      'packages/server/src/flags/rules.ts:1: imports ../commands/tools.ts, which joins the modules and is above them',
    ]);
  });

  test('must be known', () => {
    const [line, ...more] = violations({ 'packages/server/src/utils/a.ts': '', 'packages/server/src/app.ts': '' });
    expect(line).toMatch(
      /^packages\/server\/src\/utils:1: is no module that scripts\/layers\/places.ts knows: platform, record, .*, insights$/,
    );
    expect(more).toEqual([]);
  });
});

describe('tests', () => {
  const testFile = 'packages/server/src/flags/payload.test.ts';

  test('import any module by its index, their own by any file, and what is for tests', () => {
    for (const specifier of ['../insights/index.ts', './store.ts', '../../testing/server.ts']) {
      expect(violations({ [testFile]: importing(specifier) })).toEqual([]);
    }
  });

  test('do not import the inside of another module', () => {
    expect(violations({ [testFile]: importing('../platform/clock.ts') })).toEqual([
      `${testFile}:1: imports ../platform/clock.ts, which is inside the module platform: import its index.ts`,
    ]);
  });

  test('have helpers that import every index, app.ts, and the inside of the module they are named after', () => {
    const helper = 'packages/server/testing/platform/database.ts';
    for (const specifier of ['../../src/insights/index.ts', '../../src/app.ts', '../../src/platform/clock.ts']) {
      expect(violations({ [helper]: importing(specifier) })).toEqual([]);
    }
    expect(violations({ [helper]: importing('../../src/flags/store.ts') })).toHaveLength(1);
    expect(violations({ 'packages/server/testing/a.ts': importing('../src/flags/store.ts') })).toHaveLength(1);
    expect(violations({ [testFile]: importing('../../../evaluation/testing/vectors.ts') })).toEqual([]);
  });

  test('are not imported by what goes into production', () => {
    const path = 'packages/server/src/flags/rules.ts';
    for (const specifier of [
      '../../testing/server.ts',
      './payload.test.ts',
      '../../../evaluation/testing/vectors.ts',
    ]) {
      expect(violations({ [path]: importing(specifier) })).toEqual([
        `${path}:1: imports ${specifier}, which is for tests only`,
      ]);
    }
  });
});

describe('an import', () => {
  test.each([
    ['for types', `import type { Thing } from '../app.ts';`],
    ['of types among others', `import { type Thing } from '../app.ts';`],
    ['for its effect', `import '../app.ts';`],
    ['at run time', `const app = await import('../app.ts');`],
    ['at run time, in a template', 'const app = await import(`../app.ts`);'],
    ['inside a type', `type App = import('../app.ts').App;`],
    ['inside a typeof', `type App = typeof import('../app.ts');`],
    ['to export it again', `export { app } from '../app.ts';`],
    ['to export its types again', `export type { App } from '../app.ts';`],
    ['to export all again', `export * from '../app.ts';`],
    ['over several lines', `import {\n  app,\n} from '../app.ts';`],
  ])('%s is seen', (_, text) => {
    const [line] = violations({ 'packages/server/src/flags/rules.ts': `// First line\n${text}\n` });
    expect(line).toMatch(/^packages\/server\/src\/flags\/rules.ts:[24]: imports ..\/app.ts, which joins the modules/);
  });

  test('in a comment or a text is none', () => {
    const text = `// import '../app.ts'\nexport const text = "import '../app.ts'";\n`;
    expect(violations({ 'packages/server/src/flags/rules.ts': text })).toEqual([]);
  });

  test('in a file that cannot be read is reported', () => {
    expect(violations({ 'packages/server/src/flags/rules.ts': 'import {' })).toEqual([
      expect.stringMatching(/^packages\/server\/src\/flags\/rules.ts:1: cannot be read: /),
    ]);
  });

  test('of React is read as well', () => {
    const text = `import { app } from '@halyard/server';\nexport const View = () => <div>{app}</div>;\n`;
    expect(violations({ 'packages/web/src/view.tsx': text })).toHaveLength(1);
  });
});

describe('the command', () => {
  test('prints one line when all is well', () => {
    const root = repository({ 'packages/evaluation/src/a.ts': importing('node:fs') });
    expect(run(root)).toEqual({ code: 0, output: expect.stringMatching(/^Layers OK \(files read: \d+\)\n$/) });
  });

  test('prints each violation and fails', () => {
    const root = repository({ 'packages/evaluation/src/a.ts': importing('@halyard/server') });
    expect(run(root)).toEqual({
      code: 1,
      output:
        'packages/evaluation/src/a.ts:1: imports @halyard/server, which is not for evaluation, which may import nothing of ours\n',
    });
  });
});
