import { decryptText } from '@halyard/evaluation';
import type { PayloadText } from '../serving/index.ts';
import { jsonMembers } from './json-members.ts';

/** What came is no payload. What was served before stays. */
export class MalformedPayload extends Error {}

export interface ReadPayload {
  readonly dateUpdated: Date;
  readonly encrypted: boolean;
  /** Null: it is encrypted, and the key is not known. */
  readonly text: PayloadText | null;
}

/**
 * Reads back what `payloadMembers` wrote.
 *
 * @throws MalformedPayload
 */
export function readPayload(members: string, encryptionKey: string | null): ReadPayload {
  try {
    // Judges the whole text; the parts are then taken as they are written.
    JSON.parse(`{${members}}`);
    const written = jsonMembers(members);
    const dateUpdated = new Date(JSON.parse(written.get('dateUpdated') ?? '""') as string);
    if (Number.isNaN(dateUpdated.getTime())) throw new SyntaxError('its dateUpdated is no date');
    const encrypted = written.has('encryptedFeatures');
    const member = (name: string): string | undefined => {
      const twin = written.get(`encrypted${name.charAt(0).toUpperCase()}${name.slice(1)}`);
      if (!encrypted || encryptionKey === null) return written.get(name);
      return twin === undefined ? undefined : decryptedJson(twin, encryptionKey);
    };
    const features = member('features');
    if (features === undefined || !features.startsWith('{')) throw new SyntaxError('it has no features');
    const text = { features, experiments: member('experiments'), savedGroups: member('savedGroups') };
    return { dateUpdated, encrypted, text: encrypted && encryptionKey === null ? null : text };
  } catch (error) {
    throw new MalformedPayload(`The upstream sent what is no payload: ${(error as Error).message}`, { cause: error });
  }
}

function decryptedJson(written: string, encryptionKey: string): string {
  const text = decryptText(JSON.parse(written) as string, encryptionKey);
  JSON.parse(text);
  return text;
}
