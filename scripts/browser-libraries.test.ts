import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { provideBrowserLibraries } from './bootstrap/browser-libraries.mjs';
import { Failure } from './bootstrap/failure.mjs';

describe('the libraries of the browser that tests use', () => {
  let directory: string;
  let said: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'halyard-libraries-'));
    said = '';
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const system = (mayInstall: boolean) => ({ folders: [directory], aptGet: join(directory, 'apt-get'), mayInstall });
  const provide = (mayInstall: boolean, environment: NodeJS.ProcessEnv = {}) =>
    provideBrowserLibraries(
      directory,
      { PATH: process.env.PATH, ...environment },
      (text: string) => {
        said += text;
      },
      system(mayInstall),
    );
  /** Stands for the package manager: notes how it is called. */
  const aptGet = async (script: string) => {
    await writeFile(join(directory, 'apt-get'), `#!/bin/sh\necho "$@" >> ${directory}/calls\n${script}\n`);
    await chmod(join(directory, 'apt-get'), 0o755);
  };
  const calls = () => readFile(join(directory, 'calls'), 'utf8');
  const install = 'install --yes --no-install-recommends libnss3 libnspr4';

  test('are installed where they are missing and we may', async () => {
    await writeFile(join(directory, 'libexpat.so.1'), '');
    await aptGet('exit 0');
    await provide(true);
    expect(await calls()).toBe(`${install}\n`);
    expect(said).toContain('Installing libnss3 libnspr4');
  });

  test('are looked up anew where the list of packages is too old', async () => {
    await writeFile(join(directory, 'libexpat.so.1'), '');
    await aptGet(`test -e ${directory}/updated && exit 0; test "$1" = update && touch ${directory}/updated`);
    await provide(true);
    expect(await calls()).toBe(`${install}\nupdate\n${install}\n`);
  });

  test('that cannot be installed end the command with the line to run', async () => {
    await expect(provide(false)).rejects.toThrow(/sudo apt-get install --yes libnss3 libnspr4 libexpat1/);
    await aptGet('echo no network; exit 1');
    await expect(provide(true)).rejects.toThrow(Failure);
    expect(said).toContain('no network');
  });

  test('are nobody’s business where another browser is named, or all are there', async () => {
    await provide(false, { HALYARD_CHROMIUM: '/usr/bin/chromium' });
    for (const name of ['libnss3.so', 'libnspr4.so', 'libexpat.so.1']) await writeFile(join(directory, name), '');
    await provide(false);
    expect(said).toBe('');
  });
});
