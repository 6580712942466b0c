import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type MessageForm, payloadMessage, webhookSignature } from './message.ts';
import { fillPlaceholders, hidesItsHost } from './placeholders.ts';

const now = new Date('2024-04-03T01:54:20.000Z');
const payload = '{"features":{"a":{"defaultValue":"x\\"y"}},"dateUpdated":"2024-04-03T01:54:19.123Z"}';
const about = { clientKey: 'sdk-abc', payload, changed: new Date('2024-04-03T01:54:19.123Z') };
const form: MessageForm = { method: 'POST', payloadFormat: 'standard', payloadKey: 'my "key"', signingKey: 'wk_test' };

describe('the message about a payload', () => {
  test('is signed as receivers expect it', () => {
    const body = '{"type":"payload.changed","timestamp":"2024-04-03T01:54:20.000Z"}';
    expect(webhookSignature('wk_test', 'msg_0123456789abcdef', '1712109260', body)).toBe(
      'v1,C68/HPWdsQ0d7OaquG8ihwWaq78/JmCbD7n/PTFz1Ps=',
    );
    const message = payloadMessage({ ...form, payloadFormat: 'standard-no-payload' }, about, now);
    expect(message.body).toBe(body);
    const id = message.headers['webhook-id'] ?? '';
    expect(id).toMatch(/^msg_[0-9a-f]{16}$/);
    expect(message.headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': '1712109260',
      'webhook-signature': webhookSignature('wk_test', id, '1712109260', body),
      'webhook-secret': `whsec_${createHmac('sha256', 'wk_test').update('').digest('hex')}`,
      'webhook-sdk-key': 'sdk-abc',
    });
  });

  test.each([
    ['standard', { type: 'payload.changed', timestamp: now.toISOString(), data: { payload } }],
    ['sdkPayload', JSON.parse(payload)],
    ['edgeConfig', { items: [{ operation: 'upsert', key: 'my "key"', value: payload }] }],
    ['edgeConfigUnescaped', { items: [{ operation: 'upsert', key: 'my "key"', value: JSON.parse(payload) }] }],
    ['vercelNativeIntegration', { data: { 'my "key"': JSON.parse(payload) } }],
  ] as const)('in the format %s holds the payload, of which the secret is a hash', (payloadFormat, expected) => {
    const { body, headers } = payloadMessage({ ...form, payloadFormat }, about, now);
    expect(JSON.parse(body ?? '')).toEqual(expected);
    expect(headers['webhook-secret']).toBe(`whsec_${createHmac('sha256', 'wk_test').update(payload).digest('hex')}`);
  });

  test('has no body in the format none, nor where the method is GET', () => {
    for (const bare of [
      payloadMessage({ ...form, payloadFormat: 'none' }, about, now),
      payloadMessage({ ...form, method: 'GET' }, about, now),
    ]) {
      expect(bare).not.toHaveProperty('body');
      const { 'webhook-id': id = '', 'webhook-signature': signature } = bare.headers;
      expect(signature).toBe(webhookSignature('wk_test', id, '1712109260', ''));
      expect(bare.headers['webhook-secret']).toBe(`whsec_${createHmac('sha256', 'wk_test').update('').digest('hex')}`);
    }
  });

  test('of one change has one id, sent again with a fresh timestamp; another change or key has another', () => {
    const idOf = (more: Partial<typeof about>, at = now) =>
      payloadMessage(form, { ...about, ...more }, at).headers['webhook-id'];
    expect(idOf({}, new Date('2030-01-01'))).toBe(idOf({}));
    expect(idOf({ changed: new Date(about.changed.getTime() + 1) })).not.toBe(idOf({}));
    expect(idOf({ clientKey: 'sdk-abd' })).not.toBe(idOf({}));
  });
});

describe('placeholders', () => {
  const secrets = [
    { key: 'TOKEN', value: 'a b/c?', allowedOrigins: [] },
    { key: 'HERE', value: 'h', allowedOrigins: ['https://example.com'] },
    { key: 'THERE', value: 't', allowedOrigins: ['https://other.example.com'] },
  ];

  test('become secrets, percent-encoded in the address, where the secret may be sent to', () => {
    expect(
      fillPlaceholders(
        {
          url: 'https://example.com/{{TOKEN}}?a={{ HERE }}&b={{ THERE }}',
          headers: { Authorization: 'Bearer {{ TOKEN }}', 'X-A': '{{HERE}}{{ THERE }}{{ NOBODY }}{{ token }}' },
        },
        secrets,
      ),
    ).toEqual({
      url: 'https://example.com/a%20b%2Fc%3F?a=h&b={{ THERE }}',
      headers: { Authorization: 'Bearer a b/c?', 'X-A': 'h{{ THERE }}{{ NOBODY }}{{ token }}' },
    });
  });

  test('never carry a secret to an origin that it is not for', () => {
    const origin = fc.constantFrom(
      'https://example.com',
      'https://example.com:8443',
      'http://example.com',
      'https://evil.example.com',
    );
    fc.assert(
      fc.property(origin, origin, fc.webPath(), (allowed, target, path) => {
        const filled = fillPlaceholders({ url: `${target}${path}?{{ KEY }}`, headers: { a: '{{ KEY }}' } }, [
          { key: 'KEY', value: 'hush', allowedOrigins: [allowed] },
        ]);
        expect(JSON.stringify(filled).includes('hush')).toBe(allowed === target);
      }),
    );
  });

  test('in the host are found, however it is written', () => {
    for (const url of [
      'https://{{ A }}',
      'https://a.{{ A }}.com/x',
      'https:\\\\{{ A }}/',
      '{{ A }}',
      'https:{{ A }}/x',
      '{{ A }}://b/',
    ])
      expect(hidesItsHost(url)).toBe(true);
    for (const url of ['https://a.com/{{ A }}', 'https://a.com?{{ A }}', 'https://a.com#{{ A }}', 'https://a.com'])
      expect(hidesItsHost(url)).toBe(false);
  });
});
