import type { ForceRule } from '../feature.ts';
import type { RuleKind } from '../rule-kinds.ts';
import { refuseConfig } from './config.ts';

/** Serves one value to everyone it targets. */
export const forceRuleKind: RuleKind<ForceRule> = {
  type: 'force',
  admit(input, base, { place }) {
    if (input.type !== 'force') throw new TypeError('not a force rule');
    refuseConfig(input.config, place);
    return {
      ...base,
      type: 'force',
      value: input.value,
      ...(input.sparse === undefined ? {} : { sparse: input.sparse }),
    };
  },
  values: (rule) => [{ name: 'Value', value: rule.value }],
  withValues: (rule, [value = rule.value]) => ({ ...rule, value }),
  isSparse: (rule) => rule.sparse === true,
  hashAttributes: () => [],
  show: ({ value, sparse }) => ({ value, ...(sparse === undefined ? {} : { sparse }) }),
  compile: (rule, { typed }) => ({ force: typed(rule.value, rule.sparse === true) }),
};
