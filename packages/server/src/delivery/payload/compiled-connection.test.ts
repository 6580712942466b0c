import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payloadOptions } from '../../../testing/flags/payload-options.ts';
import { featureState, force, put, rollout, statesOf } from '../../../testing/flags/states.ts';
import {
  AffectedFeatures,
  type FeatureContent,
  featureKind,
  type PayloadOptions,
  ruleKinds,
} from '../../flags/index.ts';
import { type CustomFieldState, customFieldKind } from '../../organization/index.ts';
import { type LiveChange, type OrganizationStates, readerOf, type StateKind } from '../../record/index.ts';
import { CompiledConnection } from './compiled-connection.ts';

const kinds = ruleKinds([]);
const options = payloadOptions({
  projects: ['prj_a'],
  includeRuleIds: true,
  includeProjectIdInMetadata: true,
  includeTagsInMetadata: true,
  customFieldsInMetadata: ['a', 'b'],
  savedGroupReferences: true,
});

const ids = ['a', 'b', 'c', 'd', 'e'];
const start = Date.parse('2026-01-31T09:00:00.000Z');
const minute = 60_000;

const id = fc.constantFrom(...ids);
const prerequisite = fc.record({
  id,
  condition: fc.constantFrom('{"value":true}', '{"value":false}', '{"value":{"$exists":true}}'),
});
const boundary = fc.option(
  fc.integer({ min: -5, max: 40 }).map((minutes) => new Date(start + minutes * minute).toISOString()),
);
const schedule = fc.tuple(boundary, boundary, fc.boolean()).map(([on, off]) =>
  on === null && off === null
    ? []
    : [
        { timestamp: on, enabled: true },
        { timestamp: off, enabled: false },
      ],
);
const rule = fc
  .record({
    enabled: fc.boolean(),
    prerequisites: fc.array(prerequisite, { maxLength: 1 }),
    scheduleRules: fc.oneof(fc.constant([]), schedule),
    coverage: fc.constantFrom(0, 0.5, 1),
  })
  .map(({ coverage, ...more }) => (coverage === 0.5 ? rollout({ ...more, coverage }) : force(more)));
const content: fc.Arbitrary<Partial<FeatureContent>> = fc.record({
  archived: fc.boolean(),
  defaultValue: fc.constantFrom('true', 'false'),
  project: fc.constantFrom('', 'prj_a', 'prj_b'),
  targetingAllProjects: fc.boolean(),
  environments: fc.boolean().map((enabled) => ({ production: { enabled } })),
  prerequisites: fc.array(prerequisite, { maxLength: 2 }),
  rules: fc.array(rule, { maxLength: 2 }),
  customFields: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', '0', 'x'), { maxKeys: 2 }),
});
const field: fc.Arbitrary<Partial<CustomFieldState>> = fc.record({
  active: fc.boolean(),
  projects: fc.subarray(['prj_a', 'prj_b'], { maxLength: 1 }),
});
/** What happens: a feature or custom field becomes something, or is deleted, some minutes after what happened before. */
const step = fc.record({
  id,
  to: fc.oneof(
    fc.record({ content: fc.option(content, { freq: 5 }) }),
    fc.record({ field: fc.option(field, { freq: 5 }) }),
  ),
  minutes: fc.integer({ min: 0, max: 10 }),
});

const newField: CustomFieldState = { name: 'x', type: 'text', required: false, sections: ['feature'] };

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** One landing, as the states in memory take it. */
function land(states: OrganizationStates, { id, to, minutes }: Step): LiveChange[] {
  states.at = { version: states.at.version + 1, instant: new Date(states.at.instant.getTime() + 1 + minutes * minute) };
  const become = <State>(kind: StateKind<State>, state: State | null): LiveChange[] => {
    const before = states.kinds.get(kind.name)?.get(id) ?? null;
    if (state !== null) return [{ kind: kind.name, id, before, after: put(states, kind, id, state) }];
    states.kinds.get(kind.name)?.delete(id);
    return before === null ? [] : [{ kind: kind.name, id, before, after: null }];
  };
  if ('field' in to) return become(customFieldKind, to.field === null ? null : { ...newField, ...to.field });
  const { content } = to;
  return become(featureKind, content === null ? null : featureState(content, ['production'], states.at.instant));
}

describe('a connection compiled change by change', () => {
  test('is at every version what compiling that version anew gives, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), fc.array(step, { maxLength: 12 }), (initial, steps) => {
        const features = Object.fromEntries(initial.map((one, index) => [ids[index] ?? 'a', one]));
        const states = statesOf({ projects: { prj_a: {}, prj_b: {} }, features });
        const affected = new AffectedFeatures(readerOf(states));
        const connection = new CompiledConnection(options, kinds);
        connection.compile(states, 'all');
        for (const one of steps) {
          const changes = land(states, one);
          const incremental = connection.compile(states, affected.after(changes, states.at.instant));
          const anew = new CompiledConnection(options, kinds).compile(states, 'all');
          expect(incremental).toEqual(anew);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('is compiled anew after a change of any kind that the compiler reads', () => {
    const features = {
      a: {
        prerequisites: [{ id: 'b', condition: '{"value":true}' }],
        targetingAllProjects: true,
        customFields: { a: 'x' },
      },
      b: { rules: [force({})], targetingAllProjects: true },
    };
    const states = statesOf({ projects: { prj_a: {} }, features });
    const read = new Set<string>();
    const kindsRead = new Map(states.kinds);
    kindsRead.get = (kind) => {
      read.add(kind);
      return states.kinds.get(kind);
    };
    new CompiledConnection({ ...options, hashSecureAttributes: true }, kinds).compile(
      { ...states, kinds: kindsRead },
      'all',
    );
    expect(read).toContain(customFieldKind.name);
    expect(read.size).toBeGreaterThan(2);
    const affected = new AffectedFeatures(readerOf(states));
    for (const kind of read) {
      const change = { kind, id: 'a', before: null, after: states.kinds.get('feature')?.get('a') ?? null };
      expect([kind, affected.after([change], states.at.instant)]).not.toEqual([kind, new Set()]);
    }
  });

  test('is the very same text where nothing came out differently', () => {
    const states = statesOf({ features: { a: { targetingAllProjects: true } } });
    const connection = new CompiledConnection(options, kinds);
    const text = connection.compile(states, 'all');
    expect(connection.compile(states, new Set(['a', 'b']))).toBe(text);
    put(
      states,
      featureKind,
      'a',
      featureState({ targetingAllProjects: true, description: 'x' }, ['production'], states.at.instant),
    );
    expect(connection.compile(states, new Set(['a']))).toBe(text);
  });

  test('has the members that its options ask for, and no others', () => {
    const states = statesOf({});
    const compile = (more: Partial<PayloadOptions>) =>
      new CompiledConnection({ ...options, projects: [], ...more }, kinds).compile(states, 'all');
    expect(compile({})).toEqual({ features: '{}', experiments: undefined, savedGroups: '{}' });
    expect(compile({ savedGroupReferences: false, includeAutoExperiments: true })).toEqual({
      features: '{}',
      experiments: '[]',
      savedGroups: undefined,
    });
  });
});
