import { expect, test } from 'vitest';
import { turns } from './turns.ts';

test('what belongs to one party goes one after the other, also after a failure; others do not wait', async () => {
  const inTurn = turns();
  const told: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = inTurn('a', async () => {
    told.push('first begins');
    await gate.promise;
    told.push('first ends');
    throw new Error('no luck');
  });
  const second = inTurn('a', async () => told.push('second'));
  await inTurn('b', async () => told.push('other'));
  gate.resolve();
  await expect(first).rejects.toThrow('no luck');
  await second;
  await inTurn('a', async () => told.push('third'));
  expect(told).toEqual(['first begins', 'other', 'first ends', 'second', 'third']);
});
