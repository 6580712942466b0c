import { readFileSync } from 'node:fs';
import { postEventWebhook, postSdkWebhook, testEventWebhook, testSdkWebhook } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newConnection } from '../testing/objects.ts';
import { type Received, type Receiver, startReceiver } from '../testing/receiver.ts';
import { startService, type TestService } from '../testing/service.ts';

type Verify = (headers: Received['headers'], body: string, signingKey: string, now?: number) => boolean;

/** The code that the page for receivers gives them. */
async function snippet(): Promise<{ isFromSdkWebhook: Verify; isFromEventWebhook: Verify }> {
  const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
  const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
}

describe('the code that receivers are given', () => {
  let service: TestService;
  let receiver: Receiver;
  beforeAll(async () => {
    service = await startService({ OUTBOUND_ALLOW_PRIVATE_HOSTS: 'true' });
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });
  const lastRequest = async () => {
    await service.app.runJobs();
    const request = receiver.received.at(-1);
    if (request === undefined) throw new Error('Nothing was received.');
    return request;
  };

  test('knows what SDK webhooks sign from what they did not, and from what is old', async () => {
    const { isFromSdkWebhook } = await snippet();
    const { id } = await newConnection(service.admin);
    for (const payloadFormat of ['standard', 'none'] as const) {
      const body = { name: 'Page', endpoint: receiver.url, payloadFormat };
      const { sdkWebhook } = await service.admin.call(postSdkWebhook, { params: { id }, body });
      await service.admin.call(testSdkWebhook, { params: { id, webhookId: sdkWebhook.id } });
      const request = await lastRequest();
      const key = sdkWebhook.signingKey ?? '';
      expect(isFromSdkWebhook(request.headers, request.body, key)).toBe(true);
      expect(isFromSdkWebhook(request.headers, `${request.body} `, key)).toBe(false);
      expect(isFromSdkWebhook(request.headers, request.body, 'wk_other')).toBe(false);
      expect(isFromSdkWebhook({}, request.body, key)).toBe(false);
      expect(isFromSdkWebhook(request.headers, request.body, key, Date.now() + 600_000)).toBe(false);
    }
  });

  test('knows what event webhooks sign from what they did not', async () => {
    const { isFromEventWebhook } = await snippet();
    const { eventWebhook } = await service.admin.call(postEventWebhook, {
      body: { name: 'Page', url: receiver.url, enabled: true, events: ['feature.*'], payloadType: 'json' },
    });
    await service.admin.call(testEventWebhook, { params: { id: eventWebhook.id } });
    const request = await lastRequest();
    expect(isFromEventWebhook(request.headers, request.body, eventWebhook.signingKey)).toBe(true);
    expect(isFromEventWebhook(request.headers, `${request.body} `, eventWebhook.signingKey)).toBe(false);
    expect(isFromEventWebhook({}, request.body, eventWebhook.signingKey)).toBe(false);
  });
});
