import { expect, test } from 'vitest';
import { fixtureLines } from '../testing/fixtures.ts';
import type { VectorCase } from '../testing/vectors/format.ts';
import { reportText, runGroup } from '../testing/vectors/run.ts';

const cases = fixtureLines<VectorCase & { readonly group: string }>('vectors');
const groups = [...new Set(cases.map(({ group }) => group))];

test('the fixtures hold cases of every group', () => {
  expect(groups).toHaveLength(14);
});

test.each(groups)('%s: results agree with the reference vectors', (group) => {
  const report = runGroup({ group, cases: cases.filter((testCase) => testCase.group === group) });
  expect(report.failures.length > 0 ? reportText(report) : '').toBe('');
});
