import { anyOrigin } from '../../http/index.ts';
import type { Bodies, Body } from './bodies.ts';

/** Headers as `writeHead` takes them without looking at each: names and values in turn. */
type HeaderList = string[];

interface Prepared {
  readonly version: number;
  readonly common: HeaderList;
  /** By ETag. */
  readonly whole: Map<string, HeaderList>;
  readonly notModified: Map<string, HeaderList>;
}

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
  whole(bodies: Bodies, body: Body, version: number, age: number | null): HeaderList {
    return withAge(this.#whole(bodies, body, version), age);
  }

  notModified(bodies: Bodies, etag: string, version: number, age: number | null): HeaderList {
    return withAge(this.#notModified(bodies, etag, version), age);
  }

  #whole(bodies: Bodies, { etag, coding, bytes }: Body, version: number): HeaderList {
    const { common, whole } = this.#prepare(bodies, version);
    const known = whole.get(etag);
    if (known !== undefined) return known;
    const encoding = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const length = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
    const headers = [...common, 'ETag', etag, ...encoding, ...length];
    whole.set(etag, headers);
    return headers;
  }

  #notModified(bodies: Bodies, etag: string, version: number): HeaderList {
    const { common, notModified } = this.#prepare(bodies, version);
    const known = notModified.get(etag);
    if (known !== undefined) return known;
    const headers = [...common, 'ETag', etag];
    notModified.set(etag, headers);
    return headers;
  }

  #prepare(bodies: Bodies, version: number): Prepared {
    const known = this.#prepared.get(bodies);
    if (known?.version === version) return known;
    const common = [...this.#always, String(version)];
    const fresh = { version, common, whole: new Map(), notModified: new Map() };
    this.#prepared.set(bodies, fresh);
    return fresh;
  }
}

const withAge = (headers: HeaderList, age: number | null): HeaderList =>
  age === null ? headers : [...headers, 'X-Service-Config-Age', String(age)];
