import type { UrlTarget } from './payload.ts';
import { nativeRegularExpression, type RegularExpressionFactory } from './regular-expression.ts';
import { matchesWildcard, type WildcardPattern } from './wildcard.ts';

/** Whether an address is targeted. Never throws. */
export type UrlPredicate = (url: string) => boolean;

/**
 * Compiles URL targets (flags 8.7): false without targets or where an excluding one matches; else whether an
 * including one matches, or there is none.
 *
 * @example compileUrlTargets([{ include: true, type: 'simple', pattern: '*.example.com/shop/*' }])(
 *   'https://www.example.com/shop/cart') // true
 */
export function compileUrlTargets(
  targets: readonly UrlTarget[],
  regularExpression: RegularExpressionFactory = nativeRegularExpression,
): UrlPredicate {
  const compile = (target: UrlTarget) => compileTarget(target, regularExpression);
  const included = targets.filter((target) => target.include).map(compile);
  const excluded = targets.filter((target) => !target.include).map(compile);
  if (targets.length === 0) return () => false;
  return (url) => {
    const address = URL.parse(url, RELATIVE_BASE);
    if (address === null || excluded.some((matches) => matches(address))) return false;
    return included.length === 0 || included.some((matches) => matches(address));
  };
}

type AddressPredicate = (address: URL) => boolean;

/** An address without a host, such as `/home`, matches patterns without one. */
const RELATIVE_BASE = 'https://no-host.invalid';

function compileTarget(target: UrlTarget, regularExpression: RegularExpressionFactory): AddressPredicate {
  if (target.type === 'simple') return compileSimpleTarget(target.pattern);
  if (target.type === 'regex') return compileRegexTarget(target.pattern, regularExpression);
  return () => false;
}

/** Searched in the whole address and in its path, query and hash. */
function compileRegexTarget(pattern: string, factory: RegularExpressionFactory): AddressPredicate {
  try {
    const expression = factory(pattern, false);
    return (address) => {
      try {
        return expression.test(address.href) || expression.test(address.pathname + address.search + address.hash);
      } catch {
        return false;
      }
    };
  } catch {
    return () => false;
  }
}

/**
 * Compares host, path, each query parameter of the pattern and, if the pattern has one, the hash, each with
 * wildcards and without regard to case. A pattern whose first part has a dot starts with a host.
 */
function compileSimpleTarget(pattern: string): AddressPredicate {
  const wildcard = unusedWord(pattern);
  const startsWithHost = /^[^:/?#]*\./.test(pattern);
  // The parser normalizes the pattern like the address; a wildcard must look like a word to come through.
  const expected = URL.parse(
    (startsWithHost ? `https://${pattern}` : pattern).replaceAll('*', wildcard),
    `https://${wildcard}`,
  );
  if (expected === null) return () => false;

  const parts = (text: string): WildcardPattern => text.toLowerCase().split(wildcard);
  const host = parts(expected.host);
  const path = parts(expected.pathname.replace(/^\//, '').replace(/\/$/, ''));
  const hash = expected.hash === '' ? undefined : parts(expected.hash);
  const parameters = [...expected.searchParams].map(([name, value]) => ({ name, value: parts(value) }));
  return (address) =>
    matchesWildcard(address.host.toLowerCase(), host) &&
    matchesPath(address.pathname.toLowerCase(), path) &&
    (hash === undefined || matchesWildcard(address.hash.toLowerCase(), hash)) &&
    parameters.every(({ name, value }) => matchesWildcard((address.searchParams.get(name) ?? '').toLowerCase(), value));
}

/** One leading and one trailing slash of the address may stand beside the pattern. */
function matchesPath(path: string, pattern: WildcardPattern): boolean {
  const bare = path.startsWith('/') ? path.slice(1) : path;
  return (
    matchesWildcard(bare, pattern) ||
    matchesWildcard(path, pattern) ||
    (path.endsWith('/') && (matchesWildcard(bare.slice(0, -1), pattern) || matchesWildcard(path.slice(0, -1), pattern)))
  );
}

/**
 * A lower-case word that the pattern does not contain. Its underscores keep a wildcard from becoming part of a
 * protocol, where they are not allowed.
 */
function unusedWord(pattern: string): string {
  const lowered = pattern.toLowerCase();
  let word = '_wildcard_';
  while (lowered.includes(word)) word += '_';
  return word;
}
