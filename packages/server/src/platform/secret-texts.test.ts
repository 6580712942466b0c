import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secretTexts } from './secret-texts.ts';

const texts = secretTexts({ dataEncryptionKey: Buffer.alloc(32, 7) });

describe('a text that is stored encrypted', () => {
  test('is read again by the same key at the same place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, place) => {
        expect(texts.decrypt(texts.encrypt(text, place), place)).toBe(text.toWellFormed());
      }),
    );
  });

  test('cannot be read at another place, by another key, or when a bit of it differs', () => {
    const encrypted = texts.encrypt('wk_secret', 'org_1 wh_1');
    expect(encrypted).not.toContain('wk_secret');
    expect(() => texts.decrypt(encrypted, 'org_1 wh_2')).toThrow(/authenticate/);
    const other = secretTexts({ dataEncryptionKey: Buffer.alloc(32, 8) });
    expect(() => other.decrypt(encrypted, 'org_1 wh_1')).toThrow(/authenticate/);
    const bytes = Buffer.from(encrypted, 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const bent = Buffer.from(bytes);
      bent[at] = (bent[at] ?? 0) ^ 1;
      expect(() => texts.decrypt(bent.toString('base64'), 'org_1 wh_1')).toThrow(/authenticate/);
    }
  });

  test('never looks the same twice', () => {
    expect(texts.encrypt('same', 'place')).not.toBe(texts.encrypt('same', 'place'));
  });
});
