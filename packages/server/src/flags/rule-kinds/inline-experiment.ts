import { sent } from '../../resources/index.ts';
import { admitNamespace, compiledNamespace, shownNamespace } from '../../targeting/index.ts';
import type { InlineExperimentRule } from '../feature.ts';
import type { RuleKind } from '../rule-kinds.ts';

const clamped = (share: number): number => Math.min(1, Math.max(0, share));
const fourDecimals = (share: number): number => Math.round(share * 10_000) / 10_000;

/** An experiment written into the rule itself. It comes in through the v1 interface. */
export const inlineExperimentRuleKind: RuleKind<InlineExperimentRule> = {
  type: 'experiment',
  admit(input, base, { feature, stored, states, place }) {
    if (input.type !== 'experiment') throw new TypeError('not an inline experiment');
    const { hashAttribute, fallbackAttribute, disableStickyBucketing, bucketVersion, minBucketVersion } = input;
    const { namespace, coverage } = input;
    return {
      ...base,
      type: 'experiment',
      trackingKey: input.trackingKey || feature,
      ...sent({ hashAttribute, fallbackAttribute, disableStickyBucketing, bucketVersion, minBucketVersion }),
      ...sent({ coverage }),
      ...(namespace === undefined ? {} : { namespace: admitNamespace(namespace, stored?.namespace, states, place) }),
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
  hashAttributes: ({ hashAttribute, fallbackAttribute }) => [hashAttribute || [], fallbackAttribute || []].flat(),
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
  compile({ values, namespace, ...rule }, { typed, feature, namespaceOf }) {
    if (values.length === 0) return null;
    return {
      variations: values.map(({ value }) => typed(value, false)),
      coverage: rule.coverage ?? 1,
      weights: values.map(({ weight }) => fourDecimals(clamped(weight))),
      meta: values.map(({ name }, index) => ({ key: String(index), ...(name ? { name } : {}) })),
      key: rule.trackingKey || feature,
      ...(rule.hashAttribute ? { hashAttribute: rule.hashAttribute } : {}),
      ...(rule.fallbackAttribute ? { fallbackAttribute: rule.fallbackAttribute } : {}),
      ...(rule.disableStickyBucketing ? { disableStickyBucketing: true } : {}),
      ...(rule.bucketVersion ? { bucketVersion: rule.bucketVersion } : {}),
      ...(rule.minBucketVersion ? { minBucketVersion: rule.minBucketVersion } : {}),
      ...(namespace?.enabled === true
        ? compiledNamespace(namespace, namespaceOf(namespace.name), rule.hashAttribute)
        : {}),
    };
  },
};
