import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateCondition, paddedVersion } from './index.ts';

describe('a padded version', () => {
  test.each([
    ['1.2.3', '    1-    2-    3-~'],
    ['v1.2.3-rc.1+b', '    1-    2-    3-rc-    1'],
    ['1.2', '    1-    2'],
    ['', '    0'],
    [null, '    0'],
    [['1'], '    0'],
    [5, '    5'],
    [1.5, '    1-    5'],
    ['123456.0.0', '123456-    0-    0-~'],
    ['v', ''],
    ['1..2', '    1--    2-~'],
  ])('of %j is %j', (version, padded) => {
    expect(paddedVersion(version)).toBe(padded);
  });

  test('sorts pre-releases before their release, numbers by size, and short versions before long ones', () => {
    const sorted = ['1.2', '1.2.0', '1.2.3-rc', '1.2.3', '1.9.0', '1.10.0'];
    expect(sorted.toSorted((left, right) => (paddedVersion(left) < paddedVersion(right) ? -1 : 1))).toEqual(sorted);
  });
});

describe('the version operators', () => {
  const part = fc.oneof(
    fc.constantFrom('1', '2', '10', '3', 'rc', 'alpha', '', 'v', '~', ' ', '99999', '100000'),
    fc.string(),
  );
  const version = fc.oneof(
    fc
      .array(part, { maxLength: 5 })
      .chain((parts) => fc.constantFrom(parts.join('.'), parts.join('-'), `v${parts.join('.')}+b`)),
    fc.constantFrom('1.2.3', 'v1.2.3', '1.2.3+5', '1-2-3', 5, null, ''),
  );

  test('order versions as their padded texts sort', () => {
    fc.assert(
      fc.property(version, version, (actual, operand) => {
        const [left, right] = [paddedVersion(actual), paddedVersion(operand)];
        const expected = {
          $veq: left === right,
          $vne: left !== right,
          $vlt: left < right,
          $vlte: left <= right,
          $vgt: left > right,
          $vgte: left >= right,
        };
        const got = Object.keys(expected).map((operator) =>
          evaluateCondition({ v: actual }, { v: { [operator]: operand } }),
        );
        expect(got).toEqual(Object.values(expected));
      }),
      { numRuns: 2000 },
    );
  });
});
