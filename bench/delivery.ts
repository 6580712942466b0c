import { postSdkConnection } from '@halyard/contract';
import type { Halyard } from '../packages/server/testing/halyard.ts';
import { featureCount, featureId } from './support/features.ts';
import { besideBareServer } from './support/load.ts';
import { type Row, throughput } from './support/rows.ts';

/** Payloads of 100 features, as SDKs download them, beside a bare server that sends the same bytes. */
export async function benchDelivery({ url, admin }: Halyard): Promise<Row[]> {
  const body = { name: 'Bench', language: 'javascript', environment: 'production' } as const;
  const { sdkConnection } = await admin.call(postSdkConnection, { body });
  const path = `/api/features/${sdkConnection.key}`;
  const etag = await settledTag(`${url}${path}`);
  const rows: Row[] = [];
  for (const [name, headers] of [
    ['payload of 100 features, identity', {}],
    ['payload of 100 features, gzip', { 'accept-encoding': 'gzip' }],
    ['payload that the client has: 304', { 'if-none-match': etag }],
  ] as const) {
    rows.push(throughput(name, await besideBareServer(name, url, { path, headers }), 0.85));
  }
  return rows;
}

/** The tag of the payload once its compressed bodies are there as well. */
export async function settledTag(address: string): Promise<string> {
  for (;;) {
    const response = await fetch(address, { headers: { 'accept-encoding': 'gzip' } });
    const body = await response.text();
    const isWhole = body.includes(featureId(featureCount - 1));
    if (isWhole && response.headers.get('content-encoding') === 'gzip') return response.headers.get('etag') ?? '';
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
