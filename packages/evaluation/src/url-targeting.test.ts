import { describe, expect, test } from 'vitest';
import { compileUrlTargets, type UrlTarget } from './index.ts';

const simple = (pattern: string, include = true): UrlTarget => ({ include, type: 'simple', pattern });
const regex = (pattern: string, include = true): UrlTarget => ({ include, type: 'regex', pattern });
const engine = (pattern: string) => ({ test: (text: string) => text.endsWith(pattern) });
const matches = (url: string, ...targets: UrlTarget[]) => compileUrlTargets(targets)(url);

describe('URL targets', () => {
  test('match nowhere without any', () => {
    expect(matches('https://example.com/')).toBe(false);
  });

  test('match where an including one does and no excluding one', () => {
    expect(matches('https://example.com/a', simple('/b'), simple('/a'))).toBe(true);
    expect(matches('https://example.com/a', simple('/b'))).toBe(false);
    expect(matches('https://example.com/a', simple('/a'), simple('/a', false))).toBe(false);
  });

  test('match everywhere else where there are only excluding ones', () => {
    expect(matches('https://example.com/a', simple('/b', false))).toBe(true);
    expect(matches('https://example.com/b', simple('/b', false))).toBe(false);
  });

  test('of an unknown type match nowhere, and leave an address that is none out', () => {
    expect(matches('https://example.com/a', { ...simple('/a'), type: 'other' as 'simple' })).toBe(false);
    expect(matches('http://[', simple('*'))).toBe(false);
    expect(matches('https://example.com/', simple('http://['))).toBe(false);
  });
});

describe('a simple pattern', () => {
  test.each([
    ['https://www.example.com/home', 'http://www.example.com/home'],
    ['http://www.example.com/home', 'www.example.com/home'],
    ['http://www.EXAMPLE.com/HOME', 'www.example.com/home'],
    ['http://www.example.com/home/', '/home'],
    ['http://www.example.com/home', 'home/'],
    ['http://www.example.com/a/home', '*home'],
    ['http://www.example.com/home', '*.example.com/home'],
    ['http://www.example.com/a/b/c', '/a/*/c'],
    ['http://www.example.com/home/', '/home/*'],
    ['http://www.example.com/home?a=1&b=2', '/home?a=1'],
    ['http://www.example.com/home?a=xyz', '/home?a=XY*'],
    ['http://www.example.com/home#top', '/home'],
    ['http://www.example.com/home#Top2', '/home#top*'],
    ['http://www.example.com/_wildcard_/c', '/_wildcard_/c'],
    ['http://www.example.com/', 'www.example.com'],
    ['http://www.example.com:8080/', 'www.example.com:8080'],
  ])('matches %s by %s', (url, pattern) => {
    expect(matches(url, simple(pattern))).toBe(true);
  });

  test.each([
    ['http://www.example.com/home', 'example.com/home'],
    ['http://www.example.com/home', 'www.example.com'],
    ['http://www.example.com:8080/', 'www.example.com'],
    ['http://www.example.com/axb', '/a.b'],
    ['http://www.example.com/home', '/home/*'],
    ['http://www.example.com/home?a=1', '/home?a=2'],
    ['http://www.example.com/home', '/home#top'],
    ['http://www.example.com/zzz/c', '/_wildcard_/c'],
    ['http://www.example.com/home', '*://www.example.com/home'],
  ])('does not match %s by %s', (url, pattern) => {
    expect(matches(url, simple(pattern))).toBe(false);
  });

  test('with many wildcards is quick on a long address', () => {
    const pattern = `/${'a*'.repeat(500)}b`;
    const url = `https://example.com/${'a'.repeat(50_000)}`;
    const start = performance.now();
    expect(matches(url, simple(pattern))).toBe(false);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('a pattern that is a regular expression', () => {
  test('is searched in the whole address and in path, query and hash', () => {
    const url = 'https://www.example.com/home?a=1#x';
    for (const pattern of ['^https://www', '^/home', 'a=1#x$', '//www'])
      expect(matches(url, regex(pattern))).toBe(true);
    for (const pattern of ['HOME', '(', '^www']) expect(matches(url, regex(pattern))).toBe(false);
  });

  test('uses the engine it is given', () => {
    expect(compileUrlTargets([regex('/end')], engine)('https://example.com/end')).toBe(true);
  });
});
