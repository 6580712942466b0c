import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonMembers } from './json-members.ts';

describe('the members of a JSON object', () => {
  test('are each what a parser reads, as they are written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (pairs) => {
        const unique = [...new Map(pairs)];
        const written = unique.map(([name, value]) => [name, JSON.stringify(value)] as const);
        const text = written.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
        expect([...jsonMembers(text)]).toEqual(written);
      }),
    );
  });

  test('keep the order of their own keys, which a parser would change', () => {
    expect(jsonMembers('"features":{"b":1,"10":{},"2":{}}').get('features')).toBe('{"b":1,"10":{},"2":{}}');
  });

  test('may hold quotation marks, backslashes and braces in their texts', () => {
    const value = JSON.stringify({ a: '"},{\\', b: ['\\\\"', ']'] });
    expect([...jsonMembers(`"x":${value},"y":0`)]).toEqual([
      ['x', value],
      ['y', '0'],
    ]);
  });

  test.each(['x', '"x"', '"x" :1', '"x:1', '"x":"1', ',"x":1'])('%j holds none', (text) => {
    expect(() => jsonMembers(text)).toThrow(SyntaxError);
  });
});
