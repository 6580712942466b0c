import type { IncomingMessage } from 'node:http';
import { parse as parseForm } from 'qs';
import sjson from 'secure-json-parse';
import { invalid, Refusal } from '../platform/index.ts';

/** Most bytes of a request body. */
export const bodyLimit = 2 * 1024 * 1024;

const deepest = 32;
const mostMembers = 50_000;

interface BodyHeaders {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/**
 * Decodes a request body by its content type: JSON, or a form with bracketed names.
 *
 * @returns `form` tells that every value arrived as text
 * @throws Refusal (invalid) when it is malformed, or shaped to do harm
 */
export function decodeBody(bytes: Buffer | undefined, headers: BodyHeaders): { value: unknown; form: boolean } {
  if (bytes === undefined || bytes.length === 0) return { value: undefined, form: false };
  const { type, text } = textOf(bytes, headers);
  switch (type) {
    case 'application/json': {
      const value = parseJson(text);
      refuseHarm(value);
      return { value, form: false };
    }
    case 'application/x-www-form-urlencoded':
      return { value: decodeForm(text), form: true };
    default:
      throw invalid(
        `The request body is ${type === '' ? 'of no type' : type}; send application/json or application/x-www-form-urlencoded.`,
      );
  }
}

/**
 * Reads the body of a public route: JSON, of whatever type SDKs say it is. None of it is stored, so its texts may hold
 * anything.
 *
 * @returns undefined for an empty body
 * @throws Refusal when it is too large, malformed, or shaped to do harm
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await collect(request);
  if (bytes.length === 0) return undefined;
  const { headers } = request;
  const { text } = textOf(bytes, {
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  });
  const value = parseJson(text);
  refuseExcess(value, () => undefined);
  return value;
}

/** What is larger than the limit is not read on; whoever answers must close the connection. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= bodyLimit) return;
      request.removeAllListeners('data').pause();
      reject(tooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(chunks, size)));
    request.on('error', reject);
  });
}

export const tooLarge = (): Refusal => new Refusal('tooLarge', `The request body is larger than ${bodyLimit} bytes.`);

/** The text of a body, and the media type that it says it is of. */
function textOf(bytes: Buffer, { contentType, contentEncoding }: BodyHeaders): { type: string; text: string } {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw invalid('Request bodies are taken as they are: send this one without Content-Encoding.');
  }
  const [type = '', ...parameters] = (contentType ?? 'application/json').split(';').map((part) => part.trim());
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter));
  if (charset !== undefined && !/^charset="?utf-?8"?$/i.test(charset)) {
    throw invalid('The request body must be encoded as UTF-8.');
  }
  return { type: type.toLowerCase(), text: decodeText(bytes) };
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed('it is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return sjson.parse(text, null, { protoAction: 'error', constructorAction: 'ignore' });
  } catch (error) {
    throw malformed((error as Error).message);
  }
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
 * Refuses what no honest request holds: very deep or very many values, and text and numbers that cannot be stored.
 * Everything after this may recurse over the value without fear.
 */
export function refuseHarm(value: unknown): void {
  // Lists of texts, such as the users of a saved group, are as long as the body may be.
  refuseExcess(value, refuseUnstorable, (member) => typeof member !== 'string');
}

/**
 * @param check is given every text, every number and every name
 * @param counts which members of lists count towards the limit
 */
function refuseExcess(
  value: unknown,
  check: (value: string | number) => void,
  counts: (member: unknown) => boolean = () => true,
): void {
  let members = 0;
  const visit = (node: unknown, depth: number): void => {
    if (typeof node === 'string' || typeof node === 'number') return check(node);
    if (node === null || typeof node !== 'object') return;
    if (depth > deepest) throw invalid(`The request is nested deeper than ${deepest} levels.`);
    const entries: [string, unknown][] = Object.entries(node);
    members += Array.isArray(node) ? node.filter(counts).length : entries.length;
    if (members > mostMembers)
      throw invalid(`The request holds more than ${mostMembers} values. Send fewer at a time.`);
    for (const [key, member] of entries) {
      if (key === '__proto__') throw invalid('The request holds the key "__proto__", which is not allowed.');
      check(key);
      visit(member, depth + 1);
    }
  };
  visit(value, 1);
}

function refuseUnstorable(value: string | number): void {
  if (typeof value === 'number') {
    // It would be stored as null.
    if (Number.isFinite(value)) return;
    throw invalid('The request holds a number that is too large, such as 1e400.');
  }
  if (value.includes('\0')) throw invalid('The request holds a NUL character, which cannot be stored.');
  if (!value.isWellFormed()) throw invalid('The request holds half a Unicode character, which cannot be stored.');
}
