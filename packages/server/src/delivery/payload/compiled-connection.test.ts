import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payloadOptions } from '../../../testing/flags/payload-options.ts';
import {
  featureState,
  force,
  inlineExperiment,
  put,
  rollout,
  savedGroupState,
  statesOf,
} from '../../../testing/flags/states.ts';
import {
  affectedFeatures,
  type FeatureContent,
  featureKind,
  type PayloadOptions,
  ruleKinds,
} from '../../flags/index.ts';
import { type CustomFieldState, customFieldKind } from '../../organization/index.ts';
import { type LiveChange, type OrganizationStates, readerOf, type StateKind } from '../../record/index.ts';
import { type NamespaceState, namespaceKind, type SavedGroupContent, savedGroupKind } from '../../targeting/index.ts';
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
const group = fc.constantFrom('g1', 'g2', 'g3', 'g4');
const groupCondition = fc.oneof(
  group.map((one) => JSON.stringify({ $savedGroups: [one] })),
  group.map((one) => JSON.stringify({ id: { $notInGroup: one } })),
  fc.constant('{"country":"DE"}'),
);
const targeting = fc.record({
  matchType: fc.constantFrom('all' as const, 'any' as const, 'none' as const),
  savedGroups: fc.array(group, { maxLength: 2 }),
});
const savedGroup: fc.Arbitrary<Partial<SavedGroupContent>> = fc.oneof(
  fc.record({
    name: fc.constantFrom('x', 'y'),
    values: fc.array(fc.constantFrom('u1', 'u2'), { maxLength: 2 }),
    useEmptyListGroup: fc.boolean(),
  }),
  fc.record({ condition: groupCondition }),
);
const rule = fc
  .record({
    enabled: fc.boolean(),
    condition: fc.option(groupCondition, { nil: '' }),
    savedGroupTargeting: fc.array(targeting, { maxLength: 1 }),
    prerequisites: fc.array(prerequisite, { maxLength: 1 }),
    scheduleRules: fc.oneof(fc.constant([]), schedule),
    coverage: fc.constantFrom(0, 0.5, 1),
    namespace: fc.option(fc.record({ enabled: fc.boolean(), name: fc.constantFrom('a', 'b') })),
  })
  .map(({ coverage, namespace, ...more }) => {
    if (namespace !== null) return inlineExperiment({ ...more, namespace: { ...namespace, ranges: [[0, 0.5]] } });
    return coverage === 0.5 ? rollout({ ...more, coverage }) : force(more);
  });
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
const namespace: fc.Arbitrary<NamespaceState> = fc.record({
  displayName: fc.constantFrom('x', 'y'),
  description: fc.constant(''),
  status: fc.constantFrom('active', 'inactive'),
  format: fc.constantFrom('legacy', 'multiRange'),
  hashAttribute: fc.constantFrom('id', 'company'),
  seed: fc.constantFrom('s', 't'),
});
const field: fc.Arbitrary<CustomFieldState> = fc.record({
  name: fc.constant('x'),
  type: fc.constant('text'),
  required: fc.constant(false),
  sections: fc.constant(['feature']),
  active: fc.boolean(),
  projects: fc.subarray(['prj_a', 'prj_b'], { maxLength: 1 }),
});
/** What happens: something becomes something else, or is deleted, some minutes after what happened before. */
const minutes = fc.integer({ min: 0, max: 10 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ id, content: fc.option(content, { freq: 5 }), minutes }) },
  { weight: 1, arbitrary: fc.record({ id, namespace: fc.option(namespace, { freq: 3 }), minutes }) },
  { weight: 1, arbitrary: fc.record({ id, field: fc.option(field, { freq: 3 }), minutes }) },
  { weight: 3, arbitrary: fc.record({ id: group, savedGroup: fc.option(savedGroup, { freq: 5 }), minutes }) },
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** One landing, as the states in memory take it. */
function land(states: OrganizationStates, one: Step): LiveChange[] {
  const { version, instant } = states.at;
  states.at = { version: version + 1, instant: new Date(instant.getTime() + 1 + one.minutes * minute) };
  if ('namespace' in one) return change(states, namespaceKind, one.id, one.namespace);
  if ('field' in one) return change(states, customFieldKind, one.id, one.field);
  if ('savedGroup' in one) {
    return change(states, savedGroupKind, one.id, one.savedGroup === null ? null : savedGroupState(one.savedGroup));
  }
  const state = one.content === null ? null : featureState(one.content, ['production'], states.at.instant);
  return change(states, featureKind, one.id, state);
}

function change<State>(
  states: OrganizationStates,
  kind: StateKind<State>,
  id: string,
  state: State | null,
): LiveChange[] {
  const before = states.kinds.get(kind.name)?.get(id) ?? null;
  if (state !== null) return [{ kind: kind.name, id, before, after: put(states, kind, id, state) }];
  states.kinds.get(kind.name)?.delete(id);
  return before === null ? [] : [{ kind: kind.name, id, before, after: null }];
}

describe('a connection compiled change by change', () => {
  test('is at every version what compiling that version anew gives, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(
        fc.array(content, { maxLength: 5 }),
        fc.array(savedGroup, { maxLength: 3 }),
        fc.array(step, { maxLength: 12 }),
        fc.boolean(),
        (initial, groups, steps, savedGroupReferences) => {
          const features = Object.fromEntries(initial.map((one, index) => [ids[index] ?? 'a', one]));
          const savedGroups = Object.fromEntries(groups.map((one, index) => [`g${index + 1}`, one]));
          const states = statesOf({ projects: { prj_a: {}, prj_b: {} }, savedGroups, features });
          const compiled = () => new CompiledConnection({ ...options, savedGroupReferences }, kinds);
          const connection = compiled();
          connection.compile(states, 'all');
          for (const one of steps) {
            const changes = land(states, one);
            const incremental = connection.compile(states, affectedFeatures(readerOf(states), changes));
            expect(incremental).toEqual(compiled().compile(states, 'all'));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is compiled anew after a change of any kind that the compiler reads', () => {
    const inNamespace = inlineExperiment({ namespace: { enabled: true, name: 'a', range: [0, 1] } });
    const forGroup = force({ savedGroupTargeting: [{ matchType: 'all', savedGroups: ['a'] }] });
    const prerequisites = [{ id: 'b', condition: '{"value":true}' }];
    const features = {
      a: { prerequisites, targetingAllProjects: true, customFields: { a: 'x' } },
      b: { targetingAllProjects: true, rules: [forGroup, inNamespace] },
    };
    const states = statesOf({ projects: { prj_a: {} }, savedGroups: { a: { values: ['u1'] } }, features });
    put(states, namespaceKind, 'a', { displayName: 'x', description: '', status: 'active', format: 'legacy' });
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
    expect(read).toContain(namespaceKind.name);
    expect(read).toContain(savedGroupKind.name);
    for (const kind of read) {
      const change = { kind, id: 'a', before: null, after: states.kinds.get(kind)?.get('a') ?? null };
      expect([kind, affectedFeatures(readerOf(states), [change])]).not.toEqual([kind, new Set()]);
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
