import { createHash, createHmac } from 'node:crypto';
import type { SdkWebhook } from '@halyard/contract';

/** How a webhook wants to be told of a payload. */
export interface MessageForm {
  readonly method: SdkWebhook['httpMethod'];
  readonly payloadFormat: SdkWebhook['payloadFormat'];
  readonly payloadKey: string;
  readonly signingKey: string;
}

/** The payload of a connection as it is sent. */
export interface MessagePayload {
  readonly clientKey: string;
  /** JSON text of the payload. */
  readonly payload: string;
  /** When the payload changed last: the message of one change has one id, however often it is sent. */
  readonly changed: Date;
}

export interface Message {
  /** Absent: none. */
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The message that tells a webhook of a payload, signed at this instant. */
export function payloadMessage(form: MessageForm, about: MessagePayload, now: Date): Message {
  const { signingKey } = form;
  const { clientKey, payload, changed } = about;
  const format = form.method === 'GET' ? 'none' : form.payloadFormat;
  const body = bodyOf(format, form.payloadKey, payload, now);
  const id = `msg_${createHash('md5').update(`${clientKey}${changed.getTime()}`).digest('hex').slice(0, 16)}`;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const told = format === 'none' || format === 'standard-no-payload' ? '' : payload;
  return {
    ...(body === undefined ? {} : { body }),
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': webhookSignature(signingKey, id, timestamp, body ?? ''),
      'webhook-secret': `whsec_${createHmac('sha256', signingKey).update(told).digest('hex')}`,
      'webhook-sdk-key': clientKey,
    },
  };
}

/** What receivers compare with the header `webhook-signature`. */
export const webhookSignature = (signingKey: string, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', signingKey).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

function bodyOf(
  format: SdkWebhook['payloadFormat'],
  payloadKey: string,
  payload: string,
  now: Date,
): string | undefined {
  const key = JSON.stringify(payloadKey);
  const type = 'payload.changed';
  const timestamp = now.toISOString();
  switch (format) {
    case 'standard':
      return JSON.stringify({ type, timestamp, data: { payload } });
    case 'standard-no-payload':
      return JSON.stringify({ type, timestamp });
    case 'sdkPayload':
      return payload;
    case 'edgeConfig':
      return `{"items":[{"operation":"upsert","key":${key},"value":${JSON.stringify(payload)}}]}`;
    case 'edgeConfigUnescaped':
      return `{"items":[{"operation":"upsert","key":${key},"value":${payload}}]}`;
    case 'vercelNativeIntegration':
      return `{"data":{${key}:${payload}}}`;
    case 'none':
      return undefined;
  }
}
