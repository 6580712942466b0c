import type { FeatureValueType } from '@halyard/contract';
import type { JsonValue } from '@halyard/evaluation';
import { invalid } from '../platform/index.ts';
import type { FeatureContent, StoredRule } from './feature.ts';
import type { RuleKinds } from './rule-kinds.ts';
import { misfits } from './value-schema.ts';
import { normalValue, overlaid, typedValue } from './values.ts';

const defaultName = 'The default value';
const nameIn = (rule: StoredRule, index: number, name: string, where = '') =>
  `${name} of rule ${index + 1} ("${rule.id}")${where === '' ? '' : ` ${where}`}`;

/**
 * Rules with their values brought into the form that is stored.
 *
 * @param where the list of which messages number the rules, where there are several
 */
export const withNormalValues = (
  rules: readonly StoredRule[],
  type: FeatureValueType,
  kinds: RuleKinds,
  where?: string,
): StoredRule[] =>
  rules.map((rule, index) => {
    const kind = kinds.get(rule.type);
    if (kind === undefined) return rule;
    const values = kind
      .values(rule)
      .map(({ name, value }) => normalValue(type, value, nameIn(rule, index, name, where)));
    return kind.withValues(rule, values);
  });

export const normalDefault = (type: FeatureValueType, value: string): string => normalValue(type, value, defaultName);

/** Everything the feature can serve, as SDKs would get it, and what messages call it. */
function servedValues(
  content: FeatureContent,
  kinds: RuleKinds,
): { name: string; rule: StoredRule | null; value: JsonValue }[] {
  const base = typedValue(content.valueType, content.defaultValue);
  const ofRules = content.rules.flatMap((rule, index) => {
    const kind = kinds.get(rule.type);
    const sparse = content.valueType === 'json' && kind?.isSparse(rule) === true;
    return (kind?.values(rule) ?? []).map(({ name, value }) => {
      const typed = typedValue(content.valueType, value);
      // A sparse value is a part of a value: only what comes of it can be held against the schema.
      return { name: nameIn(rule, index, name), rule, value: sparse ? overlaid(base, typed) : typed };
    });
  });
  return [{ name: defaultName, rule: null, value: base }, ...ofRules];
}

/**
 * Holds the values of a feature against its schema.
 *
 * @param isSent which of the values the request itself brought; null: the default value
 * @throws Refusal (invalid) when one of those does not fit
 * @returns what is said of those that were there before and do not fit
 */
export async function checkAgainstSchema(
  organization: string,
  content: FeatureContent,
  kinds: RuleKinds,
  isSent: (rule: StoredRule | null) => boolean,
): Promise<string[]> {
  const values = servedValues(content, kinds);
  const own = await misfits(
    organization,
    content.jsonSchema,
    values.filter(({ rule }) => isSent(rule)),
  );
  if (own.length > 0) throw invalid(own.join('\n'));
  return misfits(
    organization,
    content.jsonSchema,
    values.filter(({ rule }) => !isSent(rule)),
  );
}
