import { anyOrigin } from '../../http/index.ts';
import type { Bodies, Body } from './bodies.ts';
import type { Served } from './source.ts';

/** Headers as `writeHead` takes them without looking at each: names and values in turn. */
type HeaderList = string[];

interface Prepared {
  readonly version: number;
  readonly common: HeaderList;
  /** By ETag. */
  readonly whole: Map<string, HeaderList>;
  readonly notModified: Map<string, HeaderList>;
}

/** The version that changed this payload last. It tells an edge what the id of its events is. */
export const payloadVersionHeader = 'X-Service-Payload-Version';
/** Present where operands of the payload are hashed: nobody can evaluate it who does not hash attributes alike. */
export const payloadHashedHeader = 'X-Service-Payload-Hashed';

/** Headers with what else an edge needs to know of a payload. */
export const payloadFacts = ({ change, text, unhashed }: Served): (readonly [name: string, value: string])[] => [
  [payloadVersionHeader, String(change.version)],
  ...(text === unhashed ? [] : [[payloadHashedHeader, 'true'] as const]),
];

/** The headers of payload answers. They are put together once for each body and version: every SDK's request needs them. */
export class PayloadHeaders {
  readonly #always: HeaderList;
  readonly #prepared = new WeakMap<Bodies, Prepared>();

  constructor(cacheControl: string) {
    this.#always = [
      ...anyOrigin,
      'Cache-Control',
      cacheControl,
      'Vary',
      'Accept-Encoding',
      'x-sse-support',
      'enabled',
      'X-Service-Config-Version',
    ];
  }

  /**
   * @param version up to which the payload is right
   * @param age seconds since that was known to be the newest; null: it is known to be
   */
  whole(served: Served, body: Body, version: number, age: number | null): HeaderList {
    return withAge(this.#whole(served, body, version), age);
  }

  notModified(served: Served, etag: string, version: number, age: number | null): HeaderList {
    return withAge(this.#notModified(served, etag, version), age);
  }

  #whole(served: Served, { etag, coding, bytes }: Body, version: number): HeaderList {
    const { common, whole } = this.#prepare(served, version);
    const known = whole.get(etag);
    if (known !== undefined) return known;
    const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const length = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
    const headers = [...common, 'ETag', etag, ...encoding, ...length];
    whole.set(etag, headers);
    return headers;
  }

  #notModified(served: Served, etag: string, version: number): HeaderList {
    const { common, notModified } = this.#prepare(served, version);
    const known = notModified.get(etag);
    if (known !== undefined) return known;
    const headers = [...common, 'ETag', etag];
    notModified.set(etag, headers);
    return headers;
  }

  #prepare(served: Served, version: number): Prepared {
    const known = this.#prepared.get(served.bodies);
    if (known?.version === version) return known;
    const common = [...this.#always, String(version), ...payloadFacts(served).flat()];
    const fresh = { version, common, whole: new Map(), notModified: new Map() };
    this.#prepared.set(served.bodies, fresh);
    return fresh;
  }
}

const withAge = (headers: HeaderList, age: number | null): HeaderList =>
  age === null ? headers : [...headers, 'X-Service-Config-Age', String(age)];
