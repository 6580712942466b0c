/**
 * The hash that puts users into buckets (flags 8.1): FNV-1a with 32 bits over UTF-16 code units
 * (Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv/), which is what every SDK computes.
 */

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Takes the text into a hash state. States are int32 inside; only `fnv1a` shows them unsigned. */
function absorb(state: number, text: string): number {
  let hash = state;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  return hash;
}

/**
 * FNV-1a, 32 bits, over the UTF-16 code units of the text. An unsigned integer.
 *
 * @example fnv1a('a') // 3826002220
 */
export function fnv1a(text: string): number {
  return absorb(OFFSET_BASIS, text) >>> 0;
}

/** The numbers below 1000 as text, and as three digits packed into one integer, the first in the lowest byte. */
const SHORTEST = Array.from({ length: 1000 }, (_, number) => String(number));
const THREE_DIGITS = Uint32Array.from(SHORTEST, (text) => {
  const digits = text.padStart(3, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8) | (digits.charCodeAt(2) << 16);
});

/** `absorb(OFFSET_BASIS, String(number))` for an unsigned 32-bit integer, some three times as fast. */
function absorbDecimal(number: number): number {
  const millions = Math.floor(number / 1_000_000);
  const rest = number - millions * 1_000_000;
  const thousands = (rest / 1000) | 0;
  if (millions > 0) return absorbThree(absorbThree(absorbThousands(millions), thousands), rest % 1000);
  return absorbThousands(rest);
}

/** A number below 1 000 000 without leading zeros. */
function absorbThousands(number: number): number {
  return number < 1000 ? absorbLeading(number) : absorbThree(absorbLeading((number / 1000) | 0), number % 1000);
}

function absorbLeading(number: number): number {
  return absorb(OFFSET_BASIS, SHORTEST[number] as string);
}

function absorbThree(state: number, number: number): number {
  const digits = THREE_DIGITS[number] as number;
  let hash = Math.imul(state ^ (digits & 0xff), PRIME);
  hash = Math.imul(hash ^ ((digits >>> 8) & 0xff), PRIME);
  return Math.imul(hash ^ (digits >>> 16), PRIME);
}

/** A seed prepared for hashing many values. */
export interface SeededHash {
  readonly version: 1 | 2;
  readonly seed: string;
  /** Version 2 hashes the seed first, so its share of the work is done once; version 1 hashes it last. */
  readonly seedState: number;
}

/**
 * Prepares a seed. `null` for a hash version other than 1 and 2: such a hash exists for nobody.
 *
 * @example bucketOf(seedHash('checkout-test', 2)!, 'user-1') // 0.6947
 */
export function seedHash(seed: string, version: number): SeededHash | null {
  if (version === 1) return { version, seed, seedState: 0 };
  if (version === 2) return { version, seed, seedState: absorb(OFFSET_BASIS, seed) };
  return null;
}

/** The bucket of a value, 0 ≤ bucket < 1: thousandths in version 1, ten-thousandths in version 2. */
export function bucketOf(hash: SeededHash, value: string): number {
  if (hash.version === 2) return ((absorbDecimal(absorb(hash.seedState, value) >>> 0) >>> 0) % 10_000) / 10_000;
  return ((absorb(absorb(OFFSET_BASIS, value), hash.seed) >>> 0) % 1000) / 1000;
}

/**
 * The bucket of a value under a seed, 0 ≤ bucket < 1, or `null` for an unknown hash version.
 * Version 1 is `fnv(value + seed) mod 1000 / 1000`, version 2 `fnv(text of fnv(seed + value)) mod 10000 / 10000`.
 *
 * @example hash('my-flag', 'user-1', 1) // 0.459
 * @example hash('my-flag', 'user-1', 2) // 0.3435
 */
export function hash(seed: string, value: string, version: number): number | null {
  const seeded = seedHash(seed, version);
  return seeded === null ? null : bucketOf(seeded, value);
}
