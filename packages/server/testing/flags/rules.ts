import * as fc from 'fast-check';
import type { RuleScope, StoredRule } from '../../src/flags/feature.ts';
import { force, inlineExperiment, rollout } from './states.ts';

const schedule = [
  { timestamp: null, enabled: true },
  { timestamp: '2030-01-01T00:00:00.000Z', enabled: false },
];

/** What rules say alike; few values, so that some of many rules are the same. */
const anyCommon = fc.record(
  {
    description: fc.constantFrom('', 'why'),
    condition: fc.constantFrom('', '{"a":1}'),
    enabled: fc.boolean(),
    scheduleRules: fc.constantFrom([], schedule),
    prerequisites: fc.constantFrom([], [{ id: 'parent', condition: '{"value":true}' }]),
  },
  { requiredKeys: [] },
);

const anyExperiment = fc.record(
  {
    fallbackAttribute: fc.constant('deviceId'),
    disableStickyBucketing: fc.boolean(),
    bucketVersion: fc.nat(2),
    minBucketVersion: fc.nat(2),
    coverage: fc.constantFrom(0, 0.5, 1),
    namespace: fc.constant({ enabled: true, name: 'checkout', range: [0, 0.5] as [number, number] }),
  },
  { requiredKeys: [] },
);

/** A rule of any type that is written into features, for everyone everywhere. */
export const anyRule: fc.Arbitrary<StoredRule> = fc.oneof(
  fc
    .tuple(anyCommon, fc.constantFrom('true', 'false'), fc.constantFrom({}, { sparse: true }))
    .map(([more, value, sparse]) => force({ ...more, value, ...sparse })),
  fc.tuple(anyCommon, fc.constantFrom(0, 0.5)).map(([more, coverage]) => rollout({ ...more, coverage })),
  fc.tuple(anyCommon, anyExperiment).map(([more, experiment]) => inlineExperiment({ ...more, ...experiment })),
);

/** Where a rule may apply among these environments and projects. */
export const anyScope = (environments: readonly string[], projects: readonly string[]): fc.Arbitrary<RuleScope> =>
  fc.record({
    allEnvironments: fc.boolean(),
    environments: fc.subarray([...environments]),
    allProjects: fc.boolean(),
    projects: fc.subarray([...projects]),
  });
