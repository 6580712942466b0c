import { describe, expect, test } from 'vitest';
import {
  compilePayload,
  type Experiment,
  type ExperimentResult,
  type StickyBucketDocument,
  type StickyBucketDocuments,
  stickyBucketKey,
} from './index.ts';

/** The bucket of everybody who is in gives `red`; sticky users may have `blue`. */
const experiment: Experiment = {
  key: 'colours',
  variations: ['control', 'red', 'blue'],
  meta: [{ key: 'c' }, { key: 'r' }, { key: 'b' }],
  weights: [0, 1, 0],
  fallbackAttribute: 'deviceId',
};

const documentOf = (
  attributeName: string,
  attributeValue: string,
  assignments: StickyBucketDocument['assignments'],
): StickyBucketDocuments => ({
  [stickyBucketKey(attributeName, attributeValue)]: { attributeName, attributeValue, assignments },
});

function run(
  change: Partial<Experiment>,
  documents: StickyBucketDocuments | undefined,
  attributes: Readonly<Record<string, unknown>> = { id: 'u1' },
): ExperimentResult & { readonly saved: readonly StickyBucketDocument[] } {
  const saved: StickyBucketDocument[] = [];
  const result = compilePayload({ features: {} }).run(
    { ...experiment, ...change },
    {
      attributes,
      saveStickyBucketDocument: (document) => saved.push(document),
      ...(documents && { stickyBucketAssignmentDocs: documents }),
    },
  );
  return { ...result, saved };
}

const assigned = (version: number) => documentOf('id', 'u1', { [`colours__${version}`]: 'b' });
const blue = documentOf('id', 'u1', { colours__0: 'b' });

describe('a sticky bucket', () => {
  test('keeps the variation that was assigned before', () => {
    expect(run({}, blue)).toMatchObject({ value: 'blue', stickyBucketUsed: true, inExperiment: true, hashUsed: true });
  });

  test('is neither read nor saved unless sticky bucketing is active', () => {
    expect(run({}, undefined)).toMatchObject({ value: 'red', stickyBucketUsed: false, saved: [] });
    expect(run({ disableStickyBucketing: true }, blue)).toMatchObject({ value: 'red', saved: [] });
  });

  test('outlives condition, prerequisites, namespace and coverage, but not the end of the experiment', () => {
    const narrowed: Partial<Experiment> = {
      condition: { id: 'other' },
      parentConditions: [{ id: 'missing', condition: { value: true } }],
      namespace: ['ns', 0, 0],
      coverage: 0,
    };
    expect(run(narrowed, blue)).toMatchObject({ value: 'blue', stickyBucketUsed: true });
    expect(run({ status: 'stopped' }, blue).inExperiment).toBe(false);
    expect(run({ active: false }, blue).inExperiment).toBe(false);
    expect(run({ force: 0 }, blue)).toMatchObject({ value: 'control', stickyBucketUsed: false });
  });

  test('of an earlier version starts anew', () => {
    expect(run({ bucketVersion: 1 }, blue)).toMatchObject({ value: 'red', stickyBucketUsed: false });
  });

  test('of a version below the minimum keeps the user out of every variation; the minimum itself is allowed [flags M102]', () => {
    const versions = { bucketVersion: 3, minBucketVersion: 3 };
    expect(run(versions, assigned(3))).toMatchObject({ value: 'blue', inExperiment: true, stickyBucketUsed: true });
    for (const version of [0, 1, 2]) {
      expect(run(versions, assigned(version))).toMatchObject({
        variationId: 0,
        inExperiment: false,
        hashUsed: false,
        stickyBucketUsed: true,
        saved: [],
      });
      const { evaluate } = compilePayload({
        features: { f: { defaultValue: 'none', rules: [{ ...experiment, ...versions }] } },
      });
      const result = evaluate('f', { attributes: { id: 'u1' }, stickyBucketAssignmentDocs: assigned(version) });
      expect(result).toMatchObject({ value: 'none', source: 'defaultValue' });
    }
    expect(run(versions, assigned(4))).toMatchObject({ value: 'red', stickyBucketUsed: false });
  });

  test('of a blocked version also counts under the fallback attribute', () => {
    const versions = { bucketVersion: 3, minBucketVersion: 3 };
    const ofDevice = documentOf('deviceId', 'd1', { colours__1: 'b' });
    expect(run(versions, ofDevice, { id: 'u1', deviceId: 'd1' })).toMatchObject({
      inExperiment: false,
      stickyBucketUsed: true,
    });
  });

  test('is found quickly below any minimum', () => {
    const versions = { bucketVersion: 1e15, minBucketVersion: 1e15 };
    expect(run(versions, documentOf('id', 'u1', { colours__999999: 'b' })).inExperiment).toBe(false);
  });

  test('of another device, attribute or value is never used [flags M103]', () => {
    const strangers = [
      documentOf('id', 'u2', { colours__0: 'b' }),
      documentOf('deviceId', 'd2', { colours__0: 'b' }),
      documentOf('company', 'u1', { colours__0: 'b' }),
      documentOf('id', '', { colours__0: 'b' }),
      // Filed under this user's key, but of somebody else.
      { 'id||u1': { attributeName: 'id', attributeValue: 'u2', assignments: { colours__0: 'b' } } },
      { 'id||u1': { attributeName: 'deviceId', attributeValue: 'u1', assignments: { colours__0: 'b' } } },
    ];
    for (const documents of strangers) {
      expect(run({}, documents, { id: 'u1', deviceId: 'd1' })).toMatchObject({ value: 'red', stickyBucketUsed: false });
    }
    const ofId = documentOf('id', 'u1', { colours__0: 'b' });
    const { fallbackAttribute: _, ...withoutFallback } = experiment;
    const attributes = { id: 'u1', company: 'acme' };
    const result = compilePayload({ features: {} }).run(
      { ...withoutFallback, hashAttribute: 'company' },
      { attributes, stickyBucketAssignmentDocs: ofId },
    );
    expect(result).toMatchObject({ value: 'red', stickyBucketUsed: false });
  });

  test('with a variation that the experiment does not have any more counts as none', () => {
    expect(run({}, documentOf('id', 'u1', { colours__0: 'gone' }))).toMatchObject({
      value: 'red',
      saved: [{ assignments: { colours__0: 'r' } }],
    });
  });

  test('of the hash attribute wins over that of the fallback attribute', () => {
    const attributes = { id: 'u1', deviceId: 'd1' };
    const ofDevice = documentOf('deviceId', 'd1', { colours__0: 'c' });
    expect(run({}, { ...ofDevice, ...blue }, attributes)).toMatchObject({ value: 'blue' });
    expect(run({}, ofDevice, attributes)).toMatchObject({
      value: 'control',
      hashAttribute: 'id',
      stickyBucketUsed: true,
    });
  });

  test('is saved under the attribute that was hashed, beside what is there, and only when it changes', () => {
    const before = documentOf('id', 'u1', { other__0: 'x' });
    expect(run({}, before).saved).toEqual([
      { attributeName: 'id', attributeValue: 'u1', assignments: { other__0: 'x', colours__0: 'r' } },
    ]);
    expect(before['id||u1']?.assignments).toEqual({ other__0: 'x' });
    expect(run({}, blue).saved).toEqual([]);
    const ofDevice = run({ bucketVersion: 2 }, {}, { deviceId: 'd1' });
    expect(ofDevice).toMatchObject({ hashAttribute: 'deviceId', hashValue: 'd1' });
    expect(ofDevice.saved).toEqual([
      { attributeName: 'deviceId', attributeValue: 'd1', assignments: { colours__2: 'r' } },
    ]);
  });
});

describe('the documents to load', () => {
  test('are those of the hash and fallback attributes of all experiments, with the values that the user has', () => {
    const { stickyBucketKeys } = compilePayload({
      features: {
        a: { defaultValue: 0, rules: [{ variations: [0, 1], hashAttribute: 'id', fallbackAttribute: 'deviceId' }] },
        b: { defaultValue: 0, rules: [{ contextualVariations: [0, 1], hashAttribute: 'company' }] },
        c: { defaultValue: 0, rules: [{ force: 1, coverage: 0.5, hashAttribute: 'country' }] },
      },
      experiments: [{ key: 'auto', variations: [{}, {}], hashAttribute: 'session' }],
    });
    const attributes = { id: 5, deviceId: 'd1', country: 'DE', session: 's', company: '' };
    expect(stickyBucketKeys({ attributes })).toEqual(['id||5', 'deviceId||d1', 'session||s']);
  });
});
