import { ruleIdStem, type StoredRule } from '../feature.ts';
import { type FlatRule, isSameContent } from './flatten.ts';

/** A stored rule, beside lists that replace those of some environments. */
export interface Kept {
  readonly rule: StoredRule;
  /** It can be one with a rule of the lists that is the same. */
  readonly canBeShared: boolean;
  /** The lists replace it wherever it applies. */
  readonly isReplaced: boolean;
}

/**
 * Which stored rule each rule of the lists is: the same one, or what it becomes. Of all that could be, as many as keep the order
 * of both.
 *
 * @returns by index among the rules of the lists, the index among the stored ones
 */
export function aligned(stored: readonly Kept[], flat: readonly FlatRule[]): ReadonlyMap<number, number> {
  const ofStem = groupBy(
    stored.map((kept, index) => ({ ...kept, index })),
    ({ rule }) => ruleIdStem(rule.id),
  );
  const flatOfStem = groupBy(flat, ({ stem }) => stem);
  const used = new Set<number>();
  const pairs: Pair[] = [];
  for (const [index, { stem, rule }] of flat.entries()) {
    const candidates = (ofStem.get(stem) ?? []).filter((kept) => !used.has(kept.index));
    const alike = candidates.filter((kept) => kept.canBeShared && isSameContent(kept.rule, rule));
    const replaced = candidates.filter((kept) => kept.isReplaced);
    const edited = flatOfStem.get(stem)?.length === 1 && replaced.length === 1 ? replaced : [];
    const partner = alike.find((kept) => kept.rule.id === rule.id) ?? alike[0] ?? edited[0];
    if (partner === undefined) continue;
    used.add(partner.index);
    pairs.push({ flat: index, stored: partner.index });
  }
  return new Map(longestRising(pairs).map((pair) => [pair.flat, pair.stored]));
}

interface Pair {
  readonly flat: number;
  readonly stored: number;
}

/** The longest part of the pairs, in their order, in which the stored rules come in their order as well. */
function longestRising(pairs: readonly Pair[]): Pair[] {
  /** The pairs that end the best parts of each length, and what comes before each pair in its part. */
  const ends: Pair[] = [];
  const before = new Map<Pair, Pair | undefined>();
  for (const pair of pairs) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.stored ?? 0) < pair.stored) low = middle + 1;
      else high = middle;
    }
    before.set(pair, ends[low - 1]);
    ends[low] = pair;
  }
  const part: Pair[] = [];
  for (let pair = ends.at(-1); pair !== undefined; pair = before.get(pair)) part.push(pair);
  return part.reverse();
}

function groupBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    groups.set(keyOf(item), group);
    group.push(item);
  }
  return groups;
}
