import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCheckedFile, removeDrafts, writeCheckedFile } from './checked-file.ts';

describe('a checked file', () => {
  let folder: string;
  let path: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'halyard-checked-'));
    path = join(folder, 'file');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const read = (kind = 'test-1') => readCheckedFile(path, kind);

  test('gives back what was written, whatever it is, also nothing', async () => {
    const contents = fc.oneof(fc.uint8Array({ maxLength: 5_000 }), fc.constant(new Uint8Array()));
    await fc.assert(
      fc.asyncProperty(contents, async (bytes) => {
        await writeCheckedFile(path, 'test-1', Buffer.from(bytes));
        expect(await read()).toEqual({ content: Buffer.from(bytes), problem: null });
      }),
      { numRuns: 25 },
    );
    await writeCheckedFile(path, 'test-1', 'Text: ä 🎉\n');
    expect((await read()).content?.toString()).toBe('Text: ä 🎉\n');
  });

  test('is readable by its owner alone, and leaves no draft behind', async () => {
    await writeCheckedFile(path, 'test-1', 'secret');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['file']);
    await expect(writeCheckedFile(join(folder, 'missing', 'file'), 'test-1', 'x')).rejects.toThrow('ENOENT');
  });

  test('that is not there is no problem', async () => {
    expect(await readCheckedFile(join(folder, 'none'), 'test-1')).toEqual({ content: null, problem: null });
  });

  test('whose bytes are others than the ones written is a problem, whichever they are', async () => {
    await writeCheckedFile(path, 'test-1', JSON.stringify({ features: { a: { defaultValue: true } } }));
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      await writeFile(path, damaged);
      expect(await read()).toEqual({ content: null, problem: expect.any(String) });
      await writeFile(path, whole.subarray(0, at));
      expect(await read()).toEqual({ content: null, problem: expect.any(String) });
    }
    await writeFile(path, Buffer.concat([whole, Buffer.from('x')]));
    expect((await read()).problem).toMatch(/added to/);
  });

  test.each([
    ['something else', 'no file of Halyard'],
    ['{"features":{}}', 'no file of Halyard'],
    ['halyard-file', 'no file of Halyard'],
    ['halyard-file other-1 0 x\n', 'of another kind or version: other-1'],
    ['halyard-file test-2 0 x\n', 'of another kind or version: test-2'],
    ['halyard-file test-1 0 x\n', 'checksum'],
    ['halyard-file test-1\n', 'cut off'],
  ])('a foreign one (%j) is a problem in words', async (content, problem) => {
    await writeFile(path, content);
    expect((await read()).problem).toContain(problem);
  });

  test('whose writer was killed leaves a draft, which is removed once nobody can be writing it', async () => {
    const [old, fresh] = [join(folder, 'file.1.draft'), join(folder, 'file.2.draft')];
    for (const draft of [old, fresh]) await writeFile(draft, 'half');
    await utimes(old, 0, 0);
    await removeDrafts(folder);
    expect((await readdir(folder)).sort()).toEqual(['file', 'file.2.draft']);
    await rm(fresh);
  });

  test('a directory in its place is a problem in words', async () => {
    expect((await readCheckedFile(folder, 'test-1')).problem).toContain('cannot be read');
  });
});
