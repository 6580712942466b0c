import { type Halyard, secretKey } from '../packages/server/testing/halyard.ts';
import { featureId } from './support/features.ts';
import { besideBareServer } from './support/load.ts';
import type { Row } from './support/rows.ts';

/** Reading over the admin API, beside a bare server that sends the same bytes. */
export async function benchAdmin({ url }: Halyard): Promise<Row[]> {
  const headers = { authorization: `Bearer ${secretKey}` };
  const one = await besideBareServer('reading one feature', url, { path: `/api/v2/features/${featureId(7)}`, headers });
  const ten = await besideBareServer('listing ten features', url, { path: '/api/v2/features?limit=10', headers });
  const row = (name: string, { ours, peer }: typeof one) => ({ name, unit: 'req/s', ours, peer, ratio: ours / peer });
  return [
    { ...row('reading one feature', one), aim: '≥ 2,000 req/s', reached: one.ours >= 2_000 },
    { ...row('listing ten features', ten), aim: '', reached: null },
  ];
}
