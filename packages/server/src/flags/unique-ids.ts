import { type RuleScope, ruleIdStem } from './feature.ts';

/** Gives each rule an id of its own: a second one of the same id gets its stem with where it applies and a number. */
export function withUniqueIds<Rule extends RuleScope & { readonly id: string }>(rules: readonly Rule[]): Rule[] {
  const taken = new Set(rules.map(({ id }) => id));
  const seen = new Set<string>();
  const numbers = new Map<string, number>();
  return rules.map((rule) => {
    if (!seen.has(rule.id)) {
      seen.add(rule.id);
      return rule;
    }
    const stem = `${ruleIdStem(rule.id)}__${scopeHint(rule)}`;
    let number = numbers.get(stem) ?? 2;
    while (taken.has(`${stem}__${number}`)) number++;
    numbers.set(stem, number + 1);
    const id = `${stem}__${number}`;
    taken.add(id);
    seen.add(id);
    return { ...rule, id };
  });
}

function scopeHint({ allEnvironments, environments }: RuleScope): string {
  if (allEnvironments) return 'all';
  const [only] = environments;
  return environments.length === 1 && only !== undefined ? only : 'dup';
}
