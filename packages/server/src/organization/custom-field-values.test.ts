import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { put, statesOf } from '../../testing/flags/states.ts';
import { Refusal } from '../platform/index.ts';
import { readerOf } from '../record/index.ts';
import { type CustomFieldState, customFieldKind } from './custom-field.ts';
import { admitCustomFields, type CustomFieldValues, customFieldsInForce } from './custom-field-values.ts';

const field = (more: Partial<CustomFieldState> = {}): CustomFieldState => ({
  name: 'A field',
  type: 'text',
  required: false,
  sections: ['feature'],
  active: true,
  ...more,
});

const readerWithFields = (fields: Readonly<Record<string, Partial<CustomFieldState>>>) => {
  const states = statesOf({ projects: { prj_a: {}, prj_b: {} } });
  for (const [id, more] of Object.entries(fields)) put(states, customFieldKind, id, field(more));
  return readerOf(states);
};

type Before = { readonly project?: string; readonly values: CustomFieldValues };

/** What comes of values, or what is said of them. */
function admit(
  fields: Readonly<Record<string, Partial<CustomFieldState>>>,
  asked: CustomFieldValues | undefined,
  { project = '', before = null }: { project?: string; before?: Before | null } = {},
): CustomFieldValues | string {
  const known = before === null ? null : { project, ...before };
  try {
    return admitCustomFields(asked, {
      section: 'feature',
      project,
      before: known,
      states: readerWithFields(fields),
    });
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return error.message;
    throw error;
  }
}

const choices = { values: 'red, green ,blue' };

describe('a value of a custom field', () => {
  test.each<[CustomFieldState['type'], string]>([
    ['text', 'anything at all'],
    ['textarea', 'a\nb'],
    ['markdown', '# a'],
    ['enum', 'green'],
    ['enum', '["red"]'],
    ['multiselect', 'red'],
    ['multiselect', 'red, blue'],
    ['multiselect', '["red","green"]'],
    ['url', 'https://example.com/a?b#c'],
    ['number', '0'],
    ['number', '-12.5'],
    ['number', '1e3'],
    ['boolean', 'true'],
    ['boolean', 'false'],
    ['date', '2026-01-31'],
    ['date', '2028-02-29'],
    ['datetime', '2026-01-31T09:00'],
    ['datetime', '2026-01-31T09:00:00.000Z'],
    ['datetime', '2026-01-31T09:00:00+01:00'],
    ['date', '2026-01-31T09:00:00Z'],
  ])('of the type %s may be %j', (type, value) => {
    expect(admit({ a: { type, ...choices } }, { a: value })).toEqual({ a: value });
  });

  test.each<[CustomFieldState['type'], string, string]>([
    ['enum', 'yellow', 'red, green, blue'],
    ['enum', '["red","green"]', 'red, green, blue'],
    ['enum', '["yellow"]', 'red, green, blue'],
    ['enum', 'Red', 'red, green, blue'],
    ['multiselect', 'red,yellow', 'red, green, blue'],
    ['multiselect', '["red","yellow"]', 'red, green, blue'],
    ['multiselect', '["red",1]', 'red, green, blue'],
    ['multiselect', '[""]', 'red, green, blue'],
    ['multiselect', 'red,', 'red, green, blue'],
    ['url', 'example.com', 'https://example.com'],
    ['url', '/path', 'https://example.com'],
    ['number', 'ten', 'a number'],
    ['number', 'Infinity', 'a number'],
    ['number', '1e400', 'a number'],
    ['boolean', 'yes', 'true or false'],
    ['boolean', '1', 'true or false'],
    ['date', 'about 5', '2026-01-31'],
    ['date', '2026-13-01', '2026-01-31'],
    ['date', '2026-02-30', '2026-01-31'],
    ['datetime', '2027-02-29T09:00:00Z', '2026-01-31'],
    ['datetime', 'tomorrow', '2026-01-31'],
  ])('of the type %s cannot be %j', (type, value, said) => {
    const message = admit({ a: { type, ...choices } }, { a: value });
    expect(message).toContain(said);
    expect(message).toContain('"a"');
  });

  test('that is blank is none, whatever the type', () => {
    const types: CustomFieldState['type'][] = ['text', 'enum', 'multiselect', 'url', 'number', 'boolean', 'date'];
    for (const type of types) {
      for (const blank of ['', '  ', '\n', '[]', ' [ ] ']) {
        expect(admit({ a: { type, ...choices } }, { a: blank })).toEqual({ a: blank });
        expect(admit({ a: { type, ...choices, required: true } }, { a: blank })).toContain('Required');
      }
    }
  });
});

describe('the custom fields of an object', () => {
  const fields = {
    everywhere: {},
    inA: { projects: ['prj_a'] },
    off: { active: false },
    elsewhere: { sections: ['experiment' as const] },
  };

  test('are those that are active, of its section, and of its project or of all', () => {
    expect(admit(fields, { everywhere: 'x' })).toEqual({ everywhere: 'x' });
    expect(admit(fields, { inA: 'x' }, { project: 'prj_a' })).toEqual({ inA: 'x' });
    for (const project of ['', 'prj_b']) {
      const message = admit(fields, { inA: 'x' }, { project });
      expect(message).toContain('"inA"');
      expect(message).toContain('everywhere');
    }
    for (const id of ['off', 'elsewhere', 'unknown', 'constructor']) {
      expect(admit(fields, { [id]: 'x' })).toContain(`"${id}"`);
    }
    expect(admit({}, { a: 'x' })).toContain('none');
  });

  test('of which one is required need a value, also where the request brings none', () => {
    const required = { a: { required: true } };
    expect(admit(required, undefined)).toContain('"a"');
    expect(admit(required, {})).toContain('"a"');
    expect(admit(required, { a: 'x' })).toEqual({ a: 'x' });
    expect(admit({ a: { required: true, active: false } }, undefined)).toEqual({});
    expect(admit({ a: { required: true, projects: ['prj_a'] } }, undefined, { project: 'prj_b' })).toEqual({});
  });

  test('take 0 and false for values', () => {
    const types = { n: { type: 'number', required: true }, b: { type: 'boolean', required: true } } as const;
    expect(admit(types, { n: '0', b: 'false' })).toEqual({ n: '0', b: 'false' });
  });

  test('are judged again only where they or the project change', () => {
    const required = { a: { required: true }, b: {} };
    const before = { values: { b: 'x' } };
    expect(admit(required, undefined, { before })).toEqual({ b: 'x' });
    expect(admit(required, { b: 'x' }, { before })).toEqual({ b: 'x' });
    expect(admit(required, { b: 'y' }, { before })).toContain('"a"');
    expect(admit(required, {}, { before })).toContain('"a"');
    expect(admit(required, undefined, { project: 'prj_a', before: { project: '', ...before } })).toContain('"a"');
  });

  test('that are gone are ignored, may be sent back as they are, and are dropped by an edit', () => {
    const before = { values: { gone: 'x', b: 'y' } };
    expect(admit({ b: {} }, undefined, { before })).toEqual({ gone: 'x', b: 'y' });
    expect(admit({ b: {} }, { gone: 'x', b: 'z' }, { before })).toEqual({ b: 'z' });
    expect(admit({ b: {} }, { gone: 'new', b: 'z' }, { before })).toContain('"gone"');
    expect(
      admit({ b: {}, c: { projects: ['prj_a'] } }, undefined, {
        project: 'prj_b',
        before: { project: 'prj_a', values: { b: 'y', c: 'z' } },
      }),
    ).toEqual({ b: 'y' });
  });

  test('are in force as far as they are not blank, in display order', () => {
    const states = readerWithFields({ b: {}, a: {}, c: {} });
    const inForce = customFieldsInForce({ a: '0', c: ' ', b: 'false', d: 'x' }, states.all(customFieldKind));
    expect(Object.entries(inForce)).toEqual([
      ['b', 'false'],
      ['a', '0'],
    ]);
  });
});

const value = fc.oneof(
  fc.constantFrom('', ' ', '[]', '0', 'false', 'red', 'red,blue', '["red"]', '2026-01-31', 'https://example.com'),
  fc.string(),
);
const type = fc.constantFrom<CustomFieldState['type']>(
  'text',
  'enum',
  'multiselect',
  'url',
  'number',
  'boolean',
  'date',
  'datetime',
);
const someFields: fc.Arbitrary<Record<string, Partial<CustomFieldState>>> = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd'),
  fc.record({
    type,
    values: fc.constant('red,green,blue'),
    required: fc.boolean(),
    active: fc.boolean(),
    projects: fc.subarray(['prj_a', 'prj_b', 'prj_gone']),
    sections: fc.subarray<CustomFieldState['sections'][number]>(['feature', 'experiment']),
  }),
);
const someValues = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), value);
const project = fc.constantFrom('', 'prj_a', 'prj_b');

describe('whatever the fields and values are', () => {
  test('values that were taken in are taken in again, and are only of fields that the object has', () => {
    fc.assert(
      fc.property(someFields, someValues, project, (fields, values, at) => {
        const admitted = admit(fields, values, { project: at });
        if (typeof admitted === 'string') return;
        expect(admitted).toEqual(values);
        expect(admit(fields, admitted, { project: at, before: { project: 'another', values: {} } })).toEqual(admitted);
        for (const id of Object.keys(admitted)) expect(fields[id]?.active).toBe(true);
      }),
    );
  });

  test('an edit that touches neither them nor the project is never refused', () => {
    fc.assert(
      fc.property(someFields, someValues, project, fc.boolean(), (fields, values, at, sendsBack) => {
        expect(admit(fields, sendsBack ? values : undefined, { project: at, before: { values } })).toEqual(values);
      }),
    );
  });
});
