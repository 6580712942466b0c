/** One measurement beside what it is compared with. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  /** What the same costs with the peer or on the physical floor, measured in the same run. */
  readonly peer: number | null;
  /** Ours beside the peer, so that more is better; null where there is nothing to compare with. */
  readonly ratio: number | null;
  /** What the project sets itself, in the words of the table. */
  readonly aim: string;
  readonly reached: boolean | null;
}

/** A measurement where more is better, such as requests a second. */
export const throughput = (name: string, { ours, peer }: { ours: number; peer: number }, leastRatio: number): Row => ({
  name,
  unit: 'req/s',
  ours,
  peer,
  ratio: ours / peer,
  aim: `≥ ${leastRatio} ×`,
  reached: ours / peer >= leastRatio,
});

/** A measurement beside another, without an aim. */
export const beside = (name: string, { ours, peer }: { ours: number; peer: number }): Row => ({
  name,
  unit: 'req/s',
  ours,
  peer,
  ratio: ours / peer,
  aim: '',
  reached: null,
});

/** A measurement that has a bound of its own, such as a time or a size. */
export const bounded = (name: string, unit: string, ours: number, most: number): Row => ({
  name,
  unit,
  ours,
  peer: null,
  ratio: null,
  aim: `< ${most} ${unit}`,
  reached: ours < most,
});

/** A figure to know, without an aim. */
export const figure = (name: string, unit: string, ours: number): Row => ({
  name,
  unit,
  ours,
  peer: null,
  ratio: null,
  aim: '',
  reached: null,
});

/** A table that reads in a terminal and in Markdown alike. */
export function table(title: string, rows: readonly Row[]): string {
  const cells = [
    [title, 'ours', 'compared with', 'ratio', 'unit', 'aim', ''],
    ...rows.map(({ name, ours, peer, ratio, unit, aim, reached }) => [
      name,
      number(ours),
      peer === null ? '' : number(peer),
      ratio === null ? '' : `${ratio.toFixed(2)} ×`,
      unit,
      aim,
      reached === null ? '' : reached ? 'reached' : 'missed',
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}

const number = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/** Tells how far a measurement is, on standard error: standard output is for the tables. */
export const progress = (text: string): void => {
  process.stderr.write(`${text}\n`);
};
