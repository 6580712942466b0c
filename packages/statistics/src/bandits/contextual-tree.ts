/**
 * A contextual bandit's tree: contexts that respond alike share one leaf, and each leaf has weights of its own (regression tree
 * with categorical attributes, Breiman et al. 1984).
 */
import { InvalidInput } from '../problem.ts';
import {
  type ArmSums,
  addCells,
  bestSplit,
  type Cell,
  noUnits,
  seededRandom,
  sumOfSquaredErrors,
} from './best-split.ts';
import { type LeafWeights, leafWeights } from './weights.ts';

/** Sums of the units of one arm in one context. */
export interface Observation extends ArmSums {
  /** Index of the arm; observations of arms that are not there are left out. */
  readonly arm: number;
  /** Attribute → value. An attribute without a value counts as the level `Combined`. */
  readonly context: Readonly<Record<string, string | null | undefined>>;
}

export interface ContextualTreeInput {
  readonly arms: readonly string[];
  /** Of which the first ten count. */
  readonly attributes: readonly string[];
  readonly metric: 'mean' | 'proportion';
  readonly inverse: boolean;
  readonly maxLeaves: number;
  /** A leaf needs so many units, all arms together. */
  readonly minUnitsPerLeaf: number;
  /** Where an arm of a leaf has less than 100 units; equal weights where their number is wrong. */
  readonly defaultWeights: readonly number[];
  readonly observations: readonly Observation[];
  /** For the search among more than 15 levels: the same seed and data give the same tree. */
  readonly seed: number;
}

/** What of an attribute leads to a leaf. */
export interface Clause {
  readonly attribute: string;
  readonly operator: 'in' | 'notIn';
  readonly levels: readonly string[];
}

interface ArmSummary {
  readonly units: number[];
  readonly means: number[];
  readonly variances: number[];
}

export interface ContextResult extends ArmSummary, LeafWeights {
  /** Without the attributes that have no value. */
  readonly context: Readonly<Record<string, string>>;
  readonly leaf: number;
}

export interface LeafResult extends ArmSummary, LeafWeights {
  readonly leaf: number;
  readonly condition: readonly Clause[];
}

export interface ContextualTree {
  readonly attributes: readonly string[];
  readonly contexts: readonly ContextResult[];
  readonly leaves: readonly LeafResult[];
  /** The cost with one leaf, two leaves, … */
  readonly sumOfSquaredErrorsBySplits: readonly number[];
  /** Each arm's weight over all units. */
  readonly overallWeights: readonly number[];
}

/** The level of an attribute that is missing or was merged with others. */
export const combined = 'Combined';

const mostAttributes = 10;

interface Context {
  readonly levels: readonly string[];
  readonly cell: Cell;
}

interface Leaf {
  readonly id: number;
  readonly contexts: readonly Context[];
  readonly cost: number;
  /** Places of the attributes between root and leaf. */
  readonly path: ReadonlySet<number>;
  readonly candidate: Candidate | undefined;
}

interface Candidate {
  readonly attribute: number;
  readonly second: ReadonlySet<string>;
  readonly gain: number;
}

/**
 * Grows the tree and weighs the arms in each leaf. In each step, of all leaves and attributes, the split of levels into two groups
 * is made that lowers the sum of squared errors (around the mean of each arm in each leaf) most; on ties that of the earlier leaf,
 * then of the earlier attribute. The group without the first level becomes the new leaf.
 * @throws InvalidInput for other metrics than means and proportions
 */
export function contextualTree(input: ContextualTreeInput): ContextualTree {
  const { metric, maxLeaves } = input;
  if (metric !== 'mean' && metric !== 'proportion') {
    throw new InvalidInput(`A contextual bandit learns from a mean or a proportion, not from a ${String(metric)}.`);
  }
  const attributes = input.attributes.slice(0, mostAttributes);
  const contexts = contextsOf(input, attributes);
  const random = seededRandom(input.seed);
  const grow = (id: number, members: readonly Context[], path: ReadonlySet<number>): Leaf => {
    const cost = costOf(members);
    return { id, contexts: members, cost, path, candidate: bestCandidate(members, cost, attributes, input, random) };
  };
  let leaves: Leaf[] = contexts.length === 0 ? [] : [grow(0, contexts, new Set())];
  const costs = leaves.map(({ cost }) => cost);
  while (leaves.length < maxLeaves) {
    const chosen = leaves.reduce<Leaf | undefined>((best, leaf) => {
      const gain = leaf.candidate?.gain ?? 0;
      return gain > (best?.candidate?.gain ?? 0) ? leaf : best;
    }, undefined);
    if (chosen?.candidate === undefined) break;
    const { attribute, second } = chosen.candidate;
    const path = new Set([...chosen.path, attribute]);
    const isSecond = ({ levels }: Context): boolean => second.has(levels[attribute] ?? combined);
    const kept = grow(
      chosen.id,
      chosen.contexts.filter((context) => !isSecond(context)),
      path,
    );
    const split = grow(leaves.length, chosen.contexts.filter(isSecond), path);
    leaves = [...leaves.map((leaf) => (leaf === chosen ? kept : leaf)), split];
    costs.push(totalCost(leaves));
  }
  return results(input, attributes, contexts, leaves, costs);
}

const totalCost = (leaves: readonly Leaf[]): number => leaves.reduce((sum, { cost }) => sum + cost, 0);

function pooled(contexts: readonly Context[]): Cell {
  const [first, ...rest] = contexts.map(({ cell }) => cell);
  return first === undefined ? [] : rest.reduce(addCells, first);
}

const costOf = (contexts: readonly Context[]): number => sumOfSquaredErrors(pooled(contexts));

/** Observations of equal contexts added up, in the order of their attributes. */
function contextsOf({ arms, metric, observations }: ContextualTreeInput, attributes: readonly string[]): Context[] {
  const byLevels = new Map<string, { levels: string[]; cell: ArmSums[] }>();
  for (const { arm, context, n, sum, sumOfSquares } of observations) {
    if (arms[arm] === undefined) continue;
    const levels = attributes.map((attribute) => context[attribute] ?? combined);
    const key = JSON.stringify(levels);
    const found = byLevels.get(key) ?? { levels, cell: arms.map(() => noUnits) };
    byLevels.set(key, found);
    const before = found.cell[arm] ?? noUnits;
    found.cell[arm] = {
      n: before.n + n,
      sum: before.sum + sum,
      sumOfSquares: before.sumOfSquares + (metric === 'proportion' ? sum : sumOfSquares),
    };
  }
  return [...byLevels.values()].sort((a, b) => compareTuples(a.levels, b.levels));
}

function isNumeric(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** By number where both are numbers, else by code units. */
function compareLevels(a: string, b: string): number {
  return isNumeric(a) && isNumeric(b) ? Number(a) - Number(b) : compareText(a, b);
}

function compareTuples(a: readonly string[], b: readonly string[]): number {
  for (const [index, level] of a.entries()) {
    const order = compareLevels(level, b[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function bestCandidate(
  contexts: readonly Context[],
  cost: number,
  attributes: readonly string[],
  { minUnitsPerLeaf }: ContextualTreeInput,
  random: () => number,
): Candidate | undefined {
  let best: Candidate | undefined;
  for (const attribute of attributes.keys()) {
    const cells = new Map<string, Cell>();
    for (const { levels, cell } of contexts) {
      const level = levels[attribute] ?? combined;
      const before = cells.get(level);
      cells.set(level, before === undefined ? cell : addCells(before, cell));
    }
    if (cells.size < 2) continue;
    const categories = [...cells].sort(([a], [b]) => compareText(a, b));
    const split = bestSplit(
      categories.map(([, cell]) => cell),
      minUnitsPerLeaf,
      random,
    );
    if (split === undefined) continue;
    const gain = cost - split.cost;
    if (gain > (best?.gain ?? 0)) {
      const second = new Set(categories.flatMap(([level], index) => (split.isSecond[index] === true ? [level] : [])));
      best = { attribute, second, gain };
    }
  }
  return best;
}

function summaryOf(cell: Cell): ArmSummary {
  return {
    units: cell.map(({ n }) => n),
    means: cell.map(({ n, sum }) => (n === 0 ? 0 : sum / n)),
    variances: cell.map((arm) => (arm.n <= 1 ? 0 : sumOfSquaredErrors([arm]) / (arm.n - 1))),
  };
}

function results(
  { arms, inverse, defaultWeights }: ContextualTreeInput,
  attributes: readonly string[],
  contexts: readonly Context[],
  leaves: readonly Leaf[],
  costs: readonly number[],
): ContextualTree {
  const fallback = defaultWeights.length === arms.length ? defaultWeights : arms.map(() => 1 / arms.length);
  const leafResults = leaves.map((leaf): LeafResult => {
    const summary = summaryOf(pooled(leaf.contexts));
    const weighed = summary.units.map((n, arm) => ({
      n,
      mean: summary.means[arm] ?? 0,
      variance: summary.variances[arm] ?? 0,
    }));
    const weights = leafWeights(weighed, fallback, inverse);
    return { leaf: leaf.id, ...summary, condition: conditionOf(leaf, leaves, attributes), ...weights };
  });
  const leafOf = new Map(leaves.flatMap((leaf) => leaf.contexts.map((context) => [context, leaf.id] as const)));
  const contextResults = contexts.flatMap((context): ContextResult[] => {
    const leaf = leafResults.find((result) => result.leaf === leafOf.get(context));
    if (leaf === undefined) return [];
    const { weights, bestArmProbabilities, message } = leaf;
    const known = attributes.flatMap((attribute, index): [string, string][] => {
      const level = context.levels[index] ?? combined;
      return level === combined ? [] : [[attribute, level]];
    });
    return [
      {
        context: Object.fromEntries(known),
        leaf: leaf.leaf,
        ...summaryOf(context.cell),
        weights,
        bestArmProbabilities,
        message,
      },
    ];
  });
  return {
    attributes,
    contexts: contextResults,
    leaves: leafResults,
    sumOfSquaredErrorsBySplits: costs,
    overallWeights: overallWeights(contextResults, arms.length),
  };
}

/** What of the attributes on its path a leaf has; where it has what is not known, what it does not have. */
function conditionOf(leaf: Leaf, leaves: readonly Leaf[], attributes: readonly string[]): Clause[] {
  return attributes.flatMap((attribute, index): Clause[] => {
    if (!leaf.path.has(index)) return [];
    const levelsOf = ({ contexts }: Leaf): Set<string> =>
      new Set(contexts.map(({ levels }) => levels[index] ?? combined));
    const own = levelsOf(leaf);
    if (!own.has(combined)) return [{ attribute, operator: 'in', levels: [...own].sort(compareLevels) }];
    const others = new Set(leaves.filter((other) => other !== leaf).flatMap((other) => [...levelsOf(other)]));
    const excluded = [...others].filter((level) => !own.has(level)).sort(compareLevels);
    return excluded.length === 0 ? [] : [{ attribute, operator: 'notIn', levels: excluded }];
  });
}

/** Σ units·weights/Σ units over contexts; equal weights without units. */
function overallWeights(contexts: readonly ContextResult[], arms: number): number[] {
  const totals = Array.from({ length: arms }, () => 0);
  let all = 0;
  for (const { units, weights } of contexts) {
    const own = units.reduce((sum, n) => sum + n, 0);
    all += own;
    for (const arm of totals.keys()) totals[arm] = (totals[arm] ?? 0) + own * (weights[arm] ?? 0);
  }
  return totals.map((total) => (all === 0 ? 1 / arms : total / all));
}

/** Columns of a warehouse carry this before the attribute's name. */
const columnPrefix = 'attr_cb_';

type TargetingOperand =
  | string
  | { readonly $in: readonly string[] }
  | { readonly $ne: string }
  | { readonly $nin: readonly string[] };

/** The leaf's condition as targeting has it: `{ country: { $in: ['CA', 'MX'] } }`; `{}` where there is one leaf. */
export function targetingCondition(clauses: readonly Clause[]): Record<string, TargetingOperand> {
  return Object.fromEntries(
    clauses.map(({ attribute, operator, levels }) => {
      const name = attribute.startsWith(columnPrefix) ? attribute.slice(columnPrefix.length) : attribute;
      const [only] = levels;
      const isSingle = levels.length === 1 && only !== undefined;
      if (operator === 'in') return [name, isSingle ? only : { $in: levels }];
      return [name, isSingle ? { $ne: only } : { $nin: levels }];
    }),
  );
}
