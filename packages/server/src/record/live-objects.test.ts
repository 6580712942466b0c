import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOneOrder, LiveObjects } from './live-objects.ts';
import { type Grouping, grouped, type Live, liveAfter, stateKind } from './states.ts';

interface Note {
  readonly labels: readonly string[];
}
const noteKind = stateKind<Note>('note');
const byLabel: Grouping<Note> = { kind: noteKind, groupsOf: ({ labels }) => labels };
const byCount: Grouping<Note> = { kind: noteKind, groupsOf: ({ labels }) => [String(labels.length)] };

const label = fc.constantFrom('red', 'green', 'blue');
/** A note gets other labels, or is deleted; a deleted one that gets labels again is a new one. */
const step = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  labels: fc.option(fc.array(label, { maxLength: 3 }), { freq: 4 }),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function happen(objects: LiveObjects, steps: readonly Step[], from = 0): void {
  for (const [index, { id, labels }] of steps.entries()) {
    const before = (objects.get(id) as Live<Note> | undefined) ?? null;
    const ordinal = before?.ordinal ?? from + index;
    const at = { version: from + index, instant: new Date(0) };
    if (labels === null) objects.delete(id);
    else objects.set(id, { ...liveAfter(noteKind, id, before, { labels }, at), ordinal });
  }
}

describe('live objects', () => {
  test('are in the groups that working them out anew gives, whatever has happened since they were first asked for', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 30 }), (first, then) => {
        const objects = new LiveObjects();
        happen(objects, first);
        objects.groups(byLabel);
        happen(objects, then, first.length);
        for (const grouping of [byLabel, byCount]) {
          const inOrder = [...objects.values()].sort((a, b) => a.ordinal - b.ordinal) as Live<Note>[];
          expect(new Map(objects.groups(grouping))).toEqual(grouped(grouping, inOrder));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('of several groups come as one list in the order of creation, of which any part can be had', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(8), fc.nat(8), (steps, from, to) => {
        const objects = new LiveObjects();
        happen(objects, steps);
        const list = inOneOrder([...objects.groups(byCount).values()]);
        const all = [...objects.values()].sort((a, b) => a.ordinal - b.ordinal);
        expect(list.length).toBe(all.length);
        expect(list.slice(from, to)).toEqual(all.slice(from, to));
        expect(list.slice(0)).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });

  test('are in no group once all of them are gone', () => {
    const objects = new LiveObjects();
    happen(objects, [{ id: 'a', labels: ['red'] }]);
    expect([...objects.groups(byLabel).keys()]).toEqual(['red']);
    objects.clear();
    expect([...objects.groups(byLabel).keys()]).toEqual([]);
  });
});
