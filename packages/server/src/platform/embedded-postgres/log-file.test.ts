import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { cleanUp, temporaryDirectory } from '../../../testing/platform/embedded-postgres/workspace.ts';
import { keepLogSmall, openLog, readLogFrom } from './log-file.ts';

afterEach(cleanUp);

describe('the log of PostgreSQL', () => {
  test('is put aside at a start when it has become long', async () => {
    const path = join(await temporaryDirectory(), 'postgresql.log');
    await writeFile(path, 'x'.repeat(1_000_001));
    const log = await openLog(path);
    await log.write('new\n');
    await log.close();
    expect(readFileSync(path, 'utf8')).toBe('new\n');
    expect(statSync(`${path}.1`).size).toBe(1_000_001);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('goes on at the top after it was emptied while the server writes', async () => {
    const path = join(await temporaryDirectory(), 'postgresql.log');
    const log = await openLog(path);
    await log.write('a line that is too long\n');
    const stop = keepLogSmall(path, { everyMs: 5, largest: 10 });
    while (statSync(path).size > 0) await sleep(5);
    stop();
    await log.write('next\n');
    await log.close();
    expect(readFileSync(path, 'utf8')).toBe('next\n');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('a line that is too long\n');
  });

  test('is read from where the start began', async () => {
    const path = join(await temporaryDirectory(), 'postgresql.log');
    await writeFile(path, 'before\nafter\n');
    expect(await readLogFrom(path, 7)).toBe('after\n');
  });
});
