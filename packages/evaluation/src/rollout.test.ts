import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePayload, type FeatureRule, hash, type JsonValue, type User } from './index.ts';

/** The value that one rule gives, or `default`. */
const serve = (rule: FeatureRule, user: Partial<User> = {}): JsonValue =>
  compilePayload({ features: { f: { defaultValue: 'default', rules: [rule] } } }).evaluate('f', {
    attributes: { id: 'user-1' },
    ...user,
  }).value;

const slices = (...ranges: [number, number][]) => [{ seed: 'ns', ranges }];
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe('a rollout', () => {
  test('of coverage 0 includes nobody, not even a bucket of 0', () => {
    const inBucketZero = Array.from({ length: 50_000 }, (_, index) => `u${index}`).find((id) => hash('s', id, 2) === 0);
    expect(inBucketZero).toBeDefined();
    const attributes = { id: inBucketZero };
    expect(serve({ force: 'in', coverage: 0, seed: 's', hashVersion: 2 }, { attributes })).toBe('default');
    expect(serve({ force: 'in', coverage: 0.0001, seed: 's', hashVersion: 2 }, { attributes })).toBe('in');
  });

  test('of coverage 1 includes everybody who has the attribute', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.constantFrom(1, 2), (id, hashVersion) => {
        expect(serve({ force: 'in', coverage: 1, hashVersion }, { attributes: { id } })).toBe('in');
      }),
    );
    for (const id of [undefined, '', 0, null, false, Number.NaN]) {
      expect(serve({ force: 'in', coverage: 1 }, { attributes: { id } })).toBe('default');
    }
  });

  test('includes its boundary', () => {
    const bucket = hash('s', 'user-1', 2) ?? Number.NaN;
    expect(serve({ force: 'in', coverage: bucket, seed: 's', hashVersion: 2 })).toBe('in');
    expect(serve({ force: 'in', coverage: bucket - 0.0001, seed: 's', hashVersion: 2 })).toBe('default');
  });

  test('never loses anyone when its coverage is raised', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), share, share, fc.constantFrom(1, 2), (id, one, other, hashVersion) => {
        const at = (coverage: number) =>
          serve({ force: 'in', coverage, hashVersion, seed: 's' }, { attributes: { id } });
        const [before, after] = [at(Math.min(one, other)), at(Math.max(one, other))];
        expect([before === 'default', after === 'in']).toContain(true);
      }),
    );
  });

  test('with a range goes by the range, half open, and not by coverage', () => {
    const bucket = hash('f', 'user-1', 1) ?? Number.NaN;
    expect(serve({ force: 'in', range: [bucket, 1], coverage: 0 })).toBe('in');
    expect(serve({ force: 'in', range: [0, bucket], coverage: 1 })).toBe('default');
  });

  test('hashes with version 1 under the feature id unless it says otherwise', () => {
    const bucket = hash('f', 'user-1', 1) ?? Number.NaN;
    expect(serve({ force: 'in', coverage: bucket })).toBe('in');
    expect(serve({ force: 'in', coverage: bucket - 0.001 })).toBe('default');
  });

  test('of an unknown hash version includes nobody', () => {
    expect(serve({ force: 'in', coverage: 1, hashVersion: 99 })).toBe('default');
  });

  test('falls back to another attribute only where sticky bucketing is active', () => {
    const rule: FeatureRule = { force: 'in', coverage: 1, fallbackAttribute: 'deviceId' };
    const attributes = { deviceId: 'd1' };
    expect(serve(rule, { attributes })).toBe('default');
    expect(serve(rule, { attributes, stickyBucketAssignmentDocs: {} })).toBe('in');
    const disabled = { ...rule, disableStickyBucketing: true };
    expect(serve(disabled, { attributes, stickyBucketAssignmentDocs: {} })).toBe('default');
  });
});

describe('a filter', () => {
  test('takes only users who lie in one of its ranges', () => {
    const bucket = hash('ns', 'user-1', 2) ?? Number.NaN;
    expect(serve({ force: 'in', filters: slices([0, 0.0001], [bucket, 1]) })).toBe('in');
    expect(serve({ force: 'in', filters: slices([0, bucket]) })).toBe('default');
    expect(serve({ force: 'in', filters: slices([0, 1]) }, { attributes: {} })).toBe('default');
    expect(serve({ force: 'in', filters: [{ seed: 'ns', hashVersion: 9, ranges: [[0, 1]] }] })).toBe('default');
  });
});
