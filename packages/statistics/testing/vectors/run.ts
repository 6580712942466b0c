/** Computes every case of a vector file and compares. */
import { styleText } from 'node:util';
import { type Comparison, compareCase } from './compare.ts';
import { excuse } from './excuses.ts';
import { type VectorCase, type VectorFile, withNumbers } from './format.ts';
import { groups } from './groups.ts';

export interface GroupReport {
  readonly group: string;
  readonly passed: number;
  readonly failures: readonly { readonly testCase: VectorCase; readonly differences: readonly Comparison[] }[];
  /** How many differences each rule excuses. */
  readonly excused: ReadonlyMap<string, number>;
  /** The largest relative error of the numbers that are compared, by field. */
  readonly largestErrors: ReadonlyMap<string, number>;
}

/** What our functions make of a case; an exception of ours counts as no result. */
export function computeCase(group: string, testCase: VectorCase): unknown {
  const run = groups[group];
  if (run === undefined) return { exception: `There is no group ${group}.` };
  try {
    // Each group's function states the shape of its input; a file that breaks it fails the case.
    return run(withNumbers(testCase.input) as never, testCase.kind);
  } catch (error) {
    return { exception: error instanceof Error ? error.message : String(error), error: String(error) };
  }
}

export function runGroup({ group, cases }: VectorFile): GroupReport {
  const failures: { testCase: VectorCase; differences: Comparison[] }[] = [];
  const excused = new Map<string, number>();
  const largestErrors = new Map<string, number>();
  for (const testCase of cases) {
    const differences: Comparison[] = [];
    for (const comparison of compareCase(testCase, computeCase(group, testCase))) {
      const { field, isEqual, relativeError } = comparison;
      const reason = isEqual ? undefined : excuse(testCase, comparison);
      if (reason !== undefined) excused.set(reason, (excused.get(reason) ?? 0) + 1);
      else if (!isEqual) differences.push(comparison);
      else if (relativeError !== null) largestErrors.set(field, Math.max(relativeError, largestErrors.get(field) ?? 0));
    }
    if (differences.length > 0) failures.push({ testCase, differences });
  }
  return { group, passed: cases.length - failures.length, failures, excused, largestErrors };
}

const mostShown = 20;

/** The report as text: how many passed, what was excused and why, the largest relative error of each field, and failures. */
export function reportText({ group, passed, failures, excused, largestErrors }: GroupReport): string {
  const reasons = [...excused].map(([reason, count]) => `  excused ${count} ×: ${reason}`);
  const errors = [...largestErrors]
    .sort(([, a], [, b]) => b - a)
    .map(([field, error]) => `  ${error.toExponential(1).padStart(8)}  ${field}`);
  const shown = failures.slice(0, mostShown).map(({ testCase, differences }) => {
    const lines = differences
      .slice(0, 4)
      .map(({ path, expected, actual }) => `    ${path}: expected ${text(expected)}, got ${text(actual)}`);
    const head = `  ${styleText('red', 'failed')} ${testCase.id} ${testCase.kind} [${testCase.tags.join(', ')}]`;
    return [`${head}, ${differences.length} differences`, ...lines].join('\n');
  });
  return [
    `${group}: ${passed} passed, ${failures.length} failed`,
    ...reasons,
    ...(errors.length > 0 ? ['  largest relative error of', ...errors] : []),
    ...shown,
  ].join('\n');
}

function text(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'undefined').slice(0, 200);
}
