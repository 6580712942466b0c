import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { put, statesOf } from '../../testing/flags/states.ts';
import { Refusal } from '../platform/index.ts';
import { readerOf } from '../record/index.ts';
import {
  admitNamespace,
  checkRanges,
  compiledNamespace,
  type StoredNamespace,
  shownNamespace,
} from './namespace-value.ts';
import { type NamespaceState, namespaceKind } from './namespaces.ts';

const common = { displayName: 'Space', description: '', status: 'active' } as const;
const legacy: NamespaceState = { ...common, format: 'legacy' };
const several: NamespaceState = { ...common, format: 'multiRange', hashAttribute: 'company', seed: 'seed-1' };
const ranges = [
  [0, 0.1],
  [0.5, 0.6],
];

const states = () => {
  const organization = statesOf({});
  put(organization, namespaceKind, 'ns-1', legacy);
  return readerOf(organization);
};
const refused = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return error.message;
    throw error;
  }
};

describe('a compiled namespace', () => {
  const value: StoredNamespace = { enabled: true, name: 'ns-1', ranges };

  test('takes its form from the definition: of old, one slice, also where the value has several ranges [flags M77]', () => {
    expect(compiledNamespace(value, legacy, 'id')).toEqual({ namespace: ['ns-1', 0, 0.1] });
    expect(compiledNamespace({ ...value, format: 'multiRange' }, legacy, 'id')).toEqual({
      namespace: ['ns-1', 0, 0.1],
    });
  });

  test('in several ranges is hashed as the value says, else as the definition does', () => {
    const filter = (more: object) => ({ filters: [{ hashVersion: 2, ranges, ...more }] });
    const own = { ...value, hashAttribute: 'device', hashVersion: 1 };
    expect(compiledNamespace(value, several, 'id')).toEqual(filter({ attribute: 'company', seed: 'seed-1' }));
    expect(compiledNamespace(own, several, 'id')).toEqual(
      filter({ attribute: 'device', seed: 'seed-1', hashVersion: 1 }),
    );
    const { hashAttribute: _, seed: __, ...bare } = several;
    expect(compiledNamespace(value, bare, 'user')).toEqual(filter({ attribute: 'user', seed: 'ns-1' }));
    expect(compiledNamespace(value, bare, undefined)).toEqual(filter({ attribute: 'id', seed: 'ns-1' }));
    expect(compiledNamespace({ enabled: true, name: 'ns-1', range: [0, 1] }, several, 'id')).toEqual(
      filter({ attribute: 'company', seed: 'seed-1', ranges: [[0, 1]] }),
    );
  });

  test('that is not known takes its form from the value', () => {
    expect(compiledNamespace({ enabled: true, name: 'x', range: [0.2, 0.4] }, null, 'id')).toEqual({
      namespace: ['x', 0.2, 0.4],
    });
    expect(compiledNamespace({ ...value, name: 'x' }, null, 'id')).toEqual({
      filters: [{ attribute: 'id', seed: 'x', hashVersion: 2, ranges }],
    });
  });

  test('has numbers where text was imported, and lets nobody in by what is no range', () => {
    const text = JSON.parse('{"enabled":true,"name":"ns-1","range":["0.25","0.75"]}') as StoredNamespace;
    expect(compiledNamespace(text, legacy, 'id')).toEqual({ namespace: ['ns-1', 0.25, 0.75] });
    const broken = JSON.parse('{"enabled":true,"name":"ns-1","ranges":[["a","b"]]}') as StoredNamespace;
    expect(compiledNamespace(broken, legacy, 'id')).toEqual({ namespace: ['ns-1', 0, 0] });
    expect(compiledNamespace(broken, several, 'id')).toMatchObject({ filters: [{ ranges: [] }] });
  });
});

describe('a namespace value in a request', () => {
  const input = { enabled: true, name: 'ns-1', range: [0, 0.5] };

  test('names a namespace that exists, unless it named it before or is switched off', () => {
    expect(admitNamespace(input, undefined, states(), 'rule 1')).toEqual(input);
    const unknown = { ...input, name: 'ns-gone' };
    expect(refused(() => admitNamespace(unknown, undefined, states(), 'rule 1'))).toContain('"ns-gone"');
    expect(refused(() => admitNamespace(unknown, input, states(), 'rule 1'))).toContain('"ns-gone"');
    expect(refused(() => admitNamespace({ ...unknown, enabled: false }, undefined, states(), 'rule 1'))).not.toBeNull();
    expect(admitNamespace({ ...unknown, range: [0, 1] }, unknown, states(), 'rule 1').range).toEqual([0, 1]);
    const off = { enabled: false, name: '', range: [0, 1] };
    expect(admitNamespace(off, undefined, states(), 'rule 1')).toEqual(off);
    expect(refused(() => admitNamespace({ ...off, enabled: true }, off, states(), 'rule 1'))).not.toBeNull();
  });

  test('that comes back as it was shown keeps what could not be shown', () => {
    const stored: StoredNamespace = { enabled: true, name: 'ns-1', ranges, hashAttribute: 'company', hashVersion: 1 };
    expect(admitNamespace(shownNamespace(stored), stored, states(), 'rule 1')).toEqual(stored);
    const off = { ...shownNamespace(stored), enabled: false };
    expect(admitNamespace(off, stored, states(), 'rule 1')).toEqual({ ...stored, enabled: false });
    expect(admitNamespace(input, stored, states(), 'rule 1')).toEqual({
      ...input,
      hashAttribute: 'company',
      hashVersion: 1,
    });
  });

  test.each([
    ['backwards', [0.5, 0.1]],
    ['empty', [0.5, 0.5]],
    ['below 0', [-0.1, 0.5]],
    ['above 1', [0.5, 1.1]],
  ])('has no range that is %s', (_, range) => {
    expect(refused(() => admitNamespace({ ...input, range }, undefined, states(), 'rule 1'))).toContain('rule 1');
    expect(refused(() => checkRanges([[0, 0.05], range], 'rule 1'))).not.toBeNull();
  });

  test('has ranges of which every point of 0 to 1 is in one at most', () => {
    const point = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
    fc.assert(
      fc.property(fc.array(fc.tuple(point, point), { maxLength: 4 }), (some) => {
        const forwards = some.every(([from, to]) => from < to);
        const apart = Array.from({ length: 10 }, (_, tenth) => tenth / 10 + 0.05).every(
          (at) => some.filter(([from, to]) => at >= from && at < to).length <= 1,
        );
        expect(refused(() => checkRanges(some, 'rule 1')) === null).toBe(forwards && apart);
      }),
    );
  });
});
