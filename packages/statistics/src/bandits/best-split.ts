/** The best split of categories into two groups: the smallest sum of squared errors around each group's means per arm. */

/** Sums of one arm. */
export interface ArmSums {
  readonly n: number;
  readonly sum: number;
  readonly sumOfSquares: number;
}

/** Sums of each arm, over some contexts. */
export type Cell = readonly ArmSums[];

/** An arm that nobody has seen yet. */
export const noUnits: ArmSums = { n: 0, sum: 0, sumOfSquares: 0 };

/** Two contexts as one. */
export function addCells(a: Cell, b: Cell): Cell {
  return a.map(({ n, sum, sumOfSquares }, arm) => {
    const other = b[arm] ?? noUnits;
    return { n: n + other.n, sum: sum + other.sum, sumOfSquares: sumOfSquares + other.sumOfSquares };
  });
}

/** Σ over arms of Σy² − (Σy)²/n; an arm with at most one unit counts 0. */
export function sumOfSquaredErrors(cell: Cell): number {
  let total = 0;
  for (const { n, sum, sumOfSquares } of cell) if (n > 1) total += sumOfSquares - (sum * sum) / n;
  return total;
}

const unitsOf = (cell: Cell): number => cell.reduce((units, { n }) => units + n, 0);

/** Which group each category is in, and what both groups cost together. */
export interface Split {
  /** True for the group without the first category. */
  readonly isSecond: readonly boolean[];
  readonly cost: number;
}

/** Up to so many categories every partition is tried: 2¹⁴ of them. */
const mostForExhaustive = 15;

/** Numbers in [0, 1) from a seed, always the same (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The running sums of two groups, between which categories move. */
class Groups {
  readonly #categories: readonly Cell[];
  readonly #second: boolean[];
  readonly #sums: [ArmSums[], ArmSums[]];
  readonly #leastUnits: number;

  constructor(categories: readonly Cell[], isSecond: readonly boolean[], leastUnits: number) {
    this.#categories = categories;
    this.#leastUnits = leastUnits;
    this.#second = [...isSecond];
    const empty = (categories[0] ?? []).map(() => noUnits);
    const of = (wanted: boolean): ArmSums[] => [
      ...categories.filter((_, index) => isSecond[index] === wanted).reduce<Cell>(addCells, empty),
    ];
    this.#sums = [of(false), of(true)];
  }

  get isSecond(): readonly boolean[] {
    return this.#second;
  }

  /** Infinite where a group is smaller than allowed, or empty. */
  get cost(): number {
    for (const group of this.#sums) {
      const units = unitsOf(group);
      if (units < this.#leastUnits) return Infinity;
    }
    if (!this.#second.includes(true) || !this.#second.includes(false)) return Infinity;
    return sumOfSquaredErrors(this.#sums[0]) + sumOfSquaredErrors(this.#sums[1]);
  }

  move(category: number): void {
    const cell = this.#categories[category] ?? [];
    const toSecond = this.#second[category] !== true;
    const [from, to] = toSecond ? this.#sums : [this.#sums[1], this.#sums[0]];
    for (const [arm, { n, sum, sumOfSquares }] of cell.entries()) {
      const a = from[arm] ?? noUnits;
      const b = to[arm] ?? noUnits;
      from[arm] = { n: a.n - n, sum: a.sum - sum, sumOfSquares: a.sumOfSquares - sumOfSquares };
      to[arm] = { n: b.n + n, sum: b.sum + sum, sumOfSquares: b.sumOfSquares + sumOfSquares };
    }
    this.#second[category] = toSecond;
  }
}

/**
 * The partition of at least two categories with the smallest cost; the first found on ties. Exhaustive up to 15 categories, by a
 * local search from random starts above (Fisher 1958 on optimal grouping; Breiman et al. 1984).
 * @param leastUnits each group must have so many units, all arms together
 * @returns undefined where no partition leaves enough units on both sides
 */
export function bestSplit(categories: readonly Cell[], leastUnits: number, random: () => number): Split | undefined {
  const split =
    categories.length <= mostForExhaustive
      ? exhaustive(categories, leastUnits)
      : localSearch(categories, leastUnits, random);
  return Number.isFinite(split.cost) ? split : undefined;
}

/** In reflected Gray-code order each partition differs from the one before by one category. The first category stays. */
function exhaustive(categories: readonly Cell[], leastUnits: number): Split {
  const none = categories.map(() => false);
  const groups = new Groups(categories, none, leastUnits);
  let best: Split = { isSecond: none, cost: Infinity };
  const partitions = 2 ** (categories.length - 1);
  for (let step = 1; step < partitions; step++) {
    const moved = 31 - Math.clz32(step & -step);
    groups.move(moved + 1);
    const { cost } = groups;
    if (cost < best.cost) best = { isSecond: [...groups.isSecond], cost };
  }
  return best;
}

const randomStarts = 20;
const mostPasses = 100;
const leastGain = 1e-12;

function localSearch(categories: readonly Cell[], leastUnits: number, random: () => number): Split {
  let best: Split = { isSecond: categories.map(() => false), cost: Infinity };
  // In the order of their mean over arms the best partition is often one cut: a start that no chance can miss.
  for (const start of [...cutsByMean(categories), ...randomPartitions(categories, random)]) {
    const found = descend(new Groups(categories, start, leastUnits), categories.length);
    if (found.cost < best.cost) best = found;
  }
  const isFlipped = best.isSecond[0] === true;
  return isFlipped ? { ...best, isSecond: best.isSecond.map((isSecond) => !isSecond) } : best;
}

/** For each arm, and all arms together, the cheapest cut of the categories in the order of their means. */
function cutsByMean(categories: readonly Cell[]): boolean[][] {
  const arms = categories[0]?.length ?? 0;
  const orders = Array.from({ length: arms + 1 }, (_, arm) => {
    const meanOf = (cell: Cell): number => {
      const { n, sum } =
        arm < arms
          ? (cell[arm] ?? noUnits)
          : cell.reduce((total, one) => ({ ...total, n: total.n + one.n, sum: total.sum + one.sum }), noUnits);
      return n === 0 ? 0 : sum / n;
    };
    return categories.map((cell, index) => ({ index, mean: meanOf(cell) })).sort((a, b) => a.mean - b.mean);
  });
  return orders.map((order) => {
    const groups = new Groups(
      categories,
      categories.map(() => false),
      0,
    );
    let best: Split = { isSecond: [...groups.isSecond], cost: Infinity };
    for (const { index } of order.slice(0, -1)) {
      groups.move(index);
      if (groups.cost < best.cost) best = { isSecond: [...groups.isSecond], cost: groups.cost };
    }
    return [...best.isSecond];
  });
}

function randomPartitions(categories: readonly Cell[], random: () => number): boolean[][] {
  return Array.from({ length: randomStarts }, () => categories.map(() => random() < 0.5));
}

/** Moves single categories as long as that lowers the cost. */
function descend(groups: Groups, count: number): Split {
  let { cost } = groups;
  for (let pass = 0; pass < mostPasses; pass++) {
    let isBetter = false;
    for (let category = 0; category < count; category++) {
      groups.move(category);
      const moved = groups.cost;
      if (cost - moved > leastGain || (cost === Infinity && moved < cost)) {
        cost = moved;
        isBetter = true;
      } else groups.move(category);
    }
    if (!isBetter) break;
  }
  return { isSecond: [...groups.isSecond], cost: groups.cost };
}
