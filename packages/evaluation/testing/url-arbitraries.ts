/** Random addresses and URL targets that often fit each other. */
import * as fc from 'fast-check';
import type { UrlTarget } from '../src/index.ts';

const host = fc.constantFrom('www.example.com', 'example.com', 'EXAMPLE.com:8080', 'shop.example.co.uk', 'bücher.de');
const path = fc.constantFrom(
  '',
  '/',
  '/home',
  '/home/',
  '/a/b/c',
  '/A/b',
  '/a b',
  '/é.html',
  '/a.b',
  '//a//',
  '/x/../y',
);
const query = fc.constantFrom('', '?', '?a=1', '?a=1&b=two', '?a=&b', '?A=1', '?a=1&a=2', '?q=a+b', '?q=%C3%A9');
const hash = fc.constantFrom('', '', '#', '#top', '#/route?x=1');
const protocol = fc.constantFrom('http://', 'https://');

const parts = fc.tuple(protocol, host, path, query, hash);

/** An absolute address, as a browser gives it. */
export const address: fc.Arbitrary<string> = parts.map((all) => all.join(''));

/** A pattern is an address without some of its parts and with some of its text replaced by wildcards. */
const simplePattern = fc
  .tuple(parts, fc.subarray([0, 1, 2, 3, 4]), fc.array(fc.tuple(fc.nat(40), fc.nat(6)), { maxLength: 2 }))
  .map(([all, keptParts, wildcards]) => {
    let pattern = all.map((part, index) => (keptParts.includes(index) ? part : '')).join('');
    for (const [start, length] of wildcards) pattern = `${pattern.slice(0, start)}*${pattern.slice(start + length)}`;
    return pattern;
  });
const regexPattern = fc.constantFrom(
  '^/home',
  'example',
  'HOME$',
  '^https://',
  '[?&]a=1',
  '#top$',
  '/a/.*',
  '\\/b',
  '',
  'a|b',
);

const target: fc.Arbitrary<UrlTarget> = fc.oneof(
  fc.record({ include: fc.boolean(), type: fc.constant('simple' as const), pattern: simplePattern }),
  fc.record({ include: fc.boolean(), type: fc.constant('regex' as const), pattern: regexPattern }),
);

export const urlTargets: fc.Arbitrary<UrlTarget[]> = fc.array(target, { maxLength: 3 });
