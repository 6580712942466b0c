/**
 * Runs the public SDK test vectors through our evaluation:
 *   node scripts/conformance.ts FILE
 * Prints a table and every failure; exits 1 on any failure.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { conformanceText, runConformance } from '../packages/evaluation/testing/conformance.ts';

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node scripts/conformance.ts FILE\n');
  process.exit(2);
}
const path = resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
const vectors: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'));
const reports = runConformance(vectors);
process.stdout.write(`${conformanceText(reports)}\n`);
if (reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
