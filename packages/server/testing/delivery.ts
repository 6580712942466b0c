import type { Payload } from '@halyard/evaluation';

/** Asks for a payload as an SDK does; uncompressed, since compressed bodies follow a moment later. */
export const fetchPayload = (url: string, key: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/api/features/${key}`, { headers: { 'accept-encoding': 'identity', ...headers } });

/** The payload of a connection, not older than a version. */
export async function payloadOf(url: string, key: string, version: number): Promise<Payload> {
  const response = await fetchPayload(url, key, { 'X-Service-Min-Config-Version': String(version) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The payload route answered ${response.status}: ${text}`);
  const { status, ...payload } = JSON.parse(text) as Payload & { status: number };
  if (status !== 200) throw new Error(`The payload says status ${status}`);
  return payload;
}
