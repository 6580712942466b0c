/** Plots as SVG, small enough to be read as text. */

const width = 640;
const left = 240;
const right = 20;
const top = 34;
const ink = '#24292f';
const band = '#cfe3f7';
const colours = ['#0969da', '#bc4c00', '#1a7f37', '#8250df'];

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const short = (value: number): string => String(Number(value.toPrecision(5)));
const at = (value: number): string => value.toFixed(1);

function frame(title: string, height: number, body: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="20" y="18" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...body,
    '</svg>\n',
  ].join('\n');
}

/** A dot on a line. */
export interface Dot {
  readonly name: string;
  readonly value: number;
  /** Where theory wants it. */
  readonly low: number;
  readonly high: number;
}

/** One line for each dot, with the band that it should be in. */
export function dotPlot(title: string, dots: readonly Dot[], format: (value: number) => string): string {
  const step = 20;
  const height = top + dots.length * step + 40;
  const values = dots.flatMap(({ value, low, high }) => [value, low, high]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least) * 0.08 || 1;
  const x = (value: number): number =>
    left + ((value - least + margin) / (most - least + 2 * margin)) * (width - left - right);
  const rows = dots.flatMap(({ name, value, low, high }, index) => {
    const y = top + 12 + index * step;
    const isInside = value >= low && value <= high;
    return [
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${at(x(low))}" y="${y - 7}" width="${at(Math.max(1, x(high) - x(low)))}" height="14" fill="${band}"/>`,
      `<circle cx="${at(x(value))}" cy="${y}" r="4" fill="${isInside ? colours[0] : colours[1]}"/>`,
    ];
  });
  const base = top + dots.length * step + 8;
  const ticks = [0, 1, 2, 3, 4].flatMap((index) => {
    const value = least + ((most - least) * index) / 4;
    return [
      `<line x1="${at(x(value))}" y1="${base}" x2="${at(x(value))}" y2="${base + 5}" stroke="${ink}"/>`,
      `<text x="${at(x(value))}" y="${base + 18}" text-anchor="middle">${format(value)}</text>`,
    ];
  });
  return frame(title, height, [
    ...rows,
    `<line x1="${left}" y1="${base}" x2="${width - right}" y2="${base}" stroke="${ink}"/>`,
    ...ticks,
  ]);
}

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  /** Theory is dashed. */
  readonly isTheory?: boolean;
}

/** Heights of labels, moved up so that none stands over another. */
function apart(heights: readonly number[]): number[] {
  const moved = [...heights];
  let above = Infinity;
  for (const [place, height] of [...heights.entries()].sort(([, a], [, b]) => b - a)) {
    above = Math.min(height, above - 14);
    moved[place] = above;
  }
  return moved;
}

/** Lines over one another. */
export function linePlot(
  title: string,
  axes: { readonly x: string; readonly y: string; readonly yMost: number },
  lines: readonly Line[],
): string {
  const height = 320;
  const from = 60;
  const bottom = height - 46;
  const xs = lines.flatMap(({ points }) => points.map(([x]) => x));
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const x = (value: number): number => from + ((value - least) / (most - least)) * (width - from - 160);
  const y = (value: number): number => bottom - (value / axes.yMost) * (bottom - top - 6);
  const labels = apart(lines.map(({ points }) => y(points.at(-1)?.[1] ?? 0)));
  const drawn = lines.flatMap(({ name, points, isTheory }, index) => {
    const colour = isTheory === true ? '#57606a' : (colours[index % colours.length] ?? ink);
    const path = points.map(([px, py]) => `${at(x(px))},${at(y(py))}`).join(' ');
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${isTheory === true ? ' stroke-dasharray="5 4"' : ''}/>`,
      `<text x="${width - 154}" y="${at((labels[index] ?? 0) + 4)}" fill="${colour}">${escaped(name)}</text>`,
    ];
  });
  const ticks = [0, 1, 2, 3, 4].flatMap((index) => {
    const vertical = (axes.yMost * index) / 4;
    const horizontal = least + ((most - least) * index) / 4;
    return [
      `<text x="${from - 8}" y="${at(y(vertical) + 4)}" text-anchor="end">${short(vertical)}</text>`,
      `<line x1="${from}" y1="${at(y(vertical))}" x2="${width - 160}" y2="${at(y(vertical))}" stroke="#d8dee4"/>`,
      `<text x="${at(x(horizontal))}" y="${bottom + 16}" text-anchor="middle">${short(horizontal)}</text>`,
    ];
  });
  return frame(title, height, [
    ...ticks,
    ...drawn,
    `<text x="${(from + width - 160) / 2}" y="${height - 8}" text-anchor="middle">${escaped(axes.x)}</text>`,
    `<text x="${from - 40}" y="${top - 2}">${escaped(axes.y)}</text>`,
  ]);
}
