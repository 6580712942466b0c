import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fnv1a, hash } from './index.ts';

const users = ['user-1', 'user-2', 'user-3', 'user-4'] as const;

/** FNV-1a as its authors write it, with numbers that cannot overflow. */
function plainFnv1a(text: string): bigint {
  let state = 0x811c9dc5n;
  for (let index = 0; index < text.length; index++) {
    state = ((state ^ BigInt(text.charCodeAt(index))) * 16_777_619n) % 2n ** 32n;
  }
  return state;
}

const anyText = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });

describe('the hash', () => {
  test('is FNV-1a over UTF-16 code units for every text, also one with lone surrogates', () => {
    expect(fnv1a('a')).toBe(3_826_002_220);
    fc.assert(
      fc.property(anyText, (text) => {
        expect(fnv1a(text)).toBe(Number(plainFnv1a(text)));
      }),
    );
  });

  test('of version 1 is that of value and seed, in thousandths', () => {
    expect(users.map((user) => hash('my-flag', user, 1))).toEqual([0.459, 0.748, 0.933, 0.182]);
    fc.assert(
      fc.property(anyText, anyText, (seed, value) => {
        expect(hash(seed, value, 1)).toBe(Number(plainFnv1a(value + seed) % 1000n) / 1000);
      }),
    );
  });

  test('of version 2 is that of the decimal text of the hash of seed and value, in ten-thousandths', () => {
    expect(users.map((user) => hash('my-flag', user, 2))).toEqual([0.3435, 0.3864, 0.1482, 0.6499]);
    expect(users.map((user) => hash('fr_a1', user, 2))).toEqual([0.3395, 0.7676, 0.3916, 0.3463]);
    expect(users.map((user) => hash('checkout-test', user, 2))).toEqual([0.6947, 0.472, 0.6567, 0.8658]);
    fc.assert(
      fc.property(anyText, anyText, (seed, value) => {
        const inner = String(plainFnv1a(seed + value));
        expect(hash(seed, value, 2)).toBe(Number(plainFnv1a(inner) % 10_000n) / 10_000);
      }),
      { numRuns: 2000 },
    );
  });

  test('of version 2 is right for inner hashes of every length of digits', () => {
    // Inner hashes below 1 000 000 are one in four thousand, so they are looked for.
    const lengths = new Set<number>();
    for (let index = 0; index < 60_000; index++) {
      const value = `u${index}`;
      const inner = String(fnv1a(value));
      if (lengths.has(inner.length)) continue;
      lengths.add(inner.length);
      expect(hash('', value, 2)).toBe(Number(plainFnv1a(inner) % 10_000n) / 10_000);
    }
    expect([...lengths].sort((left, right) => left - right)).toEqual([6, 7, 8, 9, 10]);
  });

  test('goes by UTF-16 units, so that 日本 and emoji give the listed results [flags M100]', () => {
    expect(hash('x', '日本', 2)).toBe(0.1456);
    // Two units each; by code points or UTF-8 bytes these would be others.
    expect(fnv1a('😀')).toBe(Number(plainFnv1a('\ud83d\ude00')));
    expect(hash('x', '😀', 1)).toBe(Number(plainFnv1a('😀x') % 1000n) / 1000);
    expect(hash('x', '😀', 2)).toBe(Number(plainFnv1a(String(plainFnv1a('x😀'))) % 10_000n) / 10_000);
  });

  test('does not exist for another version', () => {
    expect([0, 3, 99, -1, Number.NaN].map((version) => hash('seed', 'a', version))).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  test.each([1, 2])('of version %i spreads users evenly', (version) => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (let user = 0; user < 20_000; user++) {
      const bucket = Math.floor((hash('spread', `user-${user}`, version) ?? -1) * 10);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    // Six standard deviations of a fair draw: 6 · √(20000 · 0.1 · 0.9) ≈ 255.
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(255);
  });

  test('under different seeds is independent', () => {
    let both = 0;
    for (let user = 0; user < 20_000; user++) {
      const inFirst = (hash('first', `user-${user}`, 2) ?? 1) < 0.5;
      const inSecond = (hash('second', `user-${user}`, 2) ?? 1) < 0.5;
      if (inFirst && inSecond) both++;
    }
    expect(Math.abs(both - 5000)).toBeLessThan(6 * Math.sqrt(20_000 * 0.25 * 0.75));
  });
});
