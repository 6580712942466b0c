import { expect, test } from 'vitest';
import { killDuringWrites } from './kill-during-writes.ts';

test('killed while it writes, alone and with its PostgreSQL, the service has lost nothing acknowledged and shows nothing by half', async () => {
  const { acknowledged, findings } = await killDuringWrites(2, () => undefined);
  expect(findings).toEqual([]);
  expect(acknowledged).toBeGreaterThan(0);
});
