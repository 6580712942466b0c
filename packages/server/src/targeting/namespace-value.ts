import { isDeepStrictEqual } from 'node:util';
import type { NamespaceValue } from '@halyard/contract';
import type { Filter, NamespaceSlice } from '@halyard/evaluation';
import { invalid, quoted } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import { type NamespaceState, namespaceKind } from './namespaces.ts';

/** What a rule or a phase claims of a namespace: a value of old has one range, one of several ranges may say how it hashes. */
export interface StoredNamespace extends Omit<NamespaceValue, 'range'> {
  readonly range?: readonly number[];
  readonly ranges?: readonly (readonly number[])[];
  readonly hashAttribute?: string;
  readonly hashVersion?: number;
  readonly format?: NamespaceState['format'];
}

type Range = [from: number, to: number];

/** The ranges of a value, whichever way it has them. Imported ones may hold text; what is no number there claims nothing. */
const rangesOf = ({ range, ranges }: StoredNamespace): Range[] =>
  (ranges ?? (range === undefined ? [] : [range]))
    .map(([from = 0, to = 1]): Range => [Number(from), Number(to)])
    .filter((one) => one.every(Number.isFinite));

/** A claim on nothing lets nobody in. */
const nothing: Range = [0, 0];

/** A value as the interface shows it, which knows one range. */
export const shownNamespace = (value: StoredNamespace): NamespaceValue => ({
  enabled: value.enabled,
  name: value.name,
  range: rangesOf(value)[0] ?? nothing,
});

/**
 * Takes in a value that a request brings. What the interface cannot say of a stored one (further ranges, how it hashes) stays,
 * so that who sends a rule back as it was shown keeps everyone's bucket.
 *
 * @param stored the value as it is; undefined: there is none
 * @param place what claims it, for messages
 * @throws Refusal (invalid)
 */
export function admitNamespace(
  input: NamespaceValue,
  stored: StoredNamespace | undefined,
  states: StateReader,
  place: string,
): StoredNamespace {
  const before = input.name !== '' && stored?.name === input.name ? stored : undefined;
  if (before !== undefined && isDeepStrictEqual(shownNamespace(before).range, input.range)) {
    return { ...before, enabled: input.enabled };
  }
  checkRanges([input.range], place);
  if (before !== undefined) {
    const { ranges: _replaced, ...kept } = before;
    return { ...kept, ...input };
  }
  requireNamespace(input, states, place);
  return input;
}

/** A value that is switched off may name nothing. */
function requireNamespace({ enabled, name }: NamespaceValue, states: StateReader, place: string): void {
  if (name === '' && !enabled) return;
  if (states.get(namespaceKind, name) === null) {
    throw invalid(`${place} names the unknown namespace ${quoted(name)}. Use an id that GET /v1/namespaces lists.`);
  }
}

/** @throws Refusal (invalid) unless every range lies within 0 to 1, forwards, and beside the others */
export function checkRanges(ranges: readonly (readonly number[])[], place: string): void {
  const sorted = ranges.map(([from = Number.NaN, to = Number.NaN]): Range => [from, to]).sort(([a], [b]) => a - b);
  let reached = 0;
  for (const [from, to] of sorted) {
    const range = `[${from}, ${to}]`;
    if (!(from >= 0 && from < to && to <= 1)) {
      throw invalid(`${place} claims ${range} of a namespace: a range goes from at least 0 up to at most 1.`);
    }
    if (from < reached) throw invalid(`${place} claims ${range} of a namespace, which overlaps another of its ranges.`);
    reached = to;
  }
}

/**
 * The keys of a compiled rule that hold it to its part of a namespace. The organization's definition decides about their form;
 * of a namespace that is not known, the value does.
 *
 * @param definition null: there is no such namespace
 * @param hashAttribute of the rule, which stays what it is
 */
export function compiledNamespace(
  value: StoredNamespace,
  definition: NamespaceState | null,
  hashAttribute: string | undefined,
): { namespace: NamespaceSlice } | { filters: Filter[] } {
  const ranges = rangesOf(value);
  if (formatOf(value, definition) === 'legacy') {
    const [from, to] = ranges[0] ?? nothing;
    return { namespace: [value.name, from, to] };
  }
  return {
    filters: [
      {
        attribute: value.hashAttribute || definition?.hashAttribute || hashAttribute || 'id',
        seed: definition?.seed || value.name,
        hashVersion: value.hashVersion || 2,
        ranges,
      },
    ],
  };
}

const formatOf = ({ format, ranges }: StoredNamespace, definition: NamespaceState | null): NamespaceState['format'] =>
  definition?.format ?? format ?? (ranges === undefined ? 'legacy' : 'multiRange');
