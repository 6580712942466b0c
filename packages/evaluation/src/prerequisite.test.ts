import { describe, expect, test } from 'vitest';
import {
  compilePayload,
  type EvaluablePayload,
  type FeatureResult,
  type FeatureRule,
  MAX_PREREQUISITE_DEPTH,
  type ParentCondition,
  type User,
} from './index.ts';

type Features = EvaluablePayload['features'];

const evaluate = (features: Features, key: string, user: Partial<User> = {}): FeatureResult =>
  compilePayload({ features }).evaluate(key, { attributes: { id: 'user-1' }, ...user });

const gate = (id: string): FeatureRule => ({ parentConditions: [{ id, condition: { value: true }, gate: true }] });

/** Features that each require the next. */
const chain = (length: number): Features =>
  Object.fromEntries(
    Array.from({ length }, (_, level) => [
      `f${level}`,
      { defaultValue: true, rules: level === length - 1 ? [] : [gate(`f${level + 1}`)] },
    ]),
  );

describe('a prerequisite', () => {
  const parent = { defaultValue: false, rules: [{ condition: { country: 'DE' }, force: true }] };
  const inGermany = { attributes: { id: 'user-1', country: 'DE' } };

  test('that is a gate blocks the whole feature', () => {
    const features = { parent, f: { defaultValue: 1, rules: [gate('parent'), { force: 2 }] } };
    expect(evaluate(features, 'f')).toEqual({ value: null, on: false, off: true, source: 'prerequisite', ruleId: '' });
    expect(evaluate(features, 'f', inGermany).value).toBe(2);
  });

  test('of a rule skips only the rule', () => {
    const parentConditions: ParentCondition[] = [{ id: 'parent', condition: { value: true } }];
    const features = { parent, f: { defaultValue: 1, rules: [{ parentConditions, force: 2 }, { force: 3 }] } };
    expect(evaluate(features, 'f').value).toBe(3);
    expect(evaluate(features, 'f', inGermany).value).toBe(2);
  });

  test('that is not in the payload has the value null', () => {
    expect(evaluate({ f: { defaultValue: 1, rules: [gate('missing')] } }, 'f').source).toBe('prerequisite');
    const isNull: FeatureRule = { parentConditions: [{ id: 'missing', condition: { value: null } }], force: 2 };
    expect(evaluate({ f: { defaultValue: 1, rules: [isNull] } }, 'f').value).toBe(2);
  });

  test('that is local has its local value', () => {
    const features = { parent, f: { defaultValue: 1, rules: [gate('parent'), { force: 2 }] } };
    expect(evaluate(features, 'f', { forcedFeatures: new Map([['parent', true]]) }).value).toBe(2);
  });

  test('that leads back gives null from cyclicPrerequisite, all the way up', () => {
    const features = {
      a: { defaultValue: 1, rules: [gate('b')] },
      b: { defaultValue: true, rules: [gate('c')] },
      c: { defaultValue: true, rules: [gate('b')] },
      self: { defaultValue: 1, rules: [gate('self')] },
      beside: { defaultValue: 1 },
    };
    const sources = Object.keys(features).map((key) => evaluate(features, key).source);
    const cyclic = 'cyclicPrerequisite';
    expect(sources).toEqual([cyclic, cyclic, cyclic, cyclic, 'defaultValue']);
  });

  test('may be asked for several times, and by several features on the way', () => {
    const features = {
      top: { defaultValue: 1, rules: [gate('left'), gate('right'), gate('left'), { force: 2 }] },
      left: { defaultValue: true, rules: [gate('bottom')] },
      right: { defaultValue: true, rules: [gate('bottom')] },
      bottom: { defaultValue: true },
    };
    expect(evaluate(features, 'top').value).toBe(2);
  });

  test('that is shared by features which are shared themselves costs each feature one evaluation', () => {
    // Without keeping results this takes 2^60 evaluations.
    const features = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => [
        `f${level}`,
        { defaultValue: true, rules: level === 59 ? [] : [gate(`f${level + 1}`), gate(`f${level + 1}`)] },
      ]),
    );
    expect(evaluate(features, 'f0').value).toBe(true);
  });

  test('at the end of a chain without end counts as cyclic', () => {
    expect(evaluate(chain(1000), 'f0').value).toBe(true);
    expect(evaluate(chain(MAX_PREREQUISITE_DEPTH), 'f0').source).toBe('defaultValue');
    expect(evaluate(chain(MAX_PREREQUISITE_DEPTH + 1), 'f0').source).toBe('cyclicPrerequisite');
    expect(evaluate(chain(100_000), 'f0').source).toBe('cyclicPrerequisite');
  });
});
