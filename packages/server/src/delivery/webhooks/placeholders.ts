/** A webhook secret with its value. */
export interface OpenSecret {
  readonly key: string;
  readonly value: string;
  /** Where it may be sent to; none: anywhere. */
  readonly allowedOrigins: readonly string[];
}

/** What webhooks write secrets into: an address, and the values of headers. */
export interface Template {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const placeholder = /\{\{\s*([A-Z0-9_]+)\s*\}\}/g;

/** Whether there is anything to fill in. */
export const hasPlaceholders = ({ url, headers }: Template): boolean =>
  [url, ...Object.values(headers)].some((text) => text.search(placeholder) !== -1);

/** An address with something plain for every placeholder: it has the same origin, and can be judged. */
export const withoutPlaceholders = (url: string): string => url.replaceAll(placeholder, 'x');

/** Whether a placeholder stands where the host is told: then it could not be known who is sent the secrets. */
export const hidesItsHost = (url: string): boolean => (/^[^:]*:[/\\]*[^/\\?#]*/.exec(url)?.[0] ?? url).includes('{{');

/**
 * Replaces `{{ NAME }}` by the secret of that name, in the address percent-encoded, where the secret may be sent to the
 * address's origin. What names no such secret stays as it is written.
 */
export function fillPlaceholders({ url, headers }: Template, secrets: readonly OpenSecret[]): Template {
  const { origin } = new URL(withoutPlaceholders(url));
  const values = new Map(
    secrets
      .filter(({ allowedOrigins }) => allowedOrigins.length === 0 || allowedOrigins.includes(origin))
      .map(({ key, value }) => [key, value]),
  );
  const fill = (text: string, encode: (value: string) => string) =>
    text.replaceAll(placeholder, (written, key: string) => {
      const value = values.get(key);
      return value === undefined ? written : encode(value);
    });
  return {
    url: fill(url, encodeURIComponent),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, (text) => text)])),
  };
}
