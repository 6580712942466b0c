import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Makes ids: a prefix that tells the kind, then a suffix that rises with time. */
export type NewId = (prefix: string) => string;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLetters = 10;
const randomLetters = 12;

/**
 * Ids of letters and digits, 10 for the millisecond and 12 (60 bits) at random; ids of one process rise even within one
 * millisecond, so that "ascending by id" is the order of creation.
 */
export function idMaker(clock: Clock): NewId {
  let lastTime = 0;
  let lastRandom = 0n;
  return (prefix) => {
    const time = Math.max(clock.now().getTime(), lastTime);
    lastRandom = time === lastTime ? lastRandom + 1n : freshRandom();
    lastTime = time;
    return prefix + letters(BigInt(time), timeLetters) + letters(lastRandom, randomLetters);
  };
}

/** Leaves the top bit free, so that counting up within a millisecond never overflows. */
const freshRandom = (): bigint => randomBytes(8).readBigUInt64BE() >> 5n;

function letters(value: bigint, count: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < count; i++) {
    text = alphabet.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}
