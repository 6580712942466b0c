import { type SdkWebhook, sdkWebhookFormat, sdkWebhookMethod } from '@halyard/contract';
import { z } from 'zod';
import { isWebAddress, objectionToHeaders } from './outgoing.ts';

/** A webhook of the whole installation, from the setting `WEBHOOKS`. */
export interface ServerWebhook {
  readonly url: string;
  readonly signingKey: string;
  readonly method: SdkWebhook['httpMethod'];
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadFormat: SdkWebhook['payloadFormat'];
  readonly payloadKey: string;
}

const serverWebhooks = z.array(
  z.strictObject({
    url: z.string().refine(isWebAddress, 'must be an http(s) address'),
    signingKey: z.string().min(1),
    method: sdkWebhookMethod.default('POST'),
    headers: z
      .record(z.string(), z.string())
      .refine((headers) => objectionToHeaders(headers) === null, 'must be headers that can be sent')
      .default({}),
    sendPayload: z.boolean().default(false),
    payloadFormat: sdkWebhookFormat.optional(),
    payloadKey: z.string().min(1).default('sdk_payload'),
  }),
);

/** @throws Error whose message says in one line what is wrong, without a value in it: some are secret */
export function parseServerWebhooks(text: string): readonly ServerWebhook[] {
  const { success, data, error } = serverWebhooks.safeParse(jsonOf(text));
  if (!success) {
    const [issue] = error.issues;
    const place = issue === undefined || issue.path.length === 0 ? '' : ` at [${issue.path.map(String).join('.')}]`;
    const known = 'url, signingKey, method, headers, sendPayload, payloadFormat and payloadKey';
    throw new Error(
      `must be a JSON list of objects with ${known}; something is wrong${place}${
        issue?.code === 'custom' ? `: it ${issue.message}` : ''
      }`,
    );
  }
  return data.map(({ sendPayload, payloadFormat, ...webhook }) => ({
    ...webhook,
    payloadFormat: payloadFormat ?? standardFormat(webhook.method, sendPayload),
  }));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the text.
    throw new Error('must be JSON: a list such as [{"url": "https://example.com/hook", "signingKey": "…"}]');
  }
}

function standardFormat(method: ServerWebhook['method'], sendPayload: boolean): ServerWebhook['payloadFormat'] {
  if (method === 'GET') return 'none';
  return sendPayload ? 'standard' : 'standard-no-payload';
}
