import { parse as parseForm } from 'qs';
import sjson from 'secure-json-parse';
import { invalid, Refusal } from '../platform/index.ts';

/** Most bytes of a request body. */
export const bodyLimit = 2 * 1024 * 1024;

const deepest = 32;
const mostMembers = 50_000;

/**
 * Decodes a request body by its content type: JSON, or a form with bracketed names.
 *
 * @returns `form` tells that every value arrived as text
 * @throws Refusal (invalid) when it is malformed, or shaped to do harm
 */
export function decodeBody(
  bytes: Buffer | undefined,
  headers: { contentType: string | undefined; contentEncoding: string | undefined },
): { value: unknown; form: boolean } {
  if (bytes === undefined || bytes.length === 0) return { value: undefined, form: false };
  if (headers.contentEncoding !== undefined && headers.contentEncoding.toLowerCase() !== 'identity') {
    throw invalid('Request bodies are taken as they are: send this one without Content-Encoding.');
  }
  const [type = '', ...parameters] = (headers.contentType ?? 'application/json').split(';').map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter));
  if (charset !== undefined && !/^charset="?utf-?8"?$/i.test(charset)) {
    throw invalid('The request body must be encoded as UTF-8.');
  }
  const text = decodeText(bytes);
  switch (type.toLowerCase()) {
    case 'application/json':
      return { value: parseJson(text), form: false };
    case 'application/x-www-form-urlencoded':
      return { value: decodeForm(text), form: true };
    default:
      throw invalid(
        `The request body is ${type === '' ? 'of no type' : type}; send application/json or application/x-www-form-urlencoded.`,
      );
  }
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed('it is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = sjson.parse(text, null, { protoAction: 'error', constructorAction: 'ignore' });
  } catch (error) {
    throw malformed((error as Error).message);
  }
  refuseHarm(value);
  return value;
}

const malformed = (why: string) =>
  new Refusal('invalid', `The request body cannot be read: ${why}.`, { body: { status: 400 } });

function decodeForm(text: string): unknown {
  // The decoder drops such names silently; like JSON's, they are told.
  if (text.split('&').some(namesPrototype)) throw malformed('it names "__proto__"');
  let value: unknown;
  try {
    value = parseForm(text, {
      depth: deepest,
      strictDepth: true,
      parameterLimit: 5_000,
      arrayLimit: 1_000,
      throwOnLimitExceeded: true,
      plainObjects: true,
    });
  } catch (error) {
    throw malformed((error as Error).message);
  }
  refuseHarm(value);
  return value;
}

const namesPrototype = (pair: string): boolean =>
  /__proto__/.test(pair.split('=', 1)[0]?.replaceAll(/%5f/gi, '_') ?? '');

/**
 * Refuses what no honest request holds: very deep or very many values, and text that the database cannot store.
 * Everything after this may recurse over the value without fear.
 */
export function refuseHarm(value: unknown): void {
  let members = 0;
  const visit = (node: unknown, depth: number): void => {
    if (typeof node === 'string') return refuseUnstorable(node);
    if (node === null || typeof node !== 'object') return;
    if (depth > deepest) throw invalid(`The request is nested deeper than ${deepest} levels.`);
    const entries: [string, unknown][] = Object.entries(node);
    members += entries.length;
    if (members > mostMembers) throw invalid(`The request holds more than ${mostMembers} values.`);
    for (const [key, member] of entries) {
      if (key === '__proto__') throw invalid('The request holds the key "__proto__", which is not allowed.');
      refuseUnstorable(key);
      visit(member, depth + 1);
    }
  };
  visit(value, 1);
}

function refuseUnstorable(text: string): void {
  if (text.includes('\0')) throw invalid('The request holds a NUL character, which cannot be stored.');
  if (!text.isWellFormed()) throw invalid('The request holds half a Unicode character, which cannot be stored.');
}
