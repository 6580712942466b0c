import { describe, expect, test } from 'vitest';
import { statesOf } from '../../testing/flags/states.ts';
import type { StoredSettings } from '../organization/index.ts';
import { Refusal } from '../platform/index.ts';
import { readerOf } from '../record/index.ts';
import type { AttributeState } from './attributes.ts';
import { requireRegistered } from './registered-attributes.ts';

const attributes: Readonly<Record<string, AttributeState>> = {
  everywhere: { datatype: 'string' },
  emptyList: { datatype: 'string', projects: [] },
  archived: { datatype: 'string', archived: true },
  ofA: { datatype: 'string', projects: ['prj_a'] },
};

/** The attributes that are objected to; null: none. */
function objections(
  requireRegisteredAttributes: StoredSettings['requireRegisteredAttributes'],
  project: string,
): string[] | null {
  const settings = requireRegisteredAttributes === undefined ? {} : { requireRegisteredAttributes };
  const states = readerOf(statesOf({ attributes, settings }));
  const names = [...Object.keys(attributes), 'undeclared', 'undeclared'];
  try {
    requireRegistered(states, names, project);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 400) throw error;
    return [...error.message.matchAll(/"(\w+)"/g)].map(([, name]) => name ?? '');
  }
}

describe('where attributes must be registered', () => {
  test('archived ones are not, and each name is told once', () => {
    expect(objections({ isOn: true, requireProjectScoping: false }, 'prj_b')).toEqual(['archived', 'undeclared']);
  });

  test('with scoping those of other projects are not, and of no project only those of all', () => {
    const scoped = { isOn: true, requireProjectScoping: true };
    expect(objections(scoped, 'prj_a')).toEqual(['archived', 'undeclared']);
    expect(objections(scoped, 'prj_b')).toEqual(['archived', 'ofA', 'undeclared']);
    expect(objections(scoped, '')).toEqual(['archived', 'ofA', 'undeclared']);
  });

  test('the setting of old is on in both respects, or off', () => {
    expect(objections(true, 'prj_b')).toEqual(['archived', 'ofA', 'undeclared']);
    expect(objections(false, 'prj_b')).toBeNull();
  });

  test('it is only where it is on', () => {
    expect(objections(undefined, 'prj_b')).toBeNull();
    expect(objections({ isOn: false, requireProjectScoping: true }, 'prj_b')).toBeNull();
    expect(objections({ isOn: true }, 'prj_b')).toEqual(['archived', 'undeclared']);
  });
});
