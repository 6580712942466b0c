import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyRule, anyScope } from '../../testing/flags/rules.ts';
import { statesOf } from '../../testing/flags/states.ts';
import { readerOf } from '../record/index.ts';
import { featureKind, type StoredRule } from './feature.ts';
import { ruleKinds } from './rule-kinds.ts';
import { showContext, showFeature, showFeatureV1 } from './show.ts';

const everyRule = ['type', 'id', 'description', 'condition', 'enabled', 'scheduleRules', 'scheduleType'];
const common = [...everyRule, 'savedGroupTargeting', 'prerequisites', 'allProjects', 'projects'];
const scope = ['allEnvironments', 'environments'];
const inline = ['hashAttribute', 'fallbackAttribute', 'disableStickyBucketing', 'bucketVersion', 'minBucketVersion'];
/** What an answer may say of a rule of each type, beside what it says of every rule. */
const own: Record<string, string[]> = {
  force: ['value', 'sparse'],
  rollout: ['value', 'sparse', 'coverage', 'hashAttribute', 'seed', 'hashVersion'],
  experiment: ['trackingKey', ...inline, 'namespace', 'coverage', 'value'],
};

const anyPlacedRule: fc.Arbitrary<StoredRule> = fc
  .tuple(anyRule, anyScope(['production'], ['prj_a']))
  .map(([rule, where]) => ({ ...rule, ...where }));

const members = { emailOf: () => undefined, idOf: () => undefined };

describe('showing a feature', () => {
  test('a rule says what the interface has for its type, in the v1 and the v2 shape, and no nulls beside the instants of schedules [flags M112]', () => {
    fc.assert(
      fc.property(fc.array(anyPlacedRule, { minLength: 1, maxLength: 4 }), (rules) => {
        const states = statesOf({ features: { flag: { rules } } });
        const context = showContext({ kinds: ruleKinds([]) }, { members }, readerOf(states));
        const [live] = readerOf(states).all(featureKind);
        if (live === undefined) throw new Error('There is one feature.');
        const v2 = showFeature(live, context).rules.map((rule) => ({ rule, more: scope }));
        const v1 = Object.values(showFeatureV1(live, context).environments).flatMap((environment) =>
          environment.rules.map((rule) => ({ rule, more: [] as string[] })),
        );
        expect(v2).toHaveLength(rules.length);
        for (const { rule, more } of [...v2, ...v1]) {
          const known = new Set([...common, ...more, ...(own[rule.type] ?? [])]);
          expect(Object.keys(rule).filter((key) => !known.has(key))).toEqual([]);
          const { scheduleRules: _, ...rest } = rule;
          expect(JSON.stringify(rest)).not.toContain('null');
        }
      }),
    );
  });
});
