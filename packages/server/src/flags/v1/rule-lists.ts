import type { LiveEnvironment } from '../../organization/index.ts';
import { type FeatureContent, ruleIdStem, type StoredRule } from '../feature.ts';
import { applicableEnvironments, type EnvironmentView, environmentView } from '../scope.ts';
import { withOwnSettings } from '../switches.ts';
import { withUniqueIds } from '../unique-ids.ts';
import { aligned, type Kept } from './alignment.ts';
import {
  countBy,
  type FlatRule,
  flattened,
  idForOne,
  inOrder,
  isSameContent,
  type Placing,
  type RuleLists,
  scopeOf,
} from './flatten.ts';

/** Where the rules of a feature are placed. */
export function placingOf(feature: FeatureContent, environments: readonly LiveEnvironment[]): Placing {
  return {
    order: environments.map(({ id }) => id),
    applicable: new Set(applicableEnvironments(feature, environments).map(({ id }) => id)),
  };
}

/** The rules of an environment in their order, as v1 shows them. */
export const listOf = (rules: readonly StoredRule[], environment: string, view: EnvironmentView): StoredRule[] =>
  rules.filter((rule) => view.applies(rule, environment));

/**
 * The feature once environments have other lists of rules. Rules that read the same stay as they are stored, with their ids and
 * their scope, and so does whatever other environments serve: a rule that several share is taken apart only where one of them
 * wants it to be different, or in another place.
 *
 * @param asked the lists, whose rules have ids and contents as they are stored
 */
export function withRuleLists(
  feature: FeatureContent,
  asked: RuleLists,
  environments: readonly LiveEnvironment[],
): FeatureContent {
  const placing = placingOf(feature, environments);
  const written = new Map<string, readonly StoredRule[]>();
  let changed = feature;
  // To write one list may change another: an environment follows its parent for as long as it has no settings of its own.
  for (;;) {
    const view = environmentView(changed, environments);
    const missing = [...asked].filter(
      ([id, list]) => !written.has(id) && !isSameList(shownOrStored(changed.rules, id, view, placing, list), list),
    );
    if (missing.length === 0) return changed;
    for (const [id, list] of missing) written.set(id, list);
    const own = withOwnSettings(feature, written.keys(), environments);
    changed = { ...own, rules: rewritten(own.rules, written, asked, environmentView(own, environments), placing) };
  }
}

/**
 * What an environment has, to be compared with what is asked. Where the feature cannot serve, nothing is shown; so an empty list
 * sent back asks for nothing there.
 */
function shownOrStored(
  rules: readonly StoredRule[],
  environment: string,
  view: EnvironmentView,
  { applicable }: Placing,
  asked: readonly StoredRule[],
): readonly StoredRule[] {
  if (applicable.has(environment)) return listOf(rules, environment, view);
  return asked.length === 0 ? asked : rules.filter((rule) => rule.environments.includes(environment));
}

const isSameList = (one: readonly StoredRule[], other: readonly StoredRule[]): boolean =>
  one.length === other.length &&
  one.every((rule, index) => {
    const counterpart = other[index];
    return (
      counterpart !== undefined &&
      ruleIdStem(rule.id) === ruleIdStem(counterpart.id) &&
      isSameContent(rule, counterpart)
    );
  });

/** A stored rule, and what of its scope the written lists leave alone. */
interface KeptRule extends Kept {
  readonly left: readonly string[];
  /** It applied where a list has been written. */
  readonly touched: boolean;
}

/** The one list of rules once the lists of some environments are others. */
function rewritten(
  rules: readonly StoredRule[],
  written: RuleLists,
  asked: RuleLists,
  view: EnvironmentView,
  placing: Placing,
): StoredRule[] {
  const reach = reachOf(written, view, placing);
  const kept = rules.map((rule): KeptRule => {
    const [whole, left] = [reach.of(rule), reach.left(rule)];
    const touched = left.length < whole.length;
    const canBeShared = rule.allEnvironments ? touched : whole.length > 0;
    return { rule, left, touched, canBeShared, isReplaced: touched && left.length === 0 };
  });
  const flat = flattened(written, placing);
  const partners = aligned(kept, flat);
  const fresh = freshRules(kept, flat, partners, placing);

  /** Nothing stays of a rule that applied only where lists have been written; one that was for all is for those that are left. */
  const remainder = ({ rule, left, touched, isReplaced }: KeptRule): StoredRule[] => {
    if (!touched) return [rule];
    if (isReplaced) return [];
    const environments = rule.allEnvironments ? left : rule.environments.filter((id) => !written.has(id));
    return [{ ...rule, allEnvironments: false, environments }];
  };
  const merged = ({ rule, left }: KeptRule, { rule: content, environments: listed }: FlatRule): StoredRule => {
    const { id, allEnvironments, environments } = rule;
    if (reach.isSame([...left, ...listed], reach.of(rule))) return { ...content, id, allEnvironments, environments };
    const staying = allEnvironments ? left : environments.filter((each) => !written.has(each));
    const all = inOrder([...staying, ...listed], placing);
    // Whoever says nothing of an environment does not say "all".
    const scope = all.every((each) => asked.has(each))
      ? scopeOf(all, placing)
      : { allEnvironments: false, environments: all };
    return { ...content, id, ...scope };
  };

  const list: StoredRule[] = [];
  let next = 0;
  let waiting: StoredRule[] = [];
  for (const [index, entry] of flat.entries()) {
    const partner = partners.get(index);
    if (partner === undefined) {
      waiting.push(...(fresh.get(index) ?? []));
      continue;
    }
    list.push(...kept.slice(next, partner).flatMap(remainder), ...waiting);
    list.push(...kept.slice(partner, partner + 1).map((stored) => merged(stored, entry)));
    next = partner + 1;
    waiting = [];
  }
  return [...list, ...kept.slice(next).flatMap(remainder), ...waiting];
}

/** Where rules apply, as far as written lists are concerned. */
interface Reach {
  /** Environments in which the rule can serve, and those with a written list that it names. */
  of(rule: StoredRule): readonly string[];
  /** Those of them whose lists stay. An environment that follows one with a written list goes with it. */
  left(rule: StoredRule): readonly string[];
  /** Whether both come to the same, with the environments that follow. */
  isSame(one: readonly string[], other: readonly string[]): boolean;
}

function reachOf(written: RuleLists, view: EnvironmentView, { order, applicable }: Placing): Reach {
  const followers = (of: ReadonlySet<string>) =>
    order.filter((id) => applicable.has(id) && of.has(view.followed(id) ?? ''));
  const following = new Set(followers(new Set(written.keys())));
  const of = ({ allEnvironments, environments }: StoredRule) =>
    allEnvironments
      ? order.filter((id) => applicable.has(id))
      : environments.filter((id) => applicable.has(id) || written.has(id));
  const whole = (ids: readonly string[]) => new Set([...ids, ...followers(new Set(ids))]);
  return {
    of,
    left: (rule) => of(rule).filter((id) => !written.has(id) && !(rule.allEnvironments && following.has(id))),
    isSame(one, other) {
      const [all, others] = [whole(one), whole(other)];
      return all.size === others.size && [...all].every((id) => others.has(id));
    },
  };
}

/**
 * The rules of the lists that are no stored ones, by their index, with their ids and scopes. An id that a stored rule had stays
 * with its rule; else the stem is the id, and where others share it the environment tells them apart.
 */
function freshRules(
  kept: readonly KeptRule[],
  flat: readonly FlatRule[],
  partners: ReadonlyMap<number, number>,
  placing: Placing,
): ReadonlyMap<number, StoredRule[]> {
  const paired = new Set(partners.values());
  const staying = kept.filter(({ isReplaced }, index) => !isReplaced || paired.has(index)).map(({ rule }) => rule);
  const taken = new Set(staying.map(({ id }) => id));
  const takenStems = new Set(staying.map(({ id }) => ruleIdStem(id)));
  const known = new Set(kept.map(({ rule }) => rule.id));
  const entries = [...flat.entries()].filter(([index]) => !partners.has(index));
  const withId = countBy(entries, ([, { rule }]) => rule.id);
  const withStem = countBy(flat, ({ stem }) => stem);

  const idOf = (entry: FlatRule): string => {
    const { stem, rule, environments } = entry;
    const keepsId = known.has(rule.id) && !taken.has(rule.id) && withId.get(rule.id) === 1;
    if (keepsId && environments.length === 1) return rule.id;
    if (environments.length > 1 || (withStem.get(stem) === 1 && !takenStems.has(stem))) return stem;
    return idForOne(entry);
  };
  const named = entries.map(([, entry]) => ({
    ...entry.rule,
    id: idOf(entry),
    ...scopeOf(entry.environments, placing),
  }));
  const unique = withUniqueIds([...staying, ...named]).slice(staying.length);
  return new Map(entries.map(([index], position) => [index, unique.slice(position, position + 1)]));
}
