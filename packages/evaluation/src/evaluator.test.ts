import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluationCase } from '../testing/case-arbitraries.ts';
import { compilePayload, type ForceRule } from './index.ts';

describe('a compiled payload', () => {
  test('names its features in the order of the payload', () => {
    const features = { b: { defaultValue: 1 }, a: { defaultValue: 2 }, '$holdout:x': { defaultValue: 'genpop' } };
    expect(compilePayload({ features }).featureKeys).toEqual(['b', 'a', '$holdout:x']);
  });

  test('gives every user the same frozen result where it does not depend on the user', () => {
    const { evaluate } = compilePayload({
      features: { f: { defaultValue: 1, rules: [{ condition: { a: 1 }, force: 2 }] } },
    });
    const [first, second, other] = [{ a: 1 }, { a: 1 }, {}].map((attributes) => evaluate('f', { attributes }));
    expect(first).toBe(second);
    expect(first).not.toBe(other);
    expect([first, other].every(Object.isFrozen)).toBe(true);
  });

  test('tells the rule behind a forced value', () => {
    const rollout: ForceRule = { force: 'b', coverage: 1, hashVersion: 2 };
    const { evaluate, forceRuleOf } = compilePayload({ features: { f: { defaultValue: 'a', rules: [rollout] } } });
    expect(forceRuleOf(evaluate('f', { attributes: { id: 'u1' } }))).toBe(rollout);
    expect(forceRuleOf(evaluate('f', { attributes: {} }))).toBeUndefined();
    expect(forceRuleOf(evaluate('unknown', { attributes: {} }))).toBeUndefined();
  });

  test('gives the same answer each time, and changes neither payload nor user', () => {
    fc.assert(
      fc.property(evaluationCase, (given) => {
        const before = JSON.stringify(given);
        const { evaluate, featureKeys } = compilePayload(given);
        const user = { ...given.user, forcedFeatures: new Map(given.user.forcedFeatures) };
        const first = featureKeys.map((key) => evaluate(key, user));
        const again = featureKeys.toReversed().map((key) => evaluate(key, user));
        expect(again.toReversed()).toEqual(first);
        expect(compilePayload(structuredClone(given)).featureKeys.map((key) => evaluate(key, user))).toEqual(first);
        expect(JSON.stringify(given)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  test('never throws, whatever JSON the attributes hold', () => {
    fc.assert(
      fc.property(
        evaluationCase,
        fc.dictionary(fc.constantFrom('id', 'deviceId', 'tags', 'account', '__proto__'), fc.jsonValue()),
        (given, attributes) => {
          const { evaluate, featureKeys } = compilePayload(given);
          for (const key of featureKeys) expect(typeof evaluate(key, { attributes }).on).toBe('boolean');
        },
      ),
      { numRuns: 500 },
    );
  });

  test('survives attributes that cannot be turned into text', () => {
    const { evaluate } = compilePayload({
      features: {
        f: {
          defaultValue: 0,
          rules: [
            { force: 1, coverage: 0.5 },
            { variations: [2, 3], condition: { id: 'x' } },
          ],
        },
      },
    });
    const hostile = JSON.parse('{"toString": 1, "valueOf": {}}');
    expect(() => evaluate('f', { attributes: { id: hostile }, stickyBucketAssignmentDocs: {} })).not.toThrow();
  });

  test('passes over rules that are none', () => {
    const rules = JSON.parse('[null, 5, "x", {"force": 1}]');
    expect(
      compilePayload({ features: { f: { defaultValue: 0, rules } } }).evaluate('f', { attributes: {} }).value,
    ).toBe(1);
    const noRules = JSON.parse('{"f": {"defaultValue": 2, "rules": {}}}');
    expect(compilePayload({ features: noRules }).evaluate('f', { attributes: {} }).value).toBe(2);
  });
});
