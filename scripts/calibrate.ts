/**
 * Simulates experiments and holds the statistics engine against theory:
 *   node scripts/calibrate.ts [--seed N] [--scale N] [--out DIRECTORY]
 * A full run takes some ten minutes on two cores; `--scale 0.01` a few seconds. It writes a report and its plots (to docs), and
 * exits 1 where a figure is outside its band without a reason.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { report } from './calibration/report.ts';
import { type Counters, studies } from './calibration/studies.ts';
import type { Piece } from './calibration/worker.ts';

const mostWorkers = 2;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    scale: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const seed = Number(values.seed);
const scale = Number(values.scale);
if (!Number.isSafeInteger(seed) || !(scale > 0)) {
  process.stderr.write('usage: node scripts/calibrate.ts [--seed WHOLE_NUMBER] [--scale POSITIVE] [--out DIRECTORY]\n');
  process.exit(2);
}
const directory =
  values.out === undefined
    ? join(import.meta.dirname, '../docs')
    : resolve(process.env['INIT_CWD'] ?? process.cwd(), values.out);

const pieces = studies.flatMap(({ name, replicates, piece }): Piece[] =>
  Array.from({ length: Math.max(1, Math.round((replicates * scale) / piece)) }, (_, index) => ({
    study: name,
    piece: index,
    replicates: Math.max(2, Math.min(piece, Math.round(replicates * scale))),
    seed,
  })),
);

const started = performance.now();
const found: Counters[] = [];
const waiting = [...pieces.entries()];
let done = 0;

/** Takes pieces until there are none. What they count is kept in their order, so that sums do not depend on who was first. */
async function work(): Promise<void> {
  const worker = new Worker(new URL('calibration/worker.ts', import.meta.url));
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [place, piece] = next;
      worker.postMessage(piece);
      // Also ends in the worker's error, if it has one.
      [found[place]] = (await once(worker, 'message')) as [Counters];
      done += 1;
      showProgress(piece.study);
    }
  } finally {
    await worker.terminate();
  }
}

function showProgress(study: string): void {
  const minutes = (performance.now() - started) / 60_000;
  const percent = Math.floor((100 * done) / pieces.length);
  const line = `${String(percent).padStart(3)} %, ${minutes.toFixed(1)} min, ${study}`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line.padEnd(60)}${done === pieces.length ? '\n' : ''}`);
  else if (percent > Math.floor((100 * (done - 1)) / pieces.length)) process.stderr.write(`${line}\n`);
}

await Promise.all(Array.from({ length: Math.min(mostWorkers, availableParallelism()) }, work));

const counters: Counters = new Map();
for (const piece of found) for (const [name, amount] of piece) counters.set(name, (counters.get(name) ?? 0) + amount);
const { text, plots, unexplained } = report(counters, { seed, scale, minutes: (performance.now() - started) / 60_000 });
const pictures = join(directory, 'statistics-calibration');
mkdirSync(pictures, { recursive: true });
writeFileSync(join(directory, 'statistics-calibration.md'), text);
for (const [name, plot] of plots) writeFileSync(join(pictures, `${name}.svg`), plot);
process.stdout.write(
  `Written to ${join(directory, 'statistics-calibration.md')}; ${unexplained} figures are outside without a reason.\n`,
);
if (unexplained > 0) process.exitCode = 1;
