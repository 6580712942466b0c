/** Rows of one metric, taken together by level of the breakdown, stratum and variation. */
import { InvalidInput } from '../problem.ts';
import { addToCell, type Cell, emptyCell } from './cell.ts';
import type { Analysis, Breakdown, Metric, ResultSet, Row } from './input.ts';

/** One level: for each stratum the cells of all variations, in the analysis' order. */
export interface Level {
  readonly level: string;
  readonly strata: readonly (readonly Cell[])[];
}

/** Units that saw several variations are counted under this id. */
const multipleVariations = '__multiple__';

/** The level that takes all levels together for which there is no room. */
const otherLevels = '(other)';

/** Whether the metric is a quantile, which cannot be added up. */
export function isQuantile({ statistic }: Metric): boolean {
  return statistic === 'quantileOfUnits' || statistic === 'quantileOfEvents';
}

function columnOf(breakdown: Breakdown): string {
  switch (breakdown.kind) {
    case 'attribute':
    case 'precomputedAttribute':
      return `attribute:${breakdown.name}`;
    case 'unitAttribute':
      return `unitAttribute:${breakdown.name}`;
    default:
      return breakdown.kind;
  }
}

function levelOf({ breakdowns }: Row, breakdown: Breakdown): string {
  const level = (breakdown.kind === 'none' ? undefined : breakdowns[columnOf(breakdown)]) ?? breakdowns['level'] ?? '';
  if (typeof level !== 'string') {
    throw new InvalidInput(`A level must be text, not ${JSON.stringify(level)}: cast the column to text in the query.`);
  }
  return level;
}

/** All attributes that a row is split by, as one key. */
function stratumOf({ breakdowns }: Row): string {
  const names = Object.keys(breakdowns).filter((name) => name.startsWith('attribute:'));
  return JSON.stringify(names.sort().map((name) => [name, breakdowns[name]]));
}

/** The rows of variations that the analysis knows, with the level of each; the largest levels first. */
function rowsByLevel(rows: readonly Row[], analysis: Analysis): Map<string, Row[]> {
  const byLevel = new Map<string, Row[]>();
  const units = new Map<string, number>();
  for (const row of rows) {
    if (!analysis.variationIds.includes(row.variation)) continue;
    const level = levelOf(row, analysis.breakdown);
    const found = byLevel.get(level);
    if (found === undefined) byLevel.set(level, [row]);
    else found.push(row);
    units.set(level, (units.get(level) ?? 0) + row.units);
  }
  return new Map([...byLevel].sort(([a], [b]) => (units.get(b) ?? 0) - (units.get(a) ?? 0)));
}

/**
 * Levels by units, largest first. Those beyond `maxLevels` are added to the last kept one, as `(other)`; what cannot be added
 * (quantiles, a given θ) is left out instead.
 */
function limitedLevels(byLevel: Map<string, Row[]>, metric: Metric, maxLevels: number): (readonly [string, Row[]])[] {
  const all = [...byLevel];
  if (all.length <= maxLevels) return all;
  const isSummable = !isQuantile(metric) && !(metric.statistic === 'regressionAdjustedMean' && metric.useSuppliedTheta);
  if (!isSummable) return all.slice(0, maxLevels);
  const kept = all.slice(0, maxLevels - 1);
  return [...kept, [otherLevels, all.slice(maxLevels - 1).flatMap(([, rows]) => rows)]];
}

/**
 * The levels of one metric in one analysis.
 * @param place of the metric in the set
 * @throws InvalidInput where rows cannot be added up, or a level is not text
 */
export function levelsOf(metric: Metric, place: number, { rows }: ResultSet, analysis: Analysis): Level[] {
  const hasCount = rows.some(({ count }) => count !== undefined);
  const isStratified = analysis.postStratify && !isQuantile(metric);
  return limitedLevels(rowsByLevel(rows, analysis), metric, analysis.maxLevels).map(([level, members]): Level => {
    const strata = new Map<string, Cell[]>();
    for (const row of members) {
      const key = isStratified ? stratumOf(row) : '';
      const cells = strata.get(key) ?? analysis.variationIds.map(emptyCell);
      strata.set(key, cells);
      const cell = cells[analysis.variationIds.indexOf(row.variation)];
      const sums = row.metrics[place];
      if (cell === undefined || sums === undefined) continue;
      const where = `Metric ${metric.id}, variation ${row.variation}, level ${JSON.stringify(level)}`;
      addToCell(cell, row.units, (hasCount ? row.count : row.units) ?? 0, sums, where);
    }
    return { level, strata: [...strata.values()] };
  });
}

/** Units that saw several variations. */
export function multipleExposures(rows: readonly Row[]): number {
  return rows.reduce((sum, { variation, units }) => sum + (variation === multipleVariations ? units : 0), 0);
}

/** Ids of rows that some analysis does not know: a variation was renamed or removed, or the query is wrong. */
export function unknownVariations(rows: readonly Row[], analyses: readonly Analysis[]): string[] {
  const unknown = rows
    .map(({ variation }) => variation)
    .filter((id) => id !== multipleVariations && analyses.some(({ variationIds }) => !variationIds.includes(id)));
  return [...new Set(unknown)].sort();
}
