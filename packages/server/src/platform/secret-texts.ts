import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secrets } from './secrets.ts';

/** Encrypts what is stored and must not be readable in the database or a copy of it. */
export interface SecretTexts {
  /** @param place where the text is kept: what is encrypted for one place cannot be decrypted at another */
  encrypt(text: string, place: string): string;
  /** @throws Error when it was not encrypted for this place with this key */
  decrypt(encrypted: string, place: string): string;
}

const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

export function secretTexts({ dataEncryptionKey }: Pick<Secrets, 'dataEncryptionKey'>): SecretTexts {
  const key = Buffer.from(hkdfSync('sha256', dataEncryptionKey, '', 'secret texts', 32));
  return {
    encrypt(text, place) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(place));
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64');
    },
    decrypt(encrypted, place) {
      const bytes = Buffer.from(encrypted, 'base64');
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
      return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString('utf8');
    },
  };
}
