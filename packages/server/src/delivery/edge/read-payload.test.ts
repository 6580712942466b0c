import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encrypted, payloadMembers } from '../serving/index.ts';
import { MalformedPayload, readPayload } from './read-payload.ts';

const key = randomBytes(16).toString('base64');
const jsonObject = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
const payloadText = fc.record({
  features: jsonObject,
  experiments: fc.option(
    fc.array(fc.jsonValue()).map((value) => JSON.stringify(value)),
    { nil: undefined },
  ),
  savedGroups: fc.option(jsonObject, { nil: undefined }),
});

describe('reading a payload', () => {
  test('gives back what was written, plain or encrypted', () => {
    fc.assert(
      fc.property(
        payloadText,
        fc.date({ noInvalidDate: true, min: new Date(0) }),
        fc.boolean(),
        (text, date, plain) => {
          const ciphertexts = plain ? null : encrypted(text, key, () => randomBytes(16));
          const members = payloadMembers(text, ciphertexts, date);
          expect(readPayload(members, key)).toEqual({ dateUpdated: date, encrypted: !plain, text });
          expect(readPayload(members, null)).toEqual({
            dateUpdated: date,
            encrypted: !plain,
            text: plain ? text : null,
          });
        },
      ),
    );
  });

  test.each([
    ['', 'dateUpdated'],
    ['"features":{}', 'dateUpdated'],
    ['"features":{},"dateUpdated":"yesterday"', 'dateUpdated'],
    ['"features":[],"dateUpdated":"2026-01-01T00:00:00.000Z"', 'no features'],
    ['"dateUpdated":"2026-01-01T00:00:00.000Z"', 'no features'],
    ['"features":{', 'JSON'],
    ['"features": {}, "dateUpdated": 1', 'No string begins'],
    ['"features":{},"encryptedFeatures":"x.y","dateUpdated":"2026-01-01T00:00:00.000Z"', 'encrypted text'],
  ])('refuses what is none: %s', (members, reason) => {
    expect(() => readPayload(members, key)).toThrow(MalformedPayload);
    expect(() => readPayload(members, key)).toThrow(reason);
  });

  test('refuses what is encrypted with another key', () => {
    const text = { features: '{"a":{"defaultValue":true}}', experiments: undefined, savedGroups: undefined };
    const ciphertexts = encrypted(text, randomBytes(16).toString('base64'), () => randomBytes(16));
    expect(() => readPayload(payloadMembers(text, ciphertexts, new Date()), key)).toThrow(MalformedPayload);
  });
});
