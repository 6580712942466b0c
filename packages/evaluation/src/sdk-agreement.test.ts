import { evalCondition, isURLTargeted, GrowthBookClient as SdkClient } from '@growthbook/growthbook';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EvaluationCase, evaluationCase, experimentCase, type UserCase } from '../testing/case-arbitraries.ts';
import {
  attributes,
  condition,
  conditionWithoutElemMatch,
  emptyElements,
  savedGroups,
} from '../testing/condition-arbitraries.ts';
import { FEATURE_KEYS } from '../testing/payload-arbitraries.ts';
import { address, urlTargets } from '../testing/url-arbitraries.ts';
import {
  compilePayload,
  compileUrlTargets,
  type Experiment,
  evaluateCondition,
  recordExperiments,
  type StickyBucketDocument,
  stickyBucketKey,
  type User,
} from './index.ts';

/**
 * The published JavaScript SDK is the judge: what a user gets from it, the user must get from us, in every field.
 * Agreement is asked for on payloads as the service compiles them. Where SDK and specification disagree, the vectors
 * and then the specification decide; the generator leaves these places out and says so where it does
 * (testing/*-arbitraries.ts), and tests of their own state what we do there:
 *
 * - `?key=1.5` and `?key=1x`: the SDK takes variation 1, the specification asks for an integer.
 * - URL targets and a user without an address: the SDK lets the user in, the specification says "not matched".
 * - An unknown feature named like a member of every object (`constructor`): the SDK finds one.
 * - `$elemMatch` over 0, `""` and `false`: the SDK tests such elements, the specification says they never match.
 * - Sticky buckets of an experiment on another attribute than `id` and without a fallback attribute: the SDK uses the
 *   documents of `id`, the specification never those of another attribute.
 * - Malformed conditions (`$and: {}`, `$elemMatch: null`): the SDK lets everybody in or throws.
 * - More ranges than variations, equal variation keys, forced indexes that are no integers: the SDK reports
 *   variations that do not exist or changes the variation of sticky users.
 */
/** `AGREEMENT_RUNS` and `AGREEMENT_SEED` ask for more, and for other cases. */
const RUNS = Number(process.env['AGREEMENT_RUNS'] ?? 2000);
const seed = Number(process.env['AGREEMENT_SEED'] ?? 20_260_131);

describe('the published JavaScript SDK and the compiled evaluator agree', () => {
  // The SDK reports each unknown operator and invalid pattern; the generator makes some on purpose.
  beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
  afterAll(() => void vi.restoreAllMocks());

  test('on every condition', () => {
    fc.assert(
      fc.property(attributes, condition, savedGroups, (subject, test, groups) => {
        expect(evaluateCondition(subject, test, groups)).toBe(evalCondition(subject, test, mutable(groups)));
      }),
      { seed, numRuns: RUNS * 5 },
    );
  });

  test('on conditions without $elemMatch over lists with empty elements', () => {
    fc.assert(
      fc.property(emptyElements, conditionWithoutElemMatch, savedGroups, (subject, test, groups) => {
        expect(evaluateCondition(subject, test, groups)).toBe(evalCondition(subject, test, mutable(groups)));
      }),
      { seed, numRuns: RUNS },
    );
  });

  test('on every field of every feature result, on the experiments tracked and on the sticky buckets saved', () => {
    fc.assert(
      fc.property(evaluationCase, (given) => {
        for (const featureKey of [...FEATURE_KEYS, 'unknownFeature']) {
          expect(evaluateWithUs(given, featureKey)).toEqual(evaluateWithPeer(given, featureKey));
        }
      }),
      { seed, numRuns: RUNS },
    );
  });

  test('on every address and list of URL targets', () => {
    fc.assert(
      fc.property(address, urlTargets, (url, targets) => {
        expect(compileUrlTargets(targets)(url)).toBe(isURLTargeted(url, mutable(targets)));
      }),
      { seed, numRuns: RUNS },
    );
  });

  test('on every field of the result of an experiment outside of a payload', () => {
    fc.assert(
      fc.property(experimentCase, ({ given, experiment }) => {
        expect(runWithUs(given, experiment)).toEqual(runWithPeer(given, experiment));
      }),
      { seed, numRuns: RUNS },
    );
  });
});

function evaluateWithUs(given: EvaluationCase, featureKey: string): unknown {
  const { user, tracked, documents } = ourUser(given.user);
  return asJson({ result: compilePayload(given).evaluate(featureKey, user), tracked, documents });
}

function evaluateWithPeer(given: EvaluationCase, featureKey: string): unknown {
  const { user, tracked, documents } = peerUser(given.user);
  return asJson({ result: peerClient(given).evalFeature(featureKey, user), tracked, documents });
}

function runWithUs(given: EvaluationCase, experiment: Experiment): unknown {
  const { user, tracked, documents } = ourUser(given.user);
  return asJson({ result: compilePayload(given).run(experiment, user), tracked, documents });
}

function runWithPeer(given: EvaluationCase, experiment: Experiment): unknown {
  const { user, tracked, documents } = peerUser(given.user);
  return asJson({ result: peerClient(given).runInlineExperiment(mutable(experiment), user), tracked, documents });
}

function ourUser(given: UserCase) {
  const documents = documentsOf(given);
  const recorder = recordExperiments();
  const user: User = {
    attributes: given.attributes,
    url: given.url,
    forcedVariations: given.forcedVariations,
    forcedFeatures: new Map(given.forcedFeatures),
    qaMode: given.qaMode,
    enabled: given.enabled,
    trackExperiment: recorder.track,
    ...(given.stickyBuckets !== null && {
      stickyBucketAssignmentDocs: documents,
      saveStickyBucketDocument(document: StickyBucketDocument) {
        documents[stickyBucketKey(document.attributeName, document.attributeValue)] = document;
      },
    }),
  };
  return { user, tracked: recorder.entered, documents };
}

function peerUser(given: UserCase) {
  const documents = documentsOf(given);
  const recorder = recordExperiments();
  const user = {
    attributes: { ...given.attributes },
    url: given.url,
    forcedVariations: { ...given.forcedVariations },
    forcedFeatureValues: new Map(given.forcedFeatures),
    qaMode: given.qaMode,
    enabled: given.enabled,
    // The SDK takes the bandit's leaf out of the experiment after tracking it; the recorder keeps what it was told.
    trackingCallback: (experiment: object, result: object) =>
      recorder.track(structuredClone(experiment) as never, structuredClone(result) as never),
    ...(given.stickyBuckets !== null && {
      stickyBucketAssignmentDocs: documents,
      saveStickyBucketAssignmentDoc: async () => {},
    }),
  };
  return { user, tracked: recorder.entered, documents };
}

function documentsOf(given: UserCase): Record<string, StickyBucketDocument> {
  const documents = given.stickyBuckets ?? [];
  return Object.fromEntries(
    documents.map((document) => [stickyBucketKey(document.attributeName, document.attributeValue), document]),
  );
}

function peerClient({ features, savedGroups, contextualBandits }: EvaluationCase): SdkClient {
  return new SdkClient().initSync({ payload: mutable({ features, savedGroups, contextualBandits }) });
}

/** A copy in the SDK's types, which are our types without `readonly`. */
function mutable(value: unknown): never {
  return structuredClone(value) as never;
}

/** `undefined` counts as absent. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
