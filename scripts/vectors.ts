/**
 * Runs vectors of the statistics engine through ours:
 *   node scripts/vectors.ts FILE…             prints what passed and the largest relative errors; exits 1 on a failure
 *   node scripts/vectors.ts FILE --out RESULT writes { caseId: result } in the shape of the file's `expected`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type VectorFile, withStrings } from '../packages/statistics/testing/vectors/format.ts';
import { computeCase, reportText, runGroup } from '../packages/statistics/testing/vectors/run.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } });
const [first, ...others] = positionals;
if (first === undefined || (values.out !== undefined && others.length > 0)) {
  process.stderr.write('usage: node scripts/vectors.ts FILE… | FILE --out RESULT.json\n');
  process.exit(2);
}

const pathOf = (given: string): string => resolve(process.env['INIT_CWD'] ?? process.cwd(), given);
const read = (given: string): VectorFile => JSON.parse(readFileSync(pathOf(given), 'utf8'));

if (values.out === undefined) {
  for (const file of positionals) {
    const report = runGroup(read(file));
    process.stdout.write(`${reportText(report)}\n`);
    if (report.failures.length > 0) process.exitCode = 1;
  }
} else {
  const { group, cases } = read(first);
  const results = cases.map((testCase) => [testCase.id, withStrings(computeCase(group, testCase))]);
  writeFileSync(pathOf(values.out), `${JSON.stringify(Object.fromEntries(results), null, 1)}\n`);
}
