import { describe, expect, test } from 'vitest';
import { changesBetween, previousAttributes } from './changes.ts';

const ignored = new Set(['dateUpdated', 'definition']);

describe('changes of a resource', () => {
  test('are what was added, removed and modified', () => {
    expect(changesBetween({ a: 1, b: 2, c: 0 }, { a: 1, b: 3, d: null }, ignored)).toEqual({
      added: { d: null },
      removed: { c: 0 },
      modified: [{ key: 'b', oldValue: 2, newValue: 3 }],
    });
    expect(previousAttributes({ a: 1, b: 2 }, { a: 1, b: 3 }, ignored)).toEqual({ b: 2 });
  });

  test('are none where only what is ignored differs, also inside a map', () => {
    const before = { dateUpdated: 1, environments: { dev: { enabled: true, definition: 'x' } } };
    const after = { dateUpdated: 2, environments: { dev: { enabled: true, definition: 'y' } } };
    expect(changesBetween(before, after, ignored)).toBeNull();
  });

  test('of a list of things with ids are told thing by thing', () => {
    const rule = (id: string, more: object = {}) => ({ id, value: 'true', ...more });
    const before = { rules: [rule('a'), rule('b'), rule('c')] };
    const after = { rules: [rule('c'), rule('a', { value: 'false' }), rule('d')] };
    expect(changesBetween(before, after, ignored)?.modified).toEqual([
      {
        key: 'rules',
        items: {
          added: [rule('d')],
          removed: [rule('b')],
          modified: [{ id: 'a', fieldChanges: [{ field: 'value', oldValue: 'true', newValue: 'false' }] }],
          order: { old: ['a', 'c'], new: ['c', 'a'] },
        },
      },
    ]);
  });

  test('of a map are told member by member', () => {
    const before = { environments: { dev: { enabled: true }, production: { enabled: false } } };
    const after = { environments: { dev: { enabled: false }, production: { enabled: false } } };
    expect(changesBetween(before, after, ignored)?.modified).toEqual([
      {
        key: 'environments',
        items: {
          added: [],
          removed: [],
          modified: [{ id: 'dev', fieldChanges: [{ field: 'enabled', oldValue: true, newValue: false }] }],
        },
      },
    ]);
  });
});
