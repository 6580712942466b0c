import { featureValueTypes } from '@halyard/contract';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { typedValue, valueReader } from './values.ts';

test('a reader that keeps values says of each what reading it afresh says, however often it is asked', () => {
  const type = fc.constantFrom(...featureValueTypes);
  const text = fc.oneof(fc.constantFrom('true', 'false', '1', '-0.5', '', 'null', '{"a":1}'), fc.json());
  fc.assert(
    fc.property(fc.array(fc.tuple(type, text), { minLength: 1, maxLength: 60 }), (asked) => {
      const read = valueReader();
      for (const [of, value] of [...asked, ...asked]) expect(read(of, value)).toEqual(typedValue(of, value));
    }),
  );
});
