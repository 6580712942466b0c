import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-128-cbc';
const BLOCK_BYTES = 16;

/** A text that does not decrypt: wrong key, damaged, or not made by `encryptText`. The message never holds the key or the text. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * Encrypts a text of the payload (flags A26): AES-128-CBC with PKCS#7 padding over UTF-8. The same inputs give the
 * same output; the caller draws a new IV for each text and each change.
 *
 * @param key base64 of 16 bytes, the connection's `encryptionKey`.
 * @param iv 16 random bytes.
 * @returns base64 of the IV, `.`, base64 of the ciphertext.
 * @throws RangeError when the key or the IV has another length.
 * @example encryptText('{"a":1}', 'Zvwv/+uhpFDznZ6SX28Yjg==', randomBytes(16))
 */
export function encryptText(text: string, key: string, iv: Uint8Array): string {
  const keyBytes = bytesOf(key);
  if (keyBytes?.length !== BLOCK_BYTES) throw new RangeError('The encryption key must be the base64 of 16 bytes');
  if (iv.length !== BLOCK_BYTES) throw new RangeError('The initialization vector must have 16 bytes');
  const cipher = createCipheriv(ALGORITHM, keyBytes, iv);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${Buffer.from(iv).toString('base64')}.${ciphertext.toString('base64')}`;
}

/**
 * Decrypts what `encryptText` made. The text may still be broken JSON.
 *
 * @throws DecryptionError
 * @example decryptText(encrypted, 'Zvwv/+uhpFDznZ6SX28Yjg==') // '{"feature":{"defaultValue":true}}'
 */
export function decryptText(encrypted: string, key: string): string {
  const keyBytes = bytesOf(key);
  if (keyBytes?.length !== BLOCK_BYTES) throw new DecryptionError('The key must be the base64 of 16 bytes');
  const [iv, ciphertext, ...rest] = encrypted.split('.').map(bytesOf);
  if (iv?.length !== BLOCK_BYTES || !ciphertext || rest.length > 0) {
    throw new DecryptionError('An encrypted text is base64 of 16 bytes, a dot, and base64 of the ciphertext');
  }
  try {
    const decipher = createDecipheriv(ALGORITHM, keyBytes, iv);
    const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
    return new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch (cause) {
    throw new DecryptionError('The text does not decrypt with this key', { cause });
  }
}

/** Node's own decoder skips what is no base64 instead of refusing it. */
function bytesOf(base64: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0 ? Buffer.from(base64, 'base64') : undefined;
}
