import { isDeepStrictEqual } from 'node:util';
import type { CustomFieldSection } from '@halyard/contract';
import { invalid, isCalendarDay, quoted, quotedList } from '../platform/index.ts';
import type { Live, StateReader } from '../record/index.ts';
import { type CustomFieldState, choicesOf, customFieldsOf } from './custom-field.ts';

/** What an object says in custom fields, by the fields' ids: text, whatever the type of the field. */
export type CustomFieldValues = Readonly<Record<string, string>>;

/** An object whose custom fields are edited. */
interface Edited {
  readonly section: CustomFieldSection;
  /** The project it is to be in, `""` for none. */
  readonly project: string;
  /** As it is; null: it is new. */
  readonly before: { readonly project: string; readonly values: CustomFieldValues } | null;
  readonly states: StateReader;
}

/**
 * Takes in the values that a request brings for the custom fields of an object: all of them, or none at all. As long as
 * neither they nor the project change nothing is judged, so that an object of old stays editable when a field comes to be
 * required. Values of fields that the object has no more are ignored, and are gone after the edit.
 *
 * @returns the values that the object has from now on
 * @throws Refusal (invalid) where a value is for no field of the object, is missing, or is none of the field's type
 */
export function admitCustomFields(asked: CustomFieldValues | undefined, edited: Edited): CustomFieldValues {
  const { section, project, before, states } = edited;
  const values = asked ?? before?.values ?? {};
  if (before !== null && project === before.project && isDeepStrictEqual(values, before.values)) return before.values;
  const fields = customFieldsOf(states, section, project);
  refuseOthers(asked ?? {}, fields, edited);
  refuseMissing(values, fields);
  const problems = fields.flatMap((field) => problemOf(field, valueOf(values, field.id)) ?? []);
  if (problems.length > 0) throw invalid(problems.join('\n'));
  return Object.fromEntries(Object.entries(values).filter(([id]) => fields.some((field) => field.id === id)));
}

/** Those that count: of fields that the object has, and not blank. In display order. */
export function customFieldsInForce(
  values: CustomFieldValues,
  fields: readonly Pick<Live<CustomFieldState>, 'id'>[],
): CustomFieldValues {
  return Object.fromEntries(
    fields.map(({ id }) => [id, valueOf(values, id)] as const).filter(([, value]) => !isBlank(value)),
  );
}

const valueOf = (values: CustomFieldValues, id: string): string =>
  Object.hasOwn(values, id) ? (values[id] ?? '') : '';

/** Nothing, or an empty list. */
const isBlank = (value: string): boolean => /^\s*(\[\s*\]\s*)?$/.test(value);

/** What was there before and is sent back as it is may be of a field that is gone. */
function refuseOthers(
  asked: CustomFieldValues,
  fields: readonly Live<CustomFieldState>[],
  { section, before }: Edited,
): void {
  const others = Object.entries(asked)
    .filter(([id]) => !fields.some((field) => field.id === id))
    .filter(([id, value]) => before === null || !Object.hasOwn(before.values, id) || before.values[id] !== value);
  if (others.length === 0) return;
  const known = fields.map(({ id }) => id);
  throw invalid(
    `Unknown custom field: ${quotedList(others.map(([id]) => id))}. ` +
      (known.length === 0 ? `This ${section} has none in its project.` : `This ${section} has: ${known.join(', ')}.`),
  );
}

function refuseMissing(values: CustomFieldValues, fields: readonly Live<CustomFieldState>[]): void {
  const missing = fields.filter(({ id, state }) => state.required && isBlank(valueOf(values, id)));
  if (missing.length === 0) return;
  throw invalid(
    `Required custom field without a value: ${quotedList(missing.map(({ id }) => id))}. Send it in "customFields".`,
  );
}

/** Null: the value is one of the field's type, or there is none. */
function problemOf({ id, state }: Live<CustomFieldState>, value: string): string | null {
  if (isBlank(value)) return null;
  const expected = expectations[state.type](value, choicesOf(state));
  return expected === null ? null : `The custom field ${quoted(id)} must be ${expected}, not ${quoted(value)}.`;
}

/** What is expected of a value that is not blank; null: it is that. */
type Expectation = (value: string, choices: readonly string[]) => string | null;

const anything: Expectation = () => null;

const instant: Expectation = (value) =>
  isoDate.test(value) && isCalendarDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value))
    ? null
    : 'a date in ISO 8601, such as 2026-01-31 or 2026-01-31T09:00:00Z';

/** `Date.parse` alone would take "about 5" for a date. */
const isoDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

const expectations: Readonly<Record<CustomFieldState['type'], Expectation>> = {
  text: anything,
  textarea: anything,
  markdown: anything,
  enum(value, choices) {
    if (choices.includes(value)) return null;
    const [only, ...more] = itemsOf(value) ?? [];
    return only !== undefined && choices.includes(only) && more.length === 0 ? null : `one of ${choices.join(', ')}`;
  },
  multiselect(value, choices) {
    const items = itemsOf(value) ?? value.split(',').map((item) => item.trim());
    return items.every((item) => choices.includes(item)) ? null : `some of ${choices.join(', ')}`;
  },
  url: (value) => (URL.canParse(value) ? null : 'an absolute address, such as https://example.com'),
  number: (value) => (Number.isFinite(Number(value)) ? null : 'a number'),
  boolean: (value) => (value === 'true' || value === 'false' ? null : 'true or false'),
  date: instant,
  datetime: instant,
};

/** The items of a JSON list of texts; null: it is no such list. */
function itemsOf(value: string): string[] | null {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null;
  } catch {
    return null;
  }
}
