import { ruleIdStem, type StoredRule } from '../feature.ts';
import { countBy, type FlatRule } from './flatten.ts';

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
  const indexed = stored.map((kept, index) => ({ ...kept, index }));
  const byId = new Map(indexed.map((kept) => [kept.rule.id, kept]));
  const alike = groupBy(
    indexed.filter(({ canBeShared }) => canBeShared),
    ({ rule }) => contentKey(rule),
  );
  const replaced = groupBy(
    indexed.filter(({ isReplaced }) => isReplaced),
    ({ rule }) => ruleIdStem(rule.id),
  );
  const flatOfStem = countBy(flat, ({ stem }) => stem);
  const used = new Set<number>();

  const partnerOf = ({ stem, rule }: FlatRule): number | undefined => {
    const key = contentKey(rule);
    const same = byId.get(rule.id);
    if (same?.canBeShared === true && !used.has(same.index) && contentKey(same.rule) === key) return same.index;
    const others = alike.get(key) ?? [];
    while (others[0] !== undefined && used.has(others[0].index)) others.shift();
    const edited = flatOfStem.get(stem) === 1 ? (replaced.get(stem) ?? []) : [];
    return others[0]?.index ?? (edited.length === 1 ? edited[0]?.index : undefined);
  };

  const pairs: Pair[] = [];
  for (const [index, entry] of flat.entries()) {
    const partner = partnerOf(entry);
    if (partner === undefined) continue;
    used.add(partner);
    pairs.push({ flat: index, stored: partner });
  }
  return new Map(longestRising(pairs).map((pair) => [pair.flat, pair.stored]));
}

/** The same for rules that share their stem and are the same otherwise, wherever they apply. */
const contentKey = ({ id, allEnvironments: _all, environments: _some, ...content }: StoredRule): string =>
  JSON.stringify([ruleIdStem(id), Object.entries(content).sort(([one], [other]) => (one < other ? -1 : 1))]);

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
