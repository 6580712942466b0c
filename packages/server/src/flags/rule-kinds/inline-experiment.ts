import type { NamespaceValue } from '@halyard/contract';
import type { Filter, NamespaceSlice } from '@halyard/evaluation';
import { invalid } from '../../platform/index.ts';
import { sent } from '../../resources/index.ts';
import type { InlineExperimentRule, StoredNamespace } from '../feature.ts';
import type { RuleKind } from '../rule-kinds.ts';

const clamped = (share: number): number => Math.min(1, Math.max(0, share));
const fourDecimals = (share: number): number => Math.round(share * 10_000) / 10_000;

/** An experiment written into the rule itself. It comes in through the v1 interface. */
export const inlineExperimentRuleKind: RuleKind<InlineExperimentRule> = {
  type: 'experiment',
  admit(input, base, { feature, place }) {
    if (input.type !== 'experiment') throw new TypeError('not an inline experiment');
    const { hashAttribute, fallbackAttribute, disableStickyBucketing, bucketVersion, minBucketVersion } = input;
    const { namespace, coverage } = input;
    if (namespace !== undefined) checkRange(namespace, place);
    return {
      ...base,
      type: 'experiment',
      trackingKey: input.trackingKey || feature,
      ...sent({ hashAttribute, fallbackAttribute, disableStickyBucketing, bucketVersion, minBucketVersion }),
      ...sent({ namespace, coverage }),
      values: (input.values ?? input.value ?? []).map(({ value, weight, name }) => ({
        value,
        weight,
        ...sent({ name }),
      })),
    };
  },
  values: (rule) => rule.values.map(({ value }, index) => ({ name: `Variation ${index + 1}`, value })),
  withValues: (rule, values) => ({
    ...rule,
    values: rule.values.map((variation, index) => ({ ...variation, value: values[index] ?? variation.value })),
  }),
  isSparse: () => false,
  hashAttributes: ({ hashAttribute, fallbackAttribute }) => [hashAttribute ?? [], fallbackAttribute ?? []].flat(),
  show: ({ values, namespace, coverage, trackingKey, ...rule }) => ({
    trackingKey,
    ...(rule.hashAttribute === undefined ? {} : { hashAttribute: rule.hashAttribute }),
    ...(rule.fallbackAttribute === undefined ? {} : { fallbackAttribute: rule.fallbackAttribute }),
    ...(rule.disableStickyBucketing === undefined ? {} : { disableStickyBucketing: rule.disableStickyBucketing }),
    ...(rule.bucketVersion === undefined ? {} : { bucketVersion: rule.bucketVersion }),
    ...(rule.minBucketVersion === undefined ? {} : { minBucketVersion: rule.minBucketVersion }),
    ...(namespace === undefined ? {} : { namespace: shownNamespace(namespace) }),
    coverage: coverage ?? 1,
    value: values.map((variation) => ({ ...variation })),
  }),
  compile({ values, ...rule }, { typed, feature, includeNames }) {
    if (values.length === 0) return null;
    return {
      variations: values.map(({ value }) => typed(value, false)),
      coverage: rule.coverage ?? 1,
      weights: values.map(({ weight }) => fourDecimals(clamped(weight))),
      meta: values.map(({ name }, index) => ({ key: String(index), ...(includeNames && name ? { name } : {}) })),
      key: rule.trackingKey || feature,
      ...(rule.hashAttribute ? { hashAttribute: rule.hashAttribute } : {}),
      ...(rule.fallbackAttribute ? { fallbackAttribute: rule.fallbackAttribute } : {}),
      ...(rule.disableStickyBucketing ? { disableStickyBucketing: true } : {}),
      ...(rule.bucketVersion ? { bucketVersion: rule.bucketVersion } : {}),
      ...(rule.minBucketVersion ? { minBucketVersion: rule.minBucketVersion } : {}),
      ...(rule.namespace?.enabled === true ? compiledNamespace(rule.namespace, rule.hashAttribute) : {}),
    };
  },
};

function checkRange({ enabled, range: [from = 0, to = 1] }: NamespaceValue, place: string): void {
  if (enabled && !(from >= 0 && from < to && to <= 1)) {
    throw invalid(`The namespace of ${place} must have a range from 0 to 1 that is not empty, such as [0, 0.5].`);
  }
}

const rangesOf = ({ range, ranges }: StoredNamespace): [number, number][] =>
  (ranges ?? (range === undefined ? [] : [range])).map(([from = 0, to = 1]) => [Number(from), Number(to)]);

const shownNamespace = (namespace: StoredNamespace) => ({
  enabled: namespace.enabled,
  name: namespace.name,
  range: rangesOf(namespace)[0] ?? [0, 1],
});

/** By the shape of the value: one range goes into `namespace`, several into `filters`. */
function compiledNamespace(
  namespace: StoredNamespace,
  hashAttribute: string | undefined,
): { namespace: NamespaceSlice } | { filters: Filter[] } {
  const ranges = rangesOf(namespace);
  const [first] = ranges;
  if (namespace.ranges === undefined && first !== undefined) {
    return { namespace: [namespace.name, first[0], first[1]] };
  }
  const attribute = namespace.hashAttribute || hashAttribute || 'id';
  return { filters: [{ attribute, seed: namespace.name, hashVersion: namespace.hashVersion || 2, ranges }] };
}
