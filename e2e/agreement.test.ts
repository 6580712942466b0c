import { expect, test } from 'vitest';
import { watchAgreement } from './agreement.ts';

test('the SDK on every kind of payload, remote evaluation and OpenFeature agree on every value of random flags', async () => {
  const { compared, varied, findings } = await watchAgreement({ flags: 200, users: 50, seed: 7 }, () => undefined);
  expect(findings).toEqual([]);
  expect(compared).toBeGreaterThan(10_000);
  expect(varied).toBeGreaterThan(50);
}, 120_000);
