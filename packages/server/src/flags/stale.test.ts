import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { featureState, force, inlineExperiment, put, rollout, statesOf } from '../../testing/flags/states.ts';
import { type OrganizationStates, readerOf } from '../record/index.ts';
import { type FeatureContent, featureKind, type StoredRule } from './feature.ts';
import { noExperiments, type PayloadExperiments, type Staleness, staleDetector } from './stale.ts';

const day = 24 * 60 * 60 * 1_000;
const now = new Date('2026-06-01T00:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * day);
const environments = ['production', 'dev'];

/** A feature as it was left some days ago, on in production only unless told otherwise. */
interface Case extends Partial<FeatureContent> {
  readonly updated?: number;
  /** Days since its newest open draft was changed. */
  readonly draft?: number | undefined;
}

const onIn = (...on: string[]) => Object.fromEntries(environments.map((id) => [id, { enabled: on.includes(id) }]));
const requires = (...ids: string[]) => ids.map((id) => ({ id, condition: '{"value":true}' }));

function statesWith(cases: Readonly<Record<string, Case>>): OrganizationStates {
  const states = statesOf({ environments: Object.fromEntries(environments.map((id) => [id, {}])) });
  for (const [id, { updated = 40, draft: _, ...content }] of Object.entries(cases)) {
    states.at = { version: states.at.version + 1, instant: daysAgo(updated) };
    put(states, featureKind, id, featureState({ environments: onIn('production'), ...content }, [], states.at.instant));
  }
  return states;
}

function detectorOf(
  cases: Readonly<Record<string, Case>>,
  experiments: PayloadExperiments = noExperiments,
  failed: (id: string) => void = (id) => expect.fail(`${id} could not be judged`),
) {
  return staleDetector({
    states: readerOf(statesWith(cases)),
    now,
    experiments,
    newestDraft(id) {
      const draft = cases[id]?.draft;
      return draft === undefined ? null : daysAgo(draft);
    },
    failed,
  });
}

/** What is found of the feature `f`. */
const found = (f: Case, others: Readonly<Record<string, Case>> = {}, experiments?: PayloadExperiments) => {
  const verdict = detectorOf({ f, ...others }, experiments)('f');
  return verdict && { ...verdict, environments: Object.fromEntries(verdict.environments) };
};
const inShort = (...from: Parameters<typeof found>) => {
  const verdict = found(...from);
  return verdict && [verdict.isStale, verdict.reason];
};

/** Rules of type `experiment` stand for those that name an experiment, which there are none of yet. */
const runningExperiments: PayloadExperiments = {
  areServedBy: (rule) => rule.type === 'experiment' && rule.trackingKey === 'running',
  require: (id) => id === 'required',
};

describe('a feature', () => {
  test('that serves everyone the same value is stale where it is on; where it is off it is null', () => {
    expect(found({ rules: [force({ value: 'true' })] })).toEqual({
      isStale: true,
      reason: 'rules-one-sided',
      environments: {
        production: { isStale: true, reason: 'rules-one-sided', evaluatesTo: 'true' },
        dev: { isStale: true, reason: 'toggled-off', evaluatesTo: 'null' },
      },
    });
  });

  test('that is off in every environment is not stale, and has no reason; each environment is toggled off [flags M54]', () => {
    const off = { isStale: true, reason: 'toggled-off', evaluatesTo: 'null' };
    expect(found({ environments: onIn(), rules: [force()] })).toEqual({
      isStale: false,
      reason: null,
      environments: { production: off, dev: off },
    });
  });

  test('is kept by a draft of ten days, not by one of forty: it is abandoned, where its environments are stale [flags M55]', () => {
    expect(inShort({ draft: 10 })).toEqual([false, 'active-draft']);
    expect(inShort({ draft: 40 })).toEqual([true, 'abandoned-draft']);
    expect(inShort({ draft: 40, rules: [rollout({ coverage: 0.5 })] })).toEqual([false, null]);
    expect(inShort({ draft: 30 })).toEqual([false, 'active-draft']);
  });

  test('without rules serves its default value', () => {
    expect(found({ valueType: 'string', defaultValue: 'blue' })?.environments.production).toEqual({
      isStale: true,
      reason: 'no-rules',
      evaluatesTo: 'blue',
    });
    expect(inShort({})).toEqual([true, 'no-rules']);
  });

  test.each<[string, StoredRule[], Staleness['reason'] | 'has-rules']>([
    ['a rollout to everyone', [rollout({ coverage: 1 })], 'rules-one-sided'],
    ['a value for some users', [force({ condition: '{"country":"DE"}' })], 'has-rules'],
    ['an empty condition', [force({ condition: '{}' })], 'rules-one-sided'],
    ['a saved group', [force({ savedGroupTargeting: [{ matchType: 'any', savedGroups: ['grp_1'] }] })], 'has-rules'],
    ['a rule of another environment', [rollout({ allEnvironments: false, environments: ['dev'] })], 'no-rules'],
    ['a rule of no environment', [rollout({ allEnvironments: false, environments: [] })], 'no-rules'],
  ])('with %s', (_, rules, reason) => {
    expect(found({ rules })?.environments.production?.reason).toBe(reason);
  });

  test('has rules where they tell users apart; a disabled rule is none [flags M57]', () => {
    const reason = (...rules: StoredRule[]) => found({ rules })?.environments.production?.reason;
    expect(reason(rollout({ coverage: 0.5 }))).toBe('has-rules');
    expect(reason(rollout({ coverage: 1, condition: '{"country":"DE"}' }))).toBe('has-rules');
    expect(reason(rollout({ coverage: 0.5, enabled: false }))).toBe('no-rules');
    expect(reason(rollout({ coverage: 0.5, enabled: false }), force())).toBe('rules-one-sided');
  });

  test('serves the value of its first rule that has one', () => {
    const rules = [inlineExperiment(), rollout({ coverage: 1, value: 'a' }), force({ value: 'b' })];
    expect(found({ rules })?.environments.production?.evaluatesTo).toBe('a');
    expect(found({ rules: [inlineExperiment()], defaultValue: 'false' })?.environments.production).toEqual({
      isStale: true,
      reason: 'rules-one-sided',
      evaluatesTo: 'false',
    });
  });

  test('is kept by a running experiment that somebody gets to, not by one behind a rule that catches everyone', () => {
    const running = inlineExperiment({ trackingKey: 'running' });
    const reason = (...rules: StoredRule[]) => {
      const { production } = found({ rules }, {}, runningExperiments)?.environments ?? {};
      return [production?.reason, production?.evaluatesTo];
    };
    expect(reason(running)).toEqual(['active-experiment', undefined]);
    expect(reason(inlineExperiment({ trackingKey: 'ended' }))).toEqual(['rules-one-sided', 'false']);
    expect(reason(force(), running)).toEqual(['rules-one-sided', 'true']);
    expect(reason(rollout({ coverage: 1 }), running)).toEqual(['rules-one-sided', 'true']);
    expect(reason(rollout({ coverage: 0.9 }), running)).toEqual(['active-experiment', undefined]);
    expect(reason(force({ prerequisites: requires('g') }), running)).toEqual(['active-experiment', undefined]);
    expect(reason(force({ condition: '{"a":1}' }), running)).toEqual(['active-experiment', undefined]);
  });

  test('that an experiment requires is not stale', () => {
    const verdict = detectorOf({ required: {} }, runningExperiments)('required');
    expect(verdict?.reason).toBe('has-dependents');
    expect(verdict?.environments.get('production')).toEqual({
      isStale: false,
      reason: 'has-dependents',
      evaluatesTo: 'false',
    });
  });

  test('that is to be kept, or was updated in the last two weeks, is not stale', () => {
    expect(inShort({ neverStale: true, updated: 1 })).toEqual([false, 'never-stale']);
    expect(inShort({ updated: 14, draft: 1 })).toEqual([false, 'recently-updated']);
    expect(inShort({ updated: 15 })).toEqual([true, 'no-rules']);
  });

  test('names the most telling reason where environments differ', () => {
    const rules = [force({ allEnvironments: false, environments: ['dev'] })];
    expect(inShort({ environments: onIn('production', 'dev'), rules })).toEqual([true, 'no-rules']);
    const some = [rollout({ allEnvironments: false, environments: ['dev'] })];
    expect(inShort({ environments: onIn('production', 'dev'), rules: some })).toEqual([false, null]);
  });

  test('is judged in the environments that let its project in', () => {
    const states = statesOf({
      environments: { production: { projects: ['prj_a'] }, dev: { projects: ['prj_b'] }, staging: {} },
      projects: { prj_a: {}, prj_b: {} },
      features: { f: { project: 'prj_a' } },
    });
    const nothing = { experiments: noExperiments, newestDraft: () => null, failed: () => expect.fail('it could be') };
    const verdict = staleDetector({ states: readerOf(states), now, ...nothing })('f');
    expect([...(verdict?.environments.keys() ?? [])]).toEqual(['production', 'staging']);
  });

  test('that is archived, or is not there, is not judged', () => {
    expect(found({ archived: true })).toBeNull();
    expect(detectorOf({})('f')).toBeNull();
  });

  test('that cannot be judged is not stale, and keeps what it requires', () => {
    const failures: string[] = [];
    const broken = { rules: [force({ condition: 'null', prerequisites: requires('f') })] };
    const judge = detectorOf({ f: {}, broken }, noExperiments, (id) => failures.push(id));
    expect(judge('broken')).toEqual({ isStale: false, reason: 'error', environments: new Map() });
    expect(judge('f')).toMatchObject({ isStale: false, reason: 'has-dependents' });
    expect(failures).toEqual(['broken', 'broken']);
  });
});

describe('what depends on a feature', () => {
  const alive: Case = { updated: 1 };

  test('keeps it, through its own prerequisites or an enabled rule that applies there', () => {
    expect(inShort({}, { g: { ...alive, prerequisites: requires('f') } })).toEqual([false, 'has-dependents']);
    const by = (more: Partial<StoredRule>): Case => ({
      ...alive,
      rules: [{ ...force({ prerequisites: requires('f') }), ...more } as StoredRule],
    });
    expect(inShort({}, { g: by({}) })).toEqual([false, 'has-dependents']);
    expect(inShort({}, { g: by({ enabled: false }) })).toEqual([true, 'no-rules']);
    expect(inShort({}, { g: by({ allEnvironments: false, environments: [] }) })).toEqual([true, 'no-rules']);
    const inDev = {
      f: { environments: onIn('production', 'dev') },
      g: by({ allEnvironments: false, environments: ['dev'] }),
    };
    expect(found(inDev.f, { g: inDev.g })).toEqual({
      isStale: false,
      reason: 'has-dependents',
      environments: {
        production: { isStale: true, reason: 'no-rules', evaluatesTo: 'false' },
        dev: { isStale: false, reason: 'has-dependents', evaluatesTo: 'false' },
      },
    });
    expect(inShort({}, { g: { ...alive, archived: true, prerequisites: requires('f') } })).toEqual([true, 'no-rules']);
  });

  test('does not keep it when it is stale itself; two that require each other come to an end [flags M58]', () => {
    expect(inShort({}, { g: { prerequisites: requires('f') } })).toEqual([true, 'no-rules']);
    expect(inShort({ prerequisites: requires('g') }, { g: { prerequisites: requires('f') } })).toEqual([
      false,
      'has-dependents',
    ]);
    // Met twice on different ways, but in no circle: it is as stale as it is.
    const diamond = { g: { prerequisites: requires('f') }, h: { prerequisites: requires('f', 'g') } };
    expect(inShort({}, diamond)).toEqual([true, 'no-rules']);
    expect(inShort({}, { ...diamond, i: { ...alive, prerequisites: requires('h') } })).toEqual([
      false,
      'has-dependents',
    ]);
  });

  test('may be a chain of many thousands', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `f${index}`);
    const chain = Object.fromEntries(
      ids.map((id, index): [string, Case] => [id, index === 0 ? {} : { prerequisites: requires(`f${index - 1}`) }]),
    );
    const all = (cases: Readonly<Record<string, Case>>) => {
      const judge = detectorOf(cases);
      return new Set(ids.map((id) => judge(id)?.reason));
    };
    expect(all(chain)).toEqual(new Set(['no-rules']));
    expect(all({ ...chain, last: { ...alive, prerequisites: requires('f4999') } })).toEqual(
      new Set(['has-dependents']),
    );
    expect(all({ ...chain, f0: { prerequisites: requires('f4999') } })).toEqual(new Set(['has-dependents']));
  });
});

const ids = ['f', 'g', 'h', 'i', 'j'];
const someIds = fc.subarray(ids, { maxLength: 2 }).map((list) => requires(...list));
const scope = fc.constantFrom(
  { allEnvironments: true, environments: [] },
  ...[['production'], ['dev'], []].map((list) => ({ allEnvironments: false, environments: list })),
);
const rule = fc
  .tuple(
    fc.constantFrom(force, rollout, inlineExperiment),
    fc.record({
      condition: fc.constantFrom('', '', '{}', '{"a":1}'),
      enabled: fc.constantFrom(true, true, false),
      prerequisites: someIds,
      value: fc.constantFrom('true', 'false'),
      coverage: fc.constantFrom(1, 1, 0.5),
      trackingKey: fc.constantFrom('running', 'ended'),
    }),
    scope,
  )
  .map(([make, more, where]): StoredRule => make({ ...more, ...where }));
const anyCase: fc.Arbitrary<Case> = fc.record({
  updated: fc.constantFrom(1, 40, 40, 40),
  draft: fc.constantFrom(undefined, undefined, undefined, 10, 40),
  neverStale: fc.constantFrom(false, false, false, false, true),
  archived: fc.constantFrom(false, false, false, false, true),
  environments: fc.constantFrom(onIn('production', 'dev'), onIn('production'), onIn()),
  prerequisites: fc.oneof(fc.constant([]), someIds),
  rules: fc.array(rule, { maxLength: 2 }),
});
const anyCases = fc.tuple(fc.array(anyCase, { minLength: 1, maxLength: 5 }), fc.boolean()).map(
  ([cases, required]): Record<string, Case> => ({
    ...Object.fromEntries(cases.map((one, index): [string, Case] => [ids[index] ?? 'f', one])),
    ...(required ? { required: { environments: onIn('production') } } : {}),
  }),
);

/** The specification's words, one after the other, by going through everything again and again. */
function byTheLetter(cases: Readonly<Record<string, Case>>, id: string, visited: readonly string[] = []): unknown {
  const feature = cases[id];
  if (feature === undefined || feature.archived) return null;
  const { rules = [], defaultValue = 'false', updated = 40, draft } = feature;
  const applying = (of: Case, environment: string) =>
    (of.rules ?? []).filter((one) => one.enabled && (one.allEnvironments || one.environments.includes(environment)));
  const names = (list: readonly { id: string }[] = []) => list.some((one) => one.id === id);
  const isNotStale = (other: string) =>
    [...visited, id].includes(other) || !(byTheLetter(cases, other, [...visited, id]) as { isStale: boolean }).isStale;
  const protects = (environment: string) =>
    id === 'required' ||
    Object.entries(cases).some(
      ([other, of]) =>
        !of.archived &&
        (names(of.prerequisites) || applying(of, environment).some((one) => names(one.prerequisites))) &&
        isNotStale(other),
    );
  const targets = (one: StoredRule) => !['', '{}'].includes(one.condition);
  const inEnvironment = (environment: string) => {
    if (feature.environments?.[environment]?.enabled !== true) {
      return { isStale: true, reason: 'toggled-off', evaluatesTo: 'null' };
    }
    const here = applying({ rules }, environment);
    const kept = protects(environment);
    if (here.length === 0) {
      const verdict = kept ? { isStale: false, reason: 'has-dependents' } : { isStale: true, reason: 'no-rules' };
      return { ...verdict, evaluatesTo: defaultValue };
    }
    for (const one of here) {
      if (one.type === 'experiment' && one.trackingKey === 'running')
        return { isStale: false, reason: 'active-experiment' };
      const open = !targets(one) && one.prerequisites.length === 0;
      if (open && (one.type === 'force' || (one.type === 'rollout' && one.coverage >= 1))) break;
    }
    const oneSided = here.every(
      (one) => one.type === 'experiment' || (!targets(one) && (one.type === 'force' || one.coverage === 1)),
    );
    if (!oneSided) return { isStale: false, reason: 'has-rules' };
    const [first] = here.flatMap((one) => (one.type === 'experiment' ? [] : [one.value]));
    const verdict = kept ? { isStale: false, reason: 'has-dependents' } : { isStale: true, reason: 'rules-one-sided' };
    return { ...verdict, evaluatesTo: first ?? defaultValue };
  };
  const all = environments.map((environment) => [environment, inEnvironment(environment)] as const);
  const so = (isStale: boolean, reason: string | null) => ({ isStale, reason, environments: new Map(all) });
  if (feature.neverStale) return so(false, 'never-stale');
  if (updated <= 14) return so(false, 'recently-updated');
  if (draft !== undefined && draft <= 30) return so(false, 'active-draft');
  if (environments.some(protects)) return so(false, 'has-dependents');
  const on = all.map(([, verdict]) => verdict).filter(({ reason }) => reason !== 'toggled-off');
  if (on.length === 0 || !on.every(({ isStale }) => isStale)) return so(false, null);
  if (draft !== undefined) return so(true, 'abandoned-draft');
  return so(true, on.some(({ reason }) => reason === 'no-rules') ? 'no-rules' : 'rules-one-sided');
}

describe('the detector', () => {
  test('finds what the words of the specification say, whatever requires what', () => {
    fc.assert(
      fc.property(anyCases, (cases) => {
        const judge = detectorOf(cases, runningExperiments);
        for (const id of Object.keys(cases)) expect([id, judge(id)]).toEqual([id, byTheLetter(cases, id)]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('comes to an end on any graph, and says of a feature the same, whichever was asked about before', () => {
    const many = Array.from({ length: 30 }, (_, index) => `f${index}`);
    const edges = fc.array(fc.tuple(fc.constantFrom(...many), fc.constantFrom(...many)), { maxLength: 90 });
    fc.assert(
      fc.property(edges, (list) => {
        const of = (id: string) => list.flatMap(([from, to]) => (from === id ? [to] : []));
        const cases = Object.fromEntries(
          many.map((id): [string, Case] => [id, { prerequisites: requires(...of(id)) }]),
        );
        const judge = detectorOf(cases);
        const together = many.map((id) => judge(id));
        expect(
          many
            .toReversed()
            .map((id) => detectorOf(cases)(id))
            .toReversed(),
        ).toEqual(together);
      }),
      { numRuns: 50 },
    );
  });
});
