import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cleanUp, temporaryDirectory } from '../../../testing/platform/embedded-postgres/workspace.ts';
import { firstProcessIn, postgresProcessesIn } from './processes.ts';

/** What the kernel says is given, so that processes end between two readings whenever a test wants it. */

let proc: string;
let files: string;
beforeEach(async () => {
  [proc, files] = [await temporaryDirectory(), await temporaryDirectory()];
});
afterEach(cleanUp);

interface Told {
  readonly stat?: string;
  readonly cmdline?: string;
}

/** A PostgreSQL in the directory, of which the kernel still tells this when it is asked for more than its name. */
async function postgres(processId: number, told: Told): Promise<void> {
  const directory = join(proc, String(processId));
  await mkdir(directory);
  await writeFile(join(directory, 'comm'), 'postgres\n');
  await symlink(files, join(directory, 'cwd'));
  for (const [name, text] of Object.entries(told)) await writeFile(join(directory, name), text);
}
const child = (parent: number): Told => ({
  stat: `1 (postgres) S ${parent} 1 1`,
  cmdline: 'postgres: halyard: walwriter ',
});
const first: Told = { stat: '1 (postgres) S 1 1 1', cmdline: `/bin/postgres\0-D\0/data\0` };

describe('the first process of a PostgreSQL', () => {
  test.each<[string, Told]>([
    ['before its parent and its command line were read', {}],
    ['before its command line was read', { stat: '1 (postgres) S 1 1 1' }],
    ['before its command line was read, and is a zombie', { stat: '1 (postgres) Z 1 1 1', cmdline: '' }],
  ])('is not a process that has ended %s', async (_, told) => {
    // The kernel tells "11370" before "4491".
    await postgres(11370, told);
    expect(firstProcessIn(files, proc)).toBeUndefined();
    await postgres(4491, first);
    await postgres(4500, child(4491));
    expect(postgresProcessesIn(files, proc)).toContain(11370);
    expect(firstProcessIn(files, proc)).toBe(4491);
  });

  test('is none of the children that outlived it', async () => {
    await postgres(20, child(1));
    expect(firstProcessIn(files, proc)).toBeUndefined();
  });
});
