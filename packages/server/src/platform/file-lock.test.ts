import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { cleanUp, temporaryDirectory } from '../../testing/platform/embedded-postgres/workspace.ts';
import { tryLock, waitForLock } from './file-lock.ts';

afterEach(cleanUp);

/** Holds the lock in a process of its own until that is killed. */
async function lockElsewhere(path: string, mode: string): Promise<() => Promise<void>> {
  const module = fileURLToPath(new URL('./file-lock.ts', import.meta.url));
  const program = `
    const { tryLock } = await import(process.argv[1]);
    process.stdout.write(tryLock(process.argv[2], process.argv[3]) ? 'held' : 'not held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, module, path, mode]);
  const [answer] = await once(child.stdout, 'data');
  expect(String(answer)).toBe('held');
  return async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
}

const lockFile = async (): Promise<string> => join(await temporaryDirectory(), 'a.lock');

describe('a lock', () => {
  test('keeps out others, in this process and elsewhere, until its holder dies', async () => {
    const path = await lockFile();
    const kill = await lockElsewhere(path, 'exclusive');
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    expect(tryLock(path, 'shared')).toBeUndefined();
    await kill();
    const mine = tryLock(path, 'exclusive');
    expect(mine).toBeDefined();
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    mine?.release();
    mine?.release();
    tryLock(path, 'exclusive')?.release();
  });

  test('that is shared keeps out only those who want it alone', async () => {
    const path = await lockFile();
    const kill = await lockElsewhere(path, 'shared');
    const mine = tryLock(path, 'shared');
    expect(mine).toBeDefined();
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    mine?.release();
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    await kill();
    const alone = tryLock(path, 'exclusive');
    expect(alone).toBeDefined();
    alone?.release();
  });

  test('can be waited for, up to a limit', async () => {
    const path = await lockFile();
    const first = tryLock(path, 'exclusive');
    expect(await waitForLock(path, Date.now() + 50)).toBeUndefined();
    const waiting = waitForLock(path, Date.now() + 20_000);
    first?.release();
    const second = await waiting;
    expect(second).toBeDefined();
    second?.release();
  });

  test('leaves an empty file and nothing else', async () => {
    const path = await lockFile();
    const lock = tryLock(path, 'exclusive');
    expect(statSync(path).size).toBe(0);
    expect(statSync(`${path}-journal`, { throwIfNoEntry: false })).toBeUndefined();
    lock?.release();
  });
});
