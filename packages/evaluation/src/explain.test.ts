import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluationCase } from '../testing/case-arbitraries.ts';
import { compilePayload, type FeatureRule, type RuleOutcome, type User } from './index.ts';

const parents = {
  yes: { defaultValue: true },
  no: { defaultValue: false },
  back: { defaultValue: true, rules: [{ parentConditions: [{ id: 'f', condition: { value: true } }], force: true }] },
};

/** What came of the rules of a feature for a user. */
const outcomes = (rules: readonly FeatureRule[], user: User = { attributes: { id: 'u1', country: 'DE' } }) =>
  compilePayload({ features: { ...parents, f: { defaultValue: 'none', rules } } }).explain('f', user).outcomes;

const needs = (id: string) => ({ parentConditions: [{ id, condition: { value: true } }] });
const experiment = { variations: ['a', 'b'], coverage: 1, hashVersion: 2, key: 'e' };
const namespace = { filters: [{ seed: 's', ranges: [] }] };

describe('an explanation', () => {
  test.each<[RuleOutcome, FeatureRule]>([
    ['prerequisite', { ...needs('no'), force: 1 }],
    ['prerequisite', { ...needs('unknown'), force: 1 }],
    ['condition', { condition: { country: 'AT' }, force: 1 }],
    ['rollout', { force: 1, coverage: 0 }],
    ['rollout', { force: 1, coverage: 1, hashAttribute: 'company' }],
    ['namespace', { ...namespace, force: 1 }],
    ['servesNothing', needs('yes')],
    ['fewVariations', { ...experiment, variations: ['a'] }],
    ['noHashValue', { ...experiment, hashAttribute: 'company' }],
    ['namespace', { ...experiment, namespace: ['ns', 0, 0] }],
    ['condition', { ...experiment, condition: { country: 'AT' } }],
    ['bucket', { ...experiment, coverage: 0 }],
    ['bucket', { ...experiment, hashVersion: 9 }],
    ['passthrough', { ...experiment, meta: [{ passthrough: true }, { passthrough: true }] }],
  ])('says %s of a rule that is passed over for that', (outcome, rule) => {
    expect(outcomes([rule])).toEqual([outcome]);
    expect(outcomes([rule, { force: 2 }, { force: 3 }])).toEqual([outcome, 'applied']);
  });

  test('goes up to the rule that decided, or that ended the evaluation', () => {
    expect(outcomes([])).toEqual([]);
    expect(outcomes([{ force: 1 }, { force: 2 }])).toEqual(['applied']);
    expect(outcomes([experiment, { force: 2 }])).toEqual(['applied']);
    const gate = { parentConditions: [{ id: 'no', condition: { value: true }, gate: true }] };
    expect(outcomes([{ condition: { a: 1 }, force: 1 }, gate, { force: 2 }])).toEqual(['condition', 'blocked']);
    expect(outcomes([needs('back'), { force: 2 }])).toEqual(['cyclic']);
  });

  test('tells users that bring something of their own why they are out of an experiment', () => {
    const attributes = { id: 'u1' };
    expect(outcomes([experiment], { attributes, enabled: false })).toEqual(['notRunning']);
    expect(outcomes([experiment], { attributes, qaMode: true })).toEqual(['notRunning']);
    expect(outcomes([experiment], { attributes, forcedVariations: { e: 7 } })).toEqual(['noSuchVariation']);
    const override = (more: object) => ({ attributes, experimentOverrides: { e: more } });
    expect(outcomes([experiment], override({ status: 'draft' }))).toEqual(['notRunning']);
    expect(outcomes([experiment], override({ url: /example/ }))).toEqual(['url']);
    expect(outcomes([experiment], override({ groups: ['staff'] }))).toEqual(['group']);
    const blocked = {
      attributes,
      stickyBucketAssignmentDocs: {
        'id||u1': { attributeName: 'id', attributeValue: 'u1', assignments: { e__0: '0' } },
      },
    };
    expect(outcomes([{ ...experiment, bucketVersion: 2, minBucketVersion: 2 }], blocked)).toEqual(['blockedVersion']);
  });

  test('gives no outcomes where no rule was looked at', () => {
    const { explain } = compilePayload({ features: { f: { defaultValue: 1, rules: [{ force: 2 }] } } });
    expect(explain('unknown', { attributes: {} }).outcomes).toEqual([]);
    const forced = explain('f', { attributes: {}, forcedFeatures: new Map([['f', 3]]) });
    expect([forced.result.value, forced.outcomes]).toEqual([3, []]);
  });

  test('has the result of the evaluation, and outcomes that lead to it, whatever the payload and the user', () => {
    fc.assert(
      fc.property(evaluationCase, (given) => {
        const { evaluate, explain, featureKeys } = compilePayload(given);
        const user: User = { ...given.user, forcedFeatures: new Map(given.user.forcedFeatures) };
        for (const key of featureKeys) {
          const { result, outcomes: said } = explain(key, user);
          expect(result).toEqual(evaluate(key, user));
          const last = said.at(-1);
          expect(said.slice(0, -1)).not.toContain('applied');
          expect(last === 'applied').toBe(result.source === 'force' || result.source === 'experiment');
          expect(last === 'blocked').toBe(result.source === 'prerequisite');
          const all = given.features[key]?.rules?.length ?? 0;
          expect(result.source === 'defaultValue' ? said.length : all).toBe(all);
        }
      }),
      { numRuns: 500 },
    );
  });
});
