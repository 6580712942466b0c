const INTEGER = /^\d+$/;

/**
 * The variation that the address asks for with `?<experiment key>=<index>`, or `null` when it asks for none or for
 * one that does not exist. Keys and values are compared as they stand, without decoding; the first entry counts.
 *
 * @example queryStringOverride('my-test', 'https://example.com/?my-test=1#top', 2) // 1
 */
export function queryStringOverride(experimentKey: string, url: string, variationCount: number): number | null {
  // Single-page apps keep their query behind the `#`, so the first `?` counts wherever it stands.
  const query = url.split('?', 2)[1]?.split('#', 1)[0];
  if (query === undefined) return null;
  for (const entry of query.split('&')) {
    const [key, value] = entry.split('=', 2);
    if (key !== experimentKey) continue;
    const index = value !== undefined && INTEGER.test(value) ? Number(value) : variationCount;
    return index < variationCount ? index : null;
  }
  return null;
}

/**
 * The destination of a redirect with the query parameters of the current address that it does not have itself.
 * The destination unchanged, where one of the two is no address.
 *
 * @example persistQueryString('https://a.example/?x=1&y=2', 'https://b.example/?y=3') // "https://b.example/?y=3&x=1"
 */
export function persistQueryString(currentUrl: string, destination: string): string {
  const current = URL.parse(currentUrl);
  const target = current && URL.parse(destination, current.href);
  if (current === null || target === null) return destination;
  const own = new Set(target.searchParams.keys());
  for (const [name, value] of current.searchParams) if (!own.has(name)) target.searchParams.append(name, value);
  return target.href;
}
