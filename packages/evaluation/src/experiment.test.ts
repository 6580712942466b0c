import { describe, expect, test } from 'vitest';
import {
  compilePayload,
  type EvaluablePayload,
  type Experiment,
  type ExperimentResult,
  hash,
  type User,
} from './index.ts';

const features: EvaluablePayload['features'] = {
  on: { defaultValue: true },
  off: { defaultValue: false },
  cyclic: { defaultValue: 1, rules: [{ parentConditions: [{ id: 'cyclic', condition: {} }], force: 1 }] },
};

/** Everybody who is in gets the treatment. */
const experiment: Experiment = { key: 'test', variations: ['control', 'treatment'], weights: [0, 1], hashVersion: 2 };

function run(change: Partial<Experiment> = {}, user: Partial<User> = {}): ExperimentResult {
  const { run: runExperiment } = compilePayload({ features });
  return runExperiment({ ...experiment, ...change }, { attributes: { id: 'user-1' }, ...user });
}

const isIn = (change: Partial<Experiment> = {}, user: Partial<User> = {}) => run(change, user).inExperiment;

const failing = () => {
  throw new Error('broken');
};

describe('running an experiment', () => {
  test('gives the variation of the bucket', () => {
    expect(run()).toEqual({
      key: '1',
      featureId: null,
      inExperiment: true,
      hashUsed: true,
      variationId: 1,
      value: 'treatment',
      hashAttribute: 'id',
      hashValue: 'user-1',
      stickyBucketUsed: false,
      bucket: hash('test', 'user-1', 2),
    });
  });

  test('gives a user who is out the content of variation 0', () => {
    expect(run({ active: false, meta: [{ key: 'c', name: 'Control' }, {}] })).toEqual({
      key: 'c',
      name: 'Control',
      featureId: null,
      inExperiment: false,
      hashUsed: false,
      variationId: 0,
      value: 'control',
      hashAttribute: 'id',
      hashValue: 'user-1',
      stickyBucketUsed: false,
    });
  });

  test('names the variation as its meta says', () => {
    const meta = [{}, { key: 't', name: 'Treatment', passthrough: true }];
    expect(run({ meta })).toMatchObject({ key: 't', name: 'Treatment', passthrough: true });
  });

  test('leaves out: fewer than two variations, evaluation switched off, drafts, inactive and stopped ones, QA mode', () => {
    expect(isIn({ variations: ['one'] })).toBe(false);
    expect(isIn({}, { enabled: false })).toBe(false);
    expect(isIn({ status: 'draft' })).toBe(false);
    expect(isIn({ active: false })).toBe(false);
    expect(isIn({ status: 'stopped' })).toBe(false);
    expect(isIn({}, { qaMode: true })).toBe(false);
  });

  test('leaves out users without the hash attribute, and those whom the hash version does not reach', () => {
    for (const id of [undefined, null, '', 0, false, Number.NaN]) expect(isIn({}, { attributes: { id } })).toBe(false);
    expect(isIn({ hashVersion: 3 })).toBe(false);
    expect(isIn({ hashAttribute: 'company' })).toBe(false);
    expect(isIn({ hashAttribute: 'company' }, { attributes: { company: 5 } })).toBe(true);
  });

  test('leaves out users whom condition, prerequisites, namespace or filters exclude', () => {
    expect(isIn({ condition: { id: 'other' } })).toBe(false);
    expect(isIn({ parentConditions: [{ id: 'off', condition: { value: true } }] })).toBe(false);
    expect(isIn({ parentConditions: [{ id: 'on', condition: { value: true } }] })).toBe(true);
    expect(isIn({ parentConditions: [{ id: 'cyclic', condition: {} }] })).toBe(false);
    expect(isIn({ namespace: ['ns', 0, 0] })).toBe(false);
    expect(isIn({ namespace: ['ns', 0, 1] })).toBe(true);
    expect(isIn({ filters: [{ seed: 'ns', ranges: [[0, 0]] }] })).toBe(false);
  });

  test('looks at the namespace only where there are no filters', () => {
    expect(isIn({ filters: [{ seed: 'ns', ranges: [[0, 1]] }], namespace: ['ns', 0, 0] })).toBe(true);
  });

  test('leaves out users beyond coverage, with a bucket in no range, and beyond the variations', () => {
    expect(isIn({ coverage: 0 })).toBe(false);
    expect(isIn({ ranges: [] })).toBe(false);
    const tooMany: Partial<Experiment> = {
      ranges: [
        [0, 0],
        [0, 0],
        [0, 1],
      ],
    };
    expect(run(tooMany)).toMatchObject({ inExperiment: false, hashUsed: false, variationId: 0 });
  });

  test('takes ranges before coverage and weights', () => {
    expect(
      run({
        ranges: [
          [0, 1],
          [0, 0],
        ],
        coverage: 0,
      }),
    ).toMatchObject({ variationId: 0, inExperiment: true });
  });

  test('gives a forced variation before anything is asked of the user', () => {
    const user = { attributes: {}, forcedVariations: { test: 1 }, qaMode: true };
    expect(run({ active: false, condition: { id: 'other' } }, user)).toMatchObject({
      value: 'treatment',
      inExperiment: true,
      hashUsed: false,
    });
    expect(isIn({}, { ...user, enabled: false })).toBe(false);
  });

  test('takes a forced variation that is none for control, not in the experiment [flags M104]', () => {
    for (const index of [-1, 2, 99, 0.5, Number.NaN, null] as number[]) {
      const control = { variationId: 0, value: 'control', key: '0', inExperiment: false, hashUsed: false };
      expect(run({}, { forcedVariations: { test: index } })).toMatchObject(control);
      expect(run({ force: index })).toMatchObject(control);
    }
  });

  test('does not take what every object inherits for a forced variation', () => {
    expect(run({ key: 'constructor' }, { forcedVariations: {} })).toMatchObject({ inExperiment: true, hashUsed: true });
  });

  test('lets the address ask for a variation first of all', () => {
    const user = { url: 'https://example.com/?test=0', forcedVariations: { test: 1 } };
    expect(run({ active: false }, user)).toMatchObject({ variationId: 0, inExperiment: true, hashUsed: false });
  });

  test('forces the variation of a released experiment only on users who would be in', () => {
    expect(run({ force: 0 })).toMatchObject({ variationId: 0, inExperiment: true, hashUsed: false });
    expect(isIn({ force: 0, coverage: 0 })).toBe(false);
    expect(isIn({ force: 0, condition: { id: 'other' } })).toBe(false);
    expect(isIn({ force: 0 }, { qaMode: true })).toBe(true);
  });

  test('runs only on the addresses it is limited to, and nowhere without an address', () => {
    const urlPatterns = [{ include: true, type: 'simple', pattern: '/shop/*' } as const];
    expect(isIn({ urlPatterns }, { url: 'https://example.com/shop/cart' })).toBe(true);
    expect(isIn({ urlPatterns }, { url: 'https://example.com/' })).toBe(false);
    expect(isIn({ urlPatterns })).toBe(false);
    expect(isIn({ urlPatterns: [] }, { url: 'https://example.com/' })).toBe(false);
  });

  test('heeds the old ways to include users: a function, groups, and an expression on the address', () => {
    expect(isIn({ include: () => true })).toBe(true);
    expect(isIn({ include: () => false })).toBe(false);
    expect(isIn({ include: failing })).toBe(false);
    expect(isIn({ groups: ['beta'] })).toBe(false);
    expect(isIn({ groups: ['beta'] }, { groups: { beta: true } })).toBe(true);
    expect(isIn({ groups: ['constructor'] }, { groups: {} })).toBe(false);
    expect(isIn({ url: /shop/ }, { url: 'https://example.com/shop' })).toBe(true);
    expect(isIn({ url: /shop/ }, { url: 'https://example.com/' })).toBe(false);
    expect(isIn({ url: /shop/ })).toBe(false);
  });

  test('merges local changes over the experiment, also over one in a feature', () => {
    const experimentOverrides = { test: { weights: [1, 0] } };
    expect(run({}, { experimentOverrides }).variationId).toBe(0);
    expect(isIn({}, { experimentOverrides: { test: { status: 'stopped' } } })).toBe(false);
    expect(isIn({}, { experimentOverrides: { other: { status: 'stopped' } } })).toBe(true);
    const { evaluate } = compilePayload({ features: { f: { defaultValue: '', rules: [experiment] } } });
    expect(evaluate('f', { attributes: { id: 'user-1' }, experimentOverrides }).value).toBe('control');
  });
});
