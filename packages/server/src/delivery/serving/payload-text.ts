import { createHash } from 'node:crypto';
import { encryptText } from '@halyard/evaluation';

/**
 * The plain text of a payload, without its date: what decides whether the payload has changed. Its members are JSON texts, in
 * the order in which they are written; the date stands after `experiments`.
 */
export interface PayloadText {
  readonly features: string;
  /** Undefined where the payload has no such member. */
  readonly experiments: string | undefined;
  readonly savedGroups: string | undefined;
}

/** Encrypted members by their plain names. */
export type Ciphertexts = Readonly<Record<string, string>>;

/**
 * Tells payloads apart: by their plain text and by the key they are encrypted with (null: none), never by ciphertext.
 */
export function payloadHash(text: PayloadText, encryptionKey: string | null): string {
  const hash = createHash('sha256');
  for (const part of [text.features, text.experiments ?? '-', text.savedGroups ?? '-', encryptionKey ?? '-']) {
    hash.update(part).update('\0');
  }
  return hash.digest('base64url').slice(0, 27);
}

/** Encrypts each member, with an initialization vector of its own. */
export function encrypted(text: PayloadText, encryptionKey: string, randomIv: () => Buffer): Ciphertexts {
  const members = Object.entries(text).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(members.map(([name, plain]) => [name, encryptText(plain, encryptionKey, randomIv())]));
}

/**
 * The members of a payload as they go out, in their order, without the braces around them.
 *
 * @param ciphertexts null: it goes out plain
 */
export function payloadMembers(text: PayloadText, ciphertexts: Ciphertexts | null, dateUpdated: Date): string {
  const date = `"dateUpdated":"${dateUpdated.toISOString()}"`;
  if (ciphertexts === null) {
    return [
      `"features":${text.features}`,
      ...(text.experiments === undefined ? [] : [`"experiments":${text.experiments}`]),
      date,
      ...(text.savedGroups === undefined ? [] : [`"savedGroups":${text.savedGroups}`]),
    ].join(',');
  }
  const twins = Object.entries(ciphertexts).map(
    ([name, ciphertext]) => `"encrypted${name.charAt(0).toUpperCase()}${name.slice(1)}":"${ciphertext}"`,
  );
  return ['"features":{}', ...(text.experiments === undefined ? [] : ['"experiments":[]']), date, ...twins].join(',');
}
