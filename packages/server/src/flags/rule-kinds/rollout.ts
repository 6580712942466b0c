import type { RolloutRule } from '../feature.ts';
import type { RuleKind } from '../rule-kinds.ts';
import { refuseConfig } from './config.ts';

/** Serves one value to a share of those it targets, picked by the hash of an attribute. */
export const rolloutRuleKind: RuleKind<RolloutRule> = {
  type: 'rollout',
  admit(input, base, { stored, place }) {
    if (input.type !== 'rollout') throw new TypeError('not a rollout');
    refuseConfig(input.config, place);
    const { value, coverage, hashAttribute, sparse } = input;
    // What is left out stays as it was, also where it was absent: nobody may change buckets because of an edit beside it.
    const hashVersion = input.hashVersion ?? (stored === null ? 2 : stored.hashVersion);
    const seed = input.seed || (stored === null ? base.id : stored.seed);
    return {
      ...base,
      type: 'rollout',
      value,
      coverage,
      hashAttribute,
      ...(sparse === undefined ? {} : { sparse }),
      ...(seed === undefined ? {} : { seed }),
      ...(hashVersion === undefined ? {} : { hashVersion }),
    };
  },
  values: (rule) => [{ name: 'Value', value: rule.value }],
  withValues: (rule, [value = rule.value]) => ({ ...rule, value }),
  isSparse: (rule) => rule.sparse === true,
  hashAttributes: (rule) => [rule.hashAttribute],
  show: ({ value, sparse, coverage, hashAttribute, seed, hashVersion }, feature) => ({
    value,
    ...(sparse === undefined ? {} : { sparse }),
    coverage,
    hashAttribute,
    // Told as they hold, so that whoever sends the rule back keeps everyone's bucket.
    seed: seed ?? feature,
    hashVersion: hashVersion ?? 1,
  }),
  compile(rule, { typed }) {
    // SDKs compare with "at most", so that coverage 0 would let in whoever hashes to exactly 0.
    if (rule.coverage <= 0) return null;
    const force = typed(rule.value, rule.sparse === true);
    if (rule.coverage >= 1) return { force };
    const { coverage, hashAttribute, seed, hashVersion } = rule;
    return {
      force,
      coverage,
      ...(hashAttribute === '' ? {} : { hashAttribute }),
      ...(seed === undefined ? {} : { seed }),
      ...(hashVersion === undefined ? {} : { hashVersion }),
    };
  },
};
