import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecryptionError, decryptText, encryptText } from './index.ts';

const KEY = 'Zvwv/+uhpFDznZ6SX28Yjg==';
const TEXT = '{"feature":{"defaultValue":true}}';
const ENCRYPTED = 'm5ylFM6ndyOJA2OPadubkw==.Uu7ViqgKEt/dWvCyhI46q088PkAEJbnXKf3KPZjf9IEQQ+A8fojNoxw4wIbPX3aj';
const iv = new Uint8Array(Buffer.from('m5ylFM6ndyOJA2OPadubkw==', 'base64'));

describe('payload encryption', () => {
  test('gives and reads the published example', () => {
    expect(encryptText(TEXT, KEY, iv)).toBe(ENCRYPTED);
    expect(decryptText(ENCRYPTED, KEY)).toBe(TEXT);
  });

  test('brings back every text, and is the same for the same IV', () => {
    const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), bytes, bytes, (text, key, vector) => {
        const keyText = Buffer.from(key).toString('base64');
        const encrypted = encryptText(text, keyText, vector);
        expect(decryptText(encrypted, keyText)).toBe(text);
        expect(encryptText(text, keyText, vector)).toBe(encrypted);
      }),
    );
  });

  test('refuses keys and IVs of another length', () => {
    expect(() => encryptText(TEXT, 'AAAA', iv)).toThrow(RangeError);
    expect(() => encryptText(TEXT, KEY, iv.slice(1))).toThrow(RangeError);
  });

  test.each([
    ['a wrong key', ENCRYPTED, 'Zvwv/+uhpFDznZ6SX39Yjg=='],
    ['a key of the wrong length', ENCRYPTED, 'Zvwv/+uhpFDznSX39Yjg=='],
    ['a key that is no base64', ENCRYPTED, 'Zvwv/%!(pFDznZ6SX28Yjg=='],
    ['a damaged ciphertext', ENCRYPTED.replace('8PkAE', '!*&()'), KEY],
    ['a short IV', ENCRYPTED.replace('JA2', ''), KEY],
    ['no dot', ENCRYPTED.replace('.', ''), KEY],
    ['two dots', `${ENCRYPTED}.AAAA`, KEY],
    ['no ciphertext', 'm5ylFM6ndyOJA2OPadubkw==.', KEY],
    ['nothing', '', KEY],
  ])('says so for %s, without telling key or text', (_case, encrypted, key) => {
    expect(() => decryptText(encrypted, key)).toThrow(DecryptionError);
    expect(() => decryptText(encrypted, key)).not.toThrow(key);
  });
});
