import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startHalyardProcess } from '../../../testing/platform/embedded-postgres/halyard-process.ts';
import {
  cleanUp,
  isRoot,
  newDataDirectory,
  preparedDataDirectory,
  query,
  start,
  temporaryDirectory,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { DataDirectoryError } from './index.ts';
import { findInstalledPrograms } from './installed-programs.ts';
import { layoutOf } from './layout.ts';

afterEach(cleanUp);

const NOBODY = 65_534;

/** The refusal, which must be one line for the operator. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => new Error('it was not refused'),
    (reason: Error) => reason,
  );
  expect(error.message).not.toContain('\n');
  return error.message;
}

describe('a data directory is refused with one line', () => {
  test('that is a file', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const attempt = start(layoutOf(file));
    await expect(attempt).rejects.toThrow(DataDirectoryError);
    expect(await refusal(attempt)).toBe(`The data directory ${file} is a file: set HALYARD_DATA_DIR to a directory.`);
  });

  test('that lies below a file', async () => {
    const file = join(await temporaryDirectory(), 'file');
    await writeFile(file, '');
    const attempt = start(layoutOf(join(file, 'data')));
    await expect(attempt).rejects.toThrow(DataDirectoryError);
    expect(await refusal(attempt)).toContain('part of the path is a file: set HALYARD_DATA_DIR to a directory.');
  });

  test('that this user may not write', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o555);
    // Root may write everywhere; another user then tries for it.
    const { ready } = startHalyardProcess('service', join(directory, 'data'), isRoot ? asNobody : {});
    expect(await refusal(ready)).toContain('this user may not write there: run as its owner, or set HALYARD_DATA_DIR');
    const { ready: inExisting } = startHalyardProcess('service', directory, isRoot ? asNobody : {});
    expect(await refusal(inExisting)).toContain('this user may not write there');
    await chmod(directory, 0o755);
  });

  test('whose database was made by another version of PostgreSQL', async () => {
    const layout = await preparedDataDirectory();
    await writeFile(join(layout.files, 'PG_VERSION'), '15\n');
    expect(await refusal(start(layout))).toBe(
      `The database in ${layout.files} was made by PostgreSQL 15, and this Halyard brings PostgreSQL 18: dump it with ` +
        `the Halyard that made it and restore it into a new HALYARD_DATA_DIR.`,
    );
  });

  test('whose database is not whole', async () => {
    const layout = await preparedDataDirectory();
    await rm(join(layout.files, 'PG_VERSION'));
    expect(await refusal(start(layout))).toContain('is not a whole PostgreSQL database');
  });

  test('whose database PostgreSQL cannot start, with what PostgreSQL says', async () => {
    const layout = await preparedDataDirectory();
    await rm(join(layout.files, 'global', 'pg_control'));
    expect(await refusal(start(layout))).toMatch(
      /^PostgreSQL did not start \(exit code \d\): .*pg_control.* More is in .*postgresql.log\.$/,
    );
  });

  test.runIf(mayMount())('on a disk that is full, and begins anew once there is room', async () => {
    const directory = await temporaryDirectory();
    const mount = (options: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]);
    mount('size=12m,mode=0755');
    try {
      const layout = layoutOf(join(directory, 'data'));
      expect(await refusal(start(layout))).toMatch(/^The disk that holds .* is full: make room and start again/);
      expect(existsSync(layout.files)).toBe(false);
      mount('remount,size=200m');
      const postgres = await start(layout);
      expect(await query(postgres.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
      await postgres.stop();
    } finally {
      execFileSync('umount', ['--lazy', directory]);
    }
  });
});

describe('a machine is refused with one line', () => {
  test('for which there are no programs', () => {
    expect(() => findInstalledPrograms('sunos', 'sparc')).toThrow(
      'Halyard brings no PostgreSQL for sunos-sparc: set DATABASE_URL to a PostgreSQL (15 or newer) of your own.',
    );
  });

  test.runIf(isRoot)('on which the user has no name', async () => {
    const directory = await temporaryDirectory();
    await chmod(directory, 0o777);
    const { ready } = startHalyardProcess('service', join(directory, 'data'), { uid: 54_321, gid: 54_321 });
    expect(await refusal(ready)).toContain('The user 54321 has no name on this machine');
  });

  test.runIf(isRoot)('on which root may not change to another user', async () => {
    const layout = await newDataDirectory();
    const wrapper = ['setpriv', '--bounding-set=-setuid,-setgid'];
    const { ready } = startHalyardProcess('service', layout.dataDirectory, { wrapper });
    expect(await refusal(ready)).toContain('it lacks CAP_SETUID and CAP_SETGID');
  });
});

const asNobody = { uid: NOBODY, gid: NOBODY };

function mayMount(): boolean {
  if (!isRoot) return false;
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a data directory of an unprivileged user', () => {
  test.runIf(isRoot)('is served to that user', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'data'));
    await chmod(directory, 0o777);
    const service = startHalyardProcess('service', join(directory, 'own'), asNobody);
    expect(await query(await service.ready, 'select 1 as one').catch((error: Error) => error.message)).toEqual([
      { one: 1 },
    ]);
    await service.stop();
  });
});
