import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const parties = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
const filled = (from: readonly string[]) => {
  const queue = new FairQueue<{ party: string; number: number }>(100);
  for (const [number, party] of from.entries()) queue.add(party, { party, number });
  return queue;
};
function drained<Item>(queue: FairQueue<Item>): Item[] {
  const item = queue.take();
  return item === undefined ? [] : [item, ...drained(queue)];
}

describe('a fair queue', () => {
  test('gives everything once, what one party brings in its order', () => {
    fc.assert(
      fc.property(parties, (from) => {
        const items = drained(filled(from));
        expect(items).toHaveLength(from.length);
        for (const party of new Set(from)) {
          const own = items.filter((item) => item.party === party).map(({ number }) => number);
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
      }),
    );
  });

  test('lets nobody wait longer than one turn of each other party', () => {
    fc.assert(
      fc.property(parties, (from) => {
        const taken = drained(filled([...from, 'late'])).findIndex(({ party }) => party === 'late');
        expect(taken).toBeLessThanOrEqual(new Set(from).size);
      }),
    );
  });

  test('takes no more of one party than may wait, and more of others', () => {
    const queue = new FairQueue<number>(2);
    expect([queue.add('a', 1), queue.add('a', 2), queue.add('a', 3), queue.add('b', 4)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(drained(queue)).toEqual([1, 4, 2]);
  });

  test('gives away what is picked out', () => {
    const queue = filled(['a', 'b', 'a', 'c']);
    expect(queue.takeAll(({ party }) => party === 'a').map(({ number }) => number)).toEqual([0, 2]);
    expect(drained(queue).map(({ party }) => party)).toEqual(['b', 'c']);
  });
});
