import { type AST, RegExpParser } from '@eslint-community/regexpp';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { effortOf } from './bounds.ts';
import { type CharacterNode, characterReaderOf } from './character-set.ts';
import { contains } from './code-points.ts';

function readClass(source: string, flags: string) {
  const unicode = flags.includes('u');
  const pattern: AST.Pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode });
  const node = pattern.alternatives[0]!.elements[0] as CharacterNode;
  const modes = { ignoreCase: flags.includes('i'), dotAll: flags.includes('s'), multiline: false };
  return characterReaderOf(effortOf(1_000_000))(node, modes);
}

const members = ['a', 'K', 'é', 'Σ', '\\n', '_', '0-9', 'a-f', 'À-ž', 'Α-ω', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S'];
const classArbitrary = fc.oneof(
  fc.constantFrom('.', 'x', 'Ü', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[]', '[^]'),
  fc
    .tuple(fc.constantFrom('[', '[^'), fc.subarray(members, { minLength: 1, maxLength: 4 }))
    .map(([open, chosen]) => `${open}${chosen.join('')}]`),
);

const boundaries = [
  0x09, 0x0a, 0x0d, 0x20, 0x2f, 0x30, 0x39, 0x41, 0x5f, 0x61, 0x7a, 0xa0, 0xe9, 0x3c3, 0x2028, 0xfeff,
];
const unitArbitrary = fc.oneof(fc.constantFrom(...boundaries), fc.nat({ max: 0x7ff }), fc.nat({ max: 0xffff }));

describe('the characters read from a class are those that JavaScript matches', () => {
  test.each(['', 's', 'i'])('with the flags "%s"', (flags) => {
    fc.assert(
      fc.property(classArbitrary, fc.array(unitArbitrary, { minLength: 30, maxLength: 30 }), (source, units) => {
        const codePoints = readClass(source, flags);
        const native = new RegExp(`^${source}$`, flags);
        const misread = units.filter((unit) => contains(codePoints, unit) !== native.test(String.fromCharCode(unit)));
        expect(misread).toEqual([]);
      }),
    );
  });

  test('for Unicode properties', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('L', 'Lu', 'N', 'P', 'Script=Greek', 'Script=Han', 'Emoji', 'ASCII', 'Cs', 'Any', 'Zs'),
        fc.boolean(),
        fc.oneof(fc.nat({ max: 0x2ff }), fc.nat({ max: 0xffff }), fc.nat({ max: 0x3ffff })),
        (property, negated, codePoint) => {
          const source = `\\${negated ? 'P' : 'p'}{${property}}`;
          const isMember = new RegExp(`^${source}$`, 'u').test(String.fromCodePoint(codePoint));
          expect(contains(readClass(source, 'u'), codePoint)).toBe(isMember);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
