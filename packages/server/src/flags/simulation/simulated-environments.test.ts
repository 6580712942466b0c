import { nativeRegularExpression } from '@halyard/evaluation';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { force, inlineExperiment, rollout, statesOf } from '../../../testing/flags/states.ts';
import { readerOf } from '../../record/index.ts';
import type { FeatureContent } from '../feature.ts';
import { liveFeature } from '../find-feature.ts';
import { ruleKinds } from '../rule-kinds.ts';
import type { BoundedEvaluation } from './bounded-evaluation.ts';
import { simulateFeatures } from './simulated-environments.ts';

const unbounded: BoundedEvaluation = {
  regularExpression: nativeRegularExpression,
  each: (_organization, parts, evaluate) => parts.map((part) => evaluate(part)),
};

interface Given {
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Those beside the one that is simulated. */
  readonly features?: Readonly<Record<string, Partial<FeatureContent>>>;
  readonly bounded?: BoundedEvaluation;
}

/** A feature in production, for a user. */
function simulate(content: Partial<FeatureContent>, { attributes = {}, features, bounded = unbounded }: Given = {}) {
  const states = readerOf(statesOf({ features: { ...features, f: content } }));
  const { state } = liveFeature('f', states);
  const subject = { id: 'f', state, rules: state.rules.map((stored) => ({ stored, simulated: stored })) };
  const [[simulated] = []] = simulateFeatures([subject], {
    states,
    attributes,
    environments: ['production'],
    kinds: ruleKinds([]),
    bounded,
  });
  if (simulated === undefined) throw new Error('One feature in one environment is simulated once.');
  return { ...simulated, said: simulated.log.map(([message, { ruleId }]) => [ruleId, message] as const) };
}

const german = '{"country":"DE"}';
const always = '{"value":true}';
const defaulted = [undefined, 'No rule applies: the default value is served.'];

describe('the simulation of a feature in an environment', () => {
  test('says of each rule why it was passed over, up to the one that applies', () => {
    const { result, said } = simulate(
      {
        rules: [
          force({ id: 'off', enabled: false }),
          force({ id: 'elsewhere', allEnvironments: false, environments: ['dev'] }),
          force({
            id: 'later',
            scheduleRules: [
              { timestamp: '2027-01-01T00:00:00.000Z', enabled: true },
              { timestamp: null, enabled: false },
            ],
          }),
          rollout({ id: 'nobody', coverage: 0 }),
          rollout({ id: 'some', coverage: 0.5 }),
          force({ id: 'austrian', condition: '{"country":"AT"}' }),
          inlineExperiment({ id: 'hashed', hashAttribute: 'company' }),
          force({ id: 'german', condition: german }),
          force({ id: 'after' }),
        ],
      },
      { attributes: { country: 'DE' } },
    );
    expect(result).toMatchObject({ value: true, source: 'force', ruleId: 'german' });
    expect(said).toEqual([
      ['off', expect.stringContaining('switched off')],
      ['elsewhere', expect.stringContaining('not for this environment')],
      ['later', expect.stringContaining('schedule')],
      ['nobody', expect.stringContaining('0 %')],
      ['some', expect.stringContaining('share of users')],
      ['austrian', expect.stringContaining('condition')],
      ['hashed', expect.stringContaining('no value')],
      ['german', expect.stringContaining('applies')],
    ]);
  });

  test('tells apart why a rule can serve nobody: its projects, its prerequisites, or what it serves', () => {
    const { said } = simulate(
      {
        rules: [
          force({ id: 'nowhere', allProjects: false, projects: [] }),
          force({ id: 'never', prerequisites: [{ id: 'off', condition: always }] }),
          inlineExperiment({ id: 'empty', values: [] }),
          force({ id: 'all' }),
        ],
      },
      { features: { off: { environments: { production: { enabled: false } } } } },
    );
    expect(said).toEqual([
      ['nowhere', expect.stringContaining('no project')],
      ['never', expect.stringContaining('prerequisite')],
      ['empty', expect.stringContaining('nothing to serve')],
      ['all', expect.stringContaining('applies')],
    ]);
  });

  test('ends with the default value where no rule applies', () => {
    const { result, said, defaultValue } = simulate({ rules: [force({ id: 'german', condition: german })] });
    expect(result).toMatchObject({ value: false, source: 'defaultValue', ruleId: '' });
    expect(defaultValue).toBe(false);
    expect(said.at(-1)).toEqual(defaulted);
    expect(simulate({}).said).toEqual([defaulted]);
    expect(simulate({ rules: [force({ enabled: false })] }).said.at(-1)).toEqual(defaulted);
  });

  test('shows the experiment that decided', () => {
    const rules = [
      inlineExperiment({
        values: [
          { value: 'true', weight: 1 },
          { value: 'false', weight: 0 },
        ],
      }),
    ];
    const { result } = simulate({ rules }, { attributes: { id: 'u1' } });
    expect(result).toMatchObject({
      value: true,
      source: 'experiment',
      experiment: { key: 'exp' },
      experimentResult: { variationId: 0, hashValue: 'u1' },
    });
  });

  test('has no result where the feature is off, archived, or kept back by its prerequisites', () => {
    const off = simulate({ environments: { production: { enabled: false } }, rules: [force()] });
    expect(off).toMatchObject({ enabled: false, result: null, said: [[undefined, expect.stringContaining('off')]] });
    const archived = simulate({ archived: true });
    expect(archived).toMatchObject({ result: null, said: [[undefined, expect.stringContaining('archived')]] });
    const blocked = simulate({ prerequisites: [{ id: 'gone', condition: always }] });
    expect(blocked).toMatchObject({ enabled: true, result: null });
    expect(blocked.said).toEqual([[undefined, expect.stringContaining('never hold')]]);
  });

  test('evaluates prerequisites, those of prerequisites as well, and says what came of them', () => {
    const features = {
      parent: { prerequisites: [{ id: 'top', condition: always }], rules: [force()] },
      top: { rules: [force({ condition: german })] },
    };
    const content = {
      prerequisites: [{ id: 'parent', condition: always }],
      rules: [force({ id: 'needy', prerequisites: [{ id: 'top', condition: '{"value":false}' }] }), force({ id: 'x' })],
    };
    const held = simulate(content, { features, attributes: { country: 'DE' } });
    expect(held.result).toMatchObject({ value: true, ruleId: 'x' });
    expect(held.log[0]).toEqual(['The prerequisite of the feature holds.', { prerequisite: 'parent' }]);
    expect(held.said.slice(1)).toEqual([
      ['needy', expect.stringContaining('prerequisite')],
      ['x', expect.stringContaining('applies')],
    ]);
    const blocked = simulate(content, { features, attributes: { country: 'AT' } });
    expect(blocked.result).toMatchObject({ value: null, source: 'prerequisite' });
    expect(blocked.log).toEqual([[expect.stringContaining('does not hold'), { prerequisite: 'parent' }]]);
  });

  test('tells rules of the same stem apart', () => {
    const { said } = simulate({
      rules: [
        force({ id: 'fr_1__dev', allEnvironments: false, environments: ['dev'] }),
        force({ id: 'fr_1__production', allEnvironments: false, environments: ['production'] }),
      ],
    });
    expect(said.map(([rule]) => rule)).toEqual(['fr_1__dev', 'fr_1__production']);
    expect(said[1]?.[1]).toContain('applies');
  });

  test('says something of every rule before the one that decides, whatever the rules are', () => {
    const rule = fc.record({
      enabled: fc.boolean(),
      condition: fc.constantFrom('', german, '{"country":"AT"}'),
      environments: fc.option(fc.constantFrom(['dev'], ['production'])),
      coverage: fc.constantFrom(0, 0.5, 1),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), fc.constantFrom('DE', 'AT'), (some, country) => {
        const rules = some.map(({ environments, ...more }, index) =>
          rollout({
            ...more,
            id: `r${index}`,
            allEnvironments: environments === null,
            environments: environments ?? [],
          }),
        );
        const { result, said } = simulate({ rules }, { attributes: { id: 'u1', country } });
        const decided = rules.findIndex(({ id }) => id === result?.ruleId);
        const told = decided < 0 ? rules : rules.slice(0, decided + 1);
        expect(said.flatMap(([id]) => id ?? [])).toEqual(told.map(({ id }) => id));
        expect(said.filter(([, message]) => message.includes('decides the value'))).toHaveLength(decided < 0 ? 0 : 1);
      }),
    );
  });

  test('is left out where it does not fit into the time', () => {
    const hurried: BoundedEvaluation = {
      ...unbounded,
      each: (_organization, parts, _evaluate, otherwise) => parts.map(otherwise),
    };
    const simulated = simulate({}, { bounded: hurried });
    expect(simulated).toMatchObject({ result: null, log: [[expect.stringContaining('too long'), {}]] });
  });
});
