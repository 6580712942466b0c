import { isDeepStrictEqual } from 'node:util';
import { ruleIdStem, type StoredRule } from '../feature.ts';
import { withUniqueIds } from '../unique-ids.ts';

/** The rules of environments, each list in the order in which its environment judges them: what v1 shows of a feature. */
export type RuleLists = ReadonlyMap<string, readonly StoredRule[]>;

/** The environments that rules are placed in. */
export interface Placing {
  /** All of them, in the order of the organization. */
  readonly order: readonly string[];
  /** Those in which the feature can serve. */
  readonly applicable: ReadonlySet<string>;
}

/** A rule of the one list, which is in the lists of one environment or of several. */
export interface FlatRule {
  readonly stem: string;
  /** As it stands in the list of its first environment. */
  readonly rule: StoredRule;
  readonly environments: readonly string[];
  /** Which of the rules of its stem in its environment it is, from 1 on. */
  readonly number: number;
}

/**
 * Makes one list of the lists of environments, with one rule for those that are the same everywhere, and ids that differ.
 * Every environment meets its rules in the order of its list.
 */
export function flatten(lists: RuleLists, placing: Placing): StoredRule[] {
  const flat = flattened(lists, placing);
  const occurring = countBy(flat, ({ stem }) => stem);
  return withUniqueIds(
    flat.map((entry) => ({
      ...entry.rule,
      id: occurring.get(entry.stem) === 1 ? entry.stem : idForOne(entry),
      ...scopeOf(entry.environments, placing),
    })),
  );
}

/** The id of a rule that others share their stem with. */
export function idForOne({ stem, environments: [environment = ''], number }: FlatRule): string {
  return `${stem}__${environment}${number === 1 ? '' : `__${number}`}`;
}

/** The scope of a rule in these environments: all that the feature can serve in are "all", also those to come. */
export function scopeOf(environments: readonly string[], { applicable }: Placing) {
  const all = environments.length === applicable.size && environments.every((id) => applicable.has(id));
  return { allEnvironments: all, environments: all ? [] : environments };
}

/** Ids of environments in the order of the organization, unknown ones after it. */
export function inOrder(ids: Iterable<string>, { order }: Placing): string[] {
  const given = new Set(ids);
  const known = order.filter((id) => given.has(id));
  return [...known, ...[...given].filter((id) => !order.includes(id)).sort()];
}

/** The same as `flatten`, before ids and scopes are given out. */
export function flattened(lists: RuleLists, placing: Placing): FlatRule[] {
  const environments = inOrder(lists.keys(), placing);
  const places = placesOf(lists, environments);
  const shared = sharedStems(lists, environments, places);

  return environments.flatMap((environment) => {
    const numbers = new Map<string, number>();
    return (lists.get(environment) ?? []).flatMap((rule): FlatRule[] => {
      const stem = ruleIdStem(rule.id);
      const everywhere = places.get(stem) ?? [];
      if (!shared.has(stem)) {
        const number = (numbers.get(stem) ?? 0) + 1;
        numbers.set(stem, number);
        return [{ stem, rule, environments: [environment], number }];
      }
      if (everywhere[0]?.environment !== environment) return [];
      return [{ stem, rule, environments: everywhere.map((place) => place.environment), number: 1 }];
    });
  });
}

/** Where a rule stands. */
interface Place {
  readonly environment: string;
  readonly index: number;
  readonly rule: StoredRule;
}

function placesOf(lists: RuleLists, environments: readonly string[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const environment of environments) {
    for (const [index, rule] of (lists.get(environment) ?? []).entries()) {
      const stem = ruleIdStem(rule.id);
      const ofStem = places.get(stem) ?? [];
      places.set(stem, ofStem);
      ofStem.push({ environment, index, rule });
    }
  }
  return places;
}

/**
 * The stems whose rules can become one: they are the same in every list that has one, and standing where the first list has
 * it, that one rule comes in every other list after the same rules as before.
 */
function sharedStems(
  lists: RuleLists,
  environments: readonly string[],
  places: ReadonlyMap<string, readonly Place[]>,
): ReadonlySet<string> {
  const shared = new Set([...places].filter(([, ofStem]) => areAlike(ofStem)).map(([stem]) => stem));
  const indexIn = new Map(
    [...places].map(([stem, ofStem]) => [
      stem,
      new Map(ofStem.map(({ environment, index }) => [environment, index] as const)),
    ]),
  );

  /** Takes out what would change the order in a list; whether something was. */
  const withdrawIn = (environment: string): boolean => {
    const before = shared.size;
    // Of the shared rules so far: the last place that one of them has in each list.
    const last = new Map<string, number>();
    let afterSeparate = false;
    for (const { id } of lists.get(environment) ?? []) {
      const stem = ruleIdStem(id);
      const first = places.get(stem)?.[0];
      if (shared.has(stem) && first !== undefined && first.environment !== environment) {
        if (afterSeparate || (last.get(first.environment) ?? -1) > first.index) shared.delete(stem);
      }
      afterSeparate ||= !shared.has(stem);
      for (const other of environments) {
        const index = indexIn.get(stem)?.get(other) ?? Number.POSITIVE_INFINITY;
        last.set(other, Math.max(last.get(other) ?? -1, index));
      }
    }
    return shared.size < before;
  };

  // What is taken out may be in the way of others.
  while (environments.map(withdrawIn).includes(true));
  return shared;
}

/** Whether there is more than one, none of them twice in a list, and all the same but for their ids and environments. */
function areAlike([first, ...others]: readonly Place[]): boolean {
  if (first === undefined || others.length === 0) return false;
  if (new Set([first, ...others].map(({ environment }) => environment)).size <= others.length) return false;
  return others.every(({ rule }) => isSameContent(rule, first.rule));
}

/** Whether two rules are the same, wherever they apply and whatever their ids. */
export const isSameContent = (one: StoredRule, other: StoredRule): boolean =>
  isDeepStrictEqual(contentOf(one), contentOf(other));

const contentOf = ({ id: _id, allEnvironments: _all, environments: _some, ...content }: StoredRule) => content;

export function countBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
