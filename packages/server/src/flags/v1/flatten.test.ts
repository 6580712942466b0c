import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payloadOptions } from '../../../testing/flags/payload-options.ts';
import { anyRule, anyScope } from '../../../testing/flags/rules.ts';
import { force, statesOf } from '../../../testing/flags/states.ts';
import { environmentsOf } from '../../organization/index.ts';
import { readerOf } from '../../record/index.ts';
import { type FeatureContent, featureKind, ruleIdStem, type StoredRule } from '../feature.ts';
import { payloadCompiler } from '../payload/compile.ts';
import { ruleKinds } from '../rule-kinds.ts';
import { environmentView } from '../scope.ts';
import { flatten, type RuleLists } from './flatten.ts';
import { listOf, placingOf } from './rule-lists.ts';

const ids = ['dev', 'staging', 'production'];
const kinds = ruleKinds([]);

/** A feature with these rules, among the environments; `parent` is one whose value depends on who asks. */
function featureWith(rules: readonly StoredRule[], more: Partial<FeatureContent> = {}) {
  const states = statesOf({
    environments: Object.fromEntries(ids.map((id) => [id, {}])),
    projects: { prj_a: {}, prj_b: {} },
    features: { flag: { rules, ...more }, parent: { rules: [force({ condition: '{"vip":true}' })] } },
  });
  const reader = readerOf(states);
  const state = reader.get(featureKind, 'flag')?.state;
  if (state === undefined) throw new Error('There is a feature.');
  const environments = environmentsOf(reader);
  const view = environmentView(state, environments);
  return {
    placing: placingOf(state, environments),
    lists: new Map(ids.map((id) => [id, listOf(rules, id, view)])),
    payload: (environment: string) =>
      payloadCompiler(reader, kinds, payloadOptions({ environment, includeRuleIds: true })).feature('flag'),
  };
}

const { placing } = featureWith([]);
const bucket = (rules: readonly StoredRule[]): RuleLists => featureWith(rules).lists;
const named = (id: string, value = 'true'): StoredRule => force({ id, value });
const flat = (lists: Record<string, StoredRule[]>) =>
  flatten(new Map(Object.entries(lists)), placing).map(({ id, allEnvironments, environments }) =>
    allEnvironments ? id : `${id} in ${environments.join(', ')}`,
  );

/** Lists in which rules often share a stem, and often are the same. */
const anyLists: fc.Arbitrary<RuleLists> = fc
  .tuple(
    ...ids.map(() =>
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('true', 'true', 'true', 'false')), {
        maxLength: 6,
      }),
    ),
  )
  .map((lists) => new Map(lists.map((list, index) => [ids[index] ?? '', list.map(([id, value]) => named(id, value))])));

/** A list as a payload tells it apart: the stems of ids, and everything else but where the rule applies. */
const told = (list: readonly StoredRule[] = []) =>
  list.map(({ id, allEnvironments: _all, environments: _some, ...content }) => ({ stem: ruleIdStem(id), ...content }));

describe('flattening the lists of environments', () => {
  test('rules that are the same everywhere become one, the others are told apart', () => {
    const [a, b, c] = [named('a'), named('b'), named('c')];
    expect(flat({ dev: [a, b], staging: [a, b], production: [a, c, b] })).toEqual([
      'a',
      'b__dev in dev',
      'b__staging in staging',
      'c in production',
      'b__production in production',
    ]);
    expect(flat({ dev: [a, b], production: [a, b] })).toEqual(['a in dev, production', 'b in dev, production']);
    expect(flat({ dev: [a], staging: [], production: [b] })).toEqual(['a in dev', 'b in production']);
  });

  test('the same id with another value is a rule for each environment', () => {
    expect(flat({ dev: [named('a')], production: [named('a', 'false')] })).toEqual([
      'a__dev in dev',
      'a__production in production',
    ]);
    const scoped = { ...named('a'), allProjects: false, projects: ['prj_a'] };
    expect(flat({ dev: [named('a')], production: [scoped] })).toEqual(['a__dev in dev', 'a__production in production']);
  });

  test('the same id twice in a list is never one rule: the second is numbered', () => {
    const a = named('a');
    expect(flat({ dev: [a, a], staging: [a], production: [a] })).toEqual([
      'a__dev in dev',
      'a__dev__2 in dev',
      'a__staging in staging',
      'a__production in production',
    ]);
  });

  test('rules in another order keep it in each environment', () => {
    const [a, b] = [named('a'), named('b')];
    expect(flat({ dev: [a, b], production: [b, a] })).toEqual([
      'a__dev in dev',
      'b in dev, production',
      'a__production in production',
    ]);
  });

  test('exactly the environments where the feature can serve are all; one more is kept and prevents it [flags M64]', () => {
    const a = named('a');
    const lists = (environments: string[]) => new Map(environments.map((id) => [id, [a]]));
    const limited = { ...placing, applicable: new Set(['dev', 'production']) };
    expect(flatten(lists(['dev', 'production']), limited)).toMatchObject([{ allEnvironments: true, environments: [] }]);
    const more = { allEnvironments: false, environments: ['dev', 'staging', 'production'] };
    expect(flatten(lists(ids), limited)).toMatchObject([more]);
    const orphan = { allEnvironments: false, environments: ['dev', 'production', 'gone'] };
    expect(flatten(lists(['gone', 'dev', 'production']), limited)).toMatchObject([orphan]);
  });

  test('it is deterministic, and flattening again what it made changes nothing [flags M60]', () => {
    fc.assert(
      fc.property(anyLists, (lists) => {
        const once = flatten(lists, placing);
        expect(flatten(new Map([...lists].reverse()), placing)).toEqual(once);
        expect(flatten(bucket(once), placing)).toEqual(once);
        expect(new Set(once.map(({ id }) => id)).size).toBe(once.length);
      }),
      { numRuns: 500 },
    );
  });

  test('every environment meets its rules in the order of its list [flags M63]', () => {
    fc.assert(
      fc.property(anyLists, (lists) => {
        const again = bucket(flatten(lists, placing));
        for (const id of ids) expect(told(again.get(id))).toEqual(told(lists.get(id)));
      }),
      { numRuns: 500 },
    );
  });

  test('rules of the one list survive the way through the lists, and no payload can tell the difference', () => {
    const anyFeatureRules = fc
      .array(fc.tuple(anyRule, anyScope([...ids, 'gone'], ['prj_a', 'prj_b'])), { maxLength: 6 })
      .map((rules) => rules.map(([rule, scope], index) => ({ ...rule, ...scope, id: `fr_${index}` })));
    fc.assert(
      fc.property(anyFeatureRules, (rules) => {
        const before = featureWith(rules);
        const after = featureWith(flatten(before.lists, placing));
        for (const id of ids) {
          expect(told(after.lists.get(id))).toEqual(told(before.lists.get(id)));
          expect(after.payload(id)).toEqual(before.payload(id));
        }
      }),
      { numRuns: 200 },
    );
  });
});
