import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyScope } from '../../../testing/flags/rules.ts';
import { featureState, force, statesOf } from '../../../testing/flags/states.ts';
import { environmentsOf } from '../../organization/index.ts';
import { readerOf } from '../../record/index.ts';
import { type FeatureContent, ruleIdStem, type StoredRule } from '../feature.ts';
import { environmentView } from '../scope.ts';
import type { RuleLists } from './flatten.ts';
import { listOf, withRuleLists } from './rule-lists.ts';

/** `canary` follows production, and in `qa` only features of another project can serve. */
const environments = environmentsOf(
  readerOf(
    statesOf({
      environments: {
        dev: {},
        staging: {},
        production: {},
        canary: { parent: 'production' },
        qa: { projects: ['prj_b'] },
      },
      projects: { prj_a: {}, prj_b: {} },
    }),
  ),
);
const ids = environments.map(({ id }) => id);
const serving = ['dev', 'staging', 'production', 'canary'];
const withOwn = ['dev', 'staging', 'production', 'qa'];

const featureOf = (rules: readonly StoredRule[]): FeatureContent =>
  featureState({ project: 'prj_a', rules }, withOwn, new Date());
const named = (id: string, more: object = {}): StoredRule => force({ id, ...more });
const only = (...listed: string[]) => ({ allEnvironments: false, environments: listed });

const listsOf = (feature: FeatureContent): Map<string, StoredRule[]> => {
  const view = environmentView(feature, environments);
  return new Map(ids.map((id) => [id, listOf(feature.rules, id, view)]));
};
const told = (list: readonly StoredRule[] = []) =>
  list.map(({ id, ...rule }) => `${ruleIdStem(id)} ${contentOf(rule)}`);
const contentOf = ({ allEnvironments: _all, environments: _some, ...content }: Omit<StoredRule, 'id'>) =>
  JSON.stringify(content);

/** The rules after lists have been written, as `id in environments`. */
const written = (rules: readonly StoredRule[], lists: Record<string, StoredRule[]>) =>
  withRuleLists(featureOf(rules), new Map(Object.entries(lists)), environments).rules.map(
    ({ id, allEnvironments, environments: listed }) => (allEnvironments ? id : `${id} in ${listed.join(', ')}`),
  );

const anyStored = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.boolean(), anyScope([...ids, 'gone'], [])), {
    maxLength: 7,
  })
  .map((rules) =>
    rules.map(([stem, value, { allEnvironments, environments: listed }], index) => {
      const isSecond = rules.slice(0, index).some(([before]) => before === stem);
      const id = isSecond ? `${stem}__dup__${index}` : stem;
      return named(id, { value: String(value), allEnvironments, environments: allEnvironments ? [] : listed });
    }),
  );

/** A list as somebody may make it of the one that is there. */
const edits = fc.array(
  fc.tuple(
    fc.constantFrom('drop', 'edit', 'move', 'insert', 'again'),
    fc.nat(9),
    fc.nat(9),
    fc.constantFrom('true', 'false'),
  ),
  { maxLength: 4 },
);
type Edits = typeof edits extends fc.Arbitrary<infer E> ? E : never;
function edited(list: readonly StoredRule[], steps: Edits): StoredRule[] {
  const fresh = [...list];
  for (const [kind, at, to, value] of steps) {
    const index = fresh.length === 0 ? 0 : at % fresh.length;
    const rule = fresh[index];
    if (kind === 'insert' || rule === undefined) fresh.splice(index, 0, named(`n${to % 3}`, { value }));
    else if (kind === 'drop') fresh.splice(index, 1);
    else if (kind === 'edit') fresh[index] = { ...rule, description: value };
    else if (kind === 'again') fresh.push(rule);
    else fresh.splice(to % fresh.length, 0, ...fresh.splice(index, 1));
  }
  return fresh;
}
const anyWrite = fc.tuple(anyStored, fc.subarray(ids), fc.tuple(...ids.map(() => edits)));
const writeOf = ([rules, sent, steps]: typeof anyWrite extends fc.Arbitrary<infer W> ? W : never) => {
  const feature = featureOf(rules);
  const lists = listsOf(feature);
  const asked: RuleLists = new Map(
    ids.flatMap((id, index) => (sent.includes(id) ? [[id, edited(lists.get(id) ?? [], steps[index] ?? [])]] : [])),
  );
  return { feature, lists, asked, after: withRuleLists(feature, asked, environments) };
};

describe('writing the rules of environments', () => {
  const [a, b, c] = [named('a'), named('b'), named('c')];

  test('lists that read as they are change nothing', () => {
    fc.assert(
      fc.property(anyStored, fc.subarray(ids), (rules, sent) => {
        const feature = featureOf(rules);
        const lists = [...listsOf(feature)].filter(([id]) => sent.includes(id));
        expect(withRuleLists(feature, new Map(lists), environments)).toBe(feature);
      }),
    );
  });

  test('every environment gets the list that is asked for, in its order; others keep theirs byte by byte', () => {
    fc.assert(
      fc.property(anyWrite, (write) => {
        const { lists, asked, after } = writeOf(write);
        const fresh = listsOf(after);
        const sent = serving.filter((id) => asked.has(id));
        expect(sent.map((id) => told(fresh.get(id)))).toEqual(sent.map((id) => told(asked.get(id))));
        // What follows an environment that is written goes with it.
        const others = serving.filter((id) => !asked.has(id) && id !== 'canary');
        expect(others.map((id) => fresh.get(id)?.map(bytes))).toEqual(others.map((id) => lists.get(id)?.map(bytes)));
      }),
      { numRuns: 500 },
    );
  });

  test('an environment that follows goes on following', () => {
    fc.assert(
      fc.property(anyWrite, (write) => {
        const { feature, asked, after } = writeOf(write);
        const listsCanary = feature.rules.some((rule) => rule.environments.includes('canary'));
        fc.pre(!asked.has('canary') && !listsCanary);
        expect(Object.keys(after.environments)).toEqual(Object.keys(feature.environments));
        const fresh = listsOf(after);
        expect(fresh.get('canary')).toEqual(fresh.get('production'));
      }),
    );
  });

  test('rules that apply nowhere stay as they are, ids stay unique, and writing the same again changes nothing [flags M27]', () => {
    fc.assert(
      fc.property(anyWrite, (write) => {
        const { feature, asked, after } = writeOf(write);
        const pending = ({ allEnvironments, environments: listed }: StoredRule) =>
          !allEnvironments && !listed.some((id) => ids.includes(id));
        expect(after.rules.filter(pending)).toEqual(feature.rules.filter(pending));
        expect(new Set(after.rules.map(({ id }) => id)).size).toBe(after.rules.length);
        expect(withRuleLists(after, asked, environments)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test('a rule for all stays one where the lists still have it', () => {
    expect(written([a, b], { production: [c, a, b] })).toEqual(['c in production', 'a', 'b']);
    expect(written([a, b], { production: [a, c, b], dev: [a, b] })).toEqual(['a', 'c in production', 'b']);
    expect(written([a, b], { dev: [b] })).toEqual(['a in staging, production, canary', 'b']);
  });

  test('editing it in one environment leaves the others a list of their own', () => {
    const other = named('a', { value: 'false' });
    expect(written([a], { dev: [other] })).toEqual(['a in staging, production, canary', 'a__dev in dev']);
    expect(written([a], { dev: [other], staging: [other] })).toEqual([
      'a in production, canary',
      'a__dup__2 in dev, staging',
    ]);
    expect(written([a], { dev: [other], staging: [named('a', { description: 'x' })] })).toEqual([
      'a in production, canary',
      'a__dev in dev',
      'a__staging in staging',
    ]);
    // Where it was in one environment only, it stays the same rule.
    expect(written([named('a__dev', only('dev'))], { dev: [other] })).toEqual(['a__dev in dev']);
  });

  test('whoever names all environments means all, whoever names one adds one', () => {
    const inDev = [named('a', only('dev'))];
    expect(written(inDev, { dev: [a], staging: [a], production: [a], canary: [a] })).toEqual(['a']);
    expect(written(inDev, { staging: [a] })).toEqual(['a in dev, staging']);
    const orphaned = [named('a', only('dev', 'qa', 'gone'))];
    expect(written(orphaned, { dev: [c, a] })).toEqual(['c in dev', 'a in dev, qa, gone']);
    expect(written(orphaned, { dev: [], qa: [] })).toEqual([]);
    expect(written([], { qa: [a] })).toEqual(['a in qa']);
  });

  test('an environment that followed another gets settings of its own with its first list', () => {
    const inProduction = featureOf([named('a', only('production')), named('b')]);
    const after = withRuleLists(inProduction, new Map([['canary', [b]]]), environments);
    expect(after.environments.canary).toEqual({ enabled: true });
    expect(after.rules).toEqual(inProduction.rules);
    const other = withRuleLists(inProduction, new Map([['canary', [c, a, b]]]), environments);
    expect(other.rules.map(({ id, environments: listed }) => [id, ...listed])).toEqual([
      ['c', 'canary'],
      ['a', 'production', 'canary'],
      ['b'],
    ]);
  });

  test('of rules that change places, one stays shared', () => {
    expect(written([a, b], { production: [b, a] })).toEqual(['b__production in production', 'a', 'b in dev, staging']);
    expect(written([a, b, c], { dev: [c, a, b] })).toEqual([
      'c__dev in dev',
      'a',
      'b',
      'c in staging, production, canary',
    ]);
  });
});

const bytes = ({ allEnvironments: _all, environments: _some, ...rule }: StoredRule) => JSON.stringify(rule);
