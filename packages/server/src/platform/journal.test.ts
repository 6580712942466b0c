import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cleanUp, temporaryDirectory } from '../../testing/platform/embedded-postgres/workspace.ts';
import { Journal, readSealed } from './journal.ts';
import { createLog } from './log.ts';

const key = Buffer.alloc(32, 7);
const log = createLog({ LOG_LEVEL: 'silent' });
const problem = { problem: expect.any(String) };

let path: string;
let entries: object[];
let journal: Journal;

/** A journal over `entries`, as a module would keep one over its states. */
const add = (entry: object): void => {
  entries.push(entry);
  journal.append(entry);
};

beforeEach(async () => {
  path = join(await temporaryDirectory(), 'journal');
  entries = [{ a: 1 }, { text: 'zwölf\n' }];
  journal = new Journal({ path, key, content: 'numbers', snapshot: () => [...entries], log });
});
afterEach(async () => {
  await journal.close();
  await cleanUp();
});

const read = () => readSealed(path, key, 'numbers');

describe('a journal', () => {
  test('holds what there was when it was begun and what was appended since', async () => {
    await journal.rewrite();
    add({ b: 2 });
    expect(await read()).toMatchObject({ entries });
    await journal.rewrite();
    add({ c: 3 });
    expect(await read()).toMatchObject({ entries });
  });

  test('loses nothing that is appended while it is written anew', async () => {
    await journal.rewrite();
    for (let i = 0; i < 50; i++) {
      const rewriting = journal.rewrite();
      add({ i });
      await Promise.resolve();
      add({ i: 100 + i });
      await rewriting;
    }
    expect(await read()).toMatchObject({ entries });
  });

  test('is written anew once it could be half as long', async () => {
    const large = { large: 'x'.repeat(1_000_000) };
    entries = [large];
    await journal.rewrite();
    for (let i = 0; i < 4; i++) journal.append(large);
    expect((await readFile(path)).length).toBeGreaterThan(4_000_000);
    journal.append(large);
    await vi.waitFor(async () => expect((await readFile(path)).length).toBeLessThan(1_100_000));
    expect(await read()).toMatchObject({ entries });
  });

  test('whose disk fails stops rather than leave a gap, and is whole again afterwards', async () => {
    const directory = join(path, 'not there');
    const failing = new Journal({ path: directory, key, content: 'numbers', snapshot: () => entries, log });
    await failing.rewrite();
    failing.append({ b: 2 });
    expect(failing.position).toBeNull();
    await failing.close();
  });

  test('says how far it goes, as who reads it says', async () => {
    await journal.rewrite();
    expect(journal.position).toEqual({ generation: expect.any(String), appended: 0 });
    add({ b: 2 });
    expect(journal.position?.appended).toBe(1);
    expect(await read()).toMatchObject({ position: journal.position });
    const before = journal.position?.generation;
    await journal.rewrite();
    expect(journal.position?.generation).not.toBe(before);
    expect(await read()).toMatchObject({ position: { ...journal.position, appended: 0 } });
  });

  test('is for its user alone', async () => {
    await journal.rewrite();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});

describe('a sealed file', () => {
  beforeEach(async () => {
    await journal.rewrite();
    add({ b: 2 });
  });

  test('whose last line was not finished is read without it', async () => {
    await appendFile(path, 'AAAAAAAAAAAAAAAAAAAAAA {"half":');
    expect(await read()).toMatchObject({ entries });
  });

  test('in which anything was changed is refused', async () => {
    const whole = await readFile(path);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ change;
        await writeFile(path, changed);
        // A last line whose end is gone counts as not finished.
        const isEnd = at === whole.length - 1;
        expect(await read()).toMatchObject(isEnd ? { entries: entries.slice(0, -1) } : problem);
      }),
      { numRuns: 300 },
    );
  });

  test('from which lines were cut out or swapped is refused', async () => {
    const lines = (await readFile(path, 'utf8')).split('\n');
    const [header = '', first = '', second = '', end = '', appended = ''] = lines;
    for (const forged of [
      [header, second, end, appended],
      [header, second, first, end],
      [first, second, end],
      [header, header, first, end],
      [header, first, end],
      [header, first, second, appended],
      [header, first, second],
    ]) {
      await writeFile(path, `${forged.join('\n')}\n`);
      expect(await read()).toEqual(problem);
    }
  });

  test('of another installation, of other content or none at all is refused', async () => {
    expect(await readSealed(path, Buffer.alloc(32, 8), 'numbers')).toEqual(problem);
    expect(await readSealed(path, key, 'letters')).toEqual(problem);
    expect(await readSealed(`${path}s`, key, 'numbers')).toEqual(problem);
    await truncate(path, 0);
    expect(await read()).toEqual(problem);
    await writeFile(path, '{"some":"other file"}\n');
    expect(await read()).toEqual(problem);
  });
});
