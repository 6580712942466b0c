import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

test('work that is asked for while it runs runs once more, for all who asked; a failure is told and keeps nothing from running', async () => {
  const runs: PromiseWithResolvers<string>[] = [];
  const ask = oneAtATime(() => {
    const run = Promise.withResolvers<string>();
    runs.push(run);
    return run.promise;
  });
  const first = ask();
  const [second, third] = [ask(), ask()];
  expect(runs).toHaveLength(1);
  runs[0]?.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await expect.poll(() => runs).toHaveLength(2);
  const fourth = ask();
  runs[1]?.resolve('two');
  expect(await Promise.all([second, third])).toEqual(['two', 'two']);
  await expect.poll(() => runs).toHaveLength(3);
  runs[2]?.resolve('three');
  expect(await fourth).toBe('three');
});
