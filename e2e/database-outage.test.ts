import { expect, test } from 'vitest';
import { watchOutages } from './database-outage.ts';

test('while the database is stopped, paused and slowed SDKs see no error; changes are refused until it is back', async () => {
  const phases = await watchOutages(2, () => undefined);
  expect(phases.map(({ name, errors, admin, aged }) => ({ name, errors, admin, aged }))).toEqual(
    [
      ['quiet', 200],
      ['stopped', 503],
      ['started again', 200],
      ['paused', 503],
      ['going on', 200],
      ['slow', 200],
      ['quick again', 200],
    ].map(([name, admin]) => ({ name, errors: [], admin, aged: admin === 503 })),
  );
  expect(Math.min(...phases.map(({ requests }) => requests))).toBeGreaterThan(0);
});
