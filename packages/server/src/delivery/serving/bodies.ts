import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const codings = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof codings)[number];

/** A payload in one content coding, ready to be sent. */
export interface Body {
  readonly coding: Coding;
  readonly bytes: Buffer;
  readonly etag: string;
}

const opening = '{"status":200,';

/** The plain answer of a payload. */
export const answerOf = (members: string): Buffer => Buffer.from(`${opening}${members}}`);

/** The members of a payload from its plain answer; null: that is no such answer. */
export const membersOf = (answer: string): string | null =>
  answer.startsWith(opening) && answer.endsWith('}') ? answer.slice(opening.length, -1) : null;

/**
 * The answer of a payload in every content coding. The plain one is there at once; the compressed ones follow from another
 * thread, and until then the plain one is sent in their place.
 */
export class Bodies {
  /** In the order of `codings`. */
  readonly #etags: readonly string[];
  readonly #ready = new Map<Coding, Body>();

  /** @param hash of the plain text and the key: the same for the same payload in every process */
  constructor(members: string, hash: string) {
    this.#etags = codings.map((coding) => (coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`));
    this.#put('identity', answerOf(members));
  }

  /** @param accepted from the most wanted on */
  best(accepted: readonly Coding[]): Body {
    for (const coding of accepted) {
      const body = this.#ready.get(coding);
      if (body !== undefined) return body;
    }
    return this.identity;
  }

  get identity(): Body {
    const body = this.#ready.get('identity');
    if (body === undefined) throw new Error('The plain body is made first.');
    return body;
  }

  /** The plain body without `status`, from behind its opening brace: what events carry. */
  get members(): Buffer {
    return this.identity.bytes.subarray(opening.length);
  }

  /** The tag of the body that a client has already; null: it has none of these. */
  matching(ifNoneMatch: string): string | null {
    const same = this.#etags.find((tag) => tag === ifNoneMatch);
    if (same !== undefined) return same;
    const tags = new Set(ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, '')));
    if (tags.has('*')) return this.identity.etag;
    return this.#etags.find((tag) => tags.has(tag)) ?? null;
  }

  async compress(): Promise<void> {
    const { bytes } = this.identity;
    const [zipped, brotli] = await Promise.all([
      promisify(gzip)(bytes, { level: 6 }),
      promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    ]);
    this.#put('gzip', zipped);
    this.#put('br', brotli);
  }

  #put(coding: Coding, bytes: Buffer): void {
    const etag = this.#etags[codings.indexOf(coding)] ?? '';
    this.#ready.set(coding, { coding, bytes, etag });
  }
}

const known = new Map<string, readonly Coding[]>();
const plainOnly: readonly Coding[] = ['identity'];

/** The codings that a client accepts, from the most wanted on. There are few such headers, so they are read once. */
export function acceptedCodings(header: string | undefined): readonly Coding[] {
  if (header === undefined) return plainOnly;
  const read = known.get(header);
  if (read !== undefined) return read;
  const accepted = readAccepted(header);
  if (known.size < 1_000) known.set(header, accepted);
  return accepted;
}

function readAccepted(header: string): Coding[] {
  const weights = new Map(
    header.split(',').map((part): [string, number] => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const q = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, q === undefined ? 1 : Number(q.slice(2)) || 0];
    }),
  );
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? 0.001 : 0);
  return codings.filter((coding) => weightOf(coding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
}
