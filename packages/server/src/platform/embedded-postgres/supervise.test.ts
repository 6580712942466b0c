import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { startHalyardProcess } from '../../../testing/platform/embedded-postgres/halyard-process.ts';
import {
  cleanUp,
  postmasterOf,
  preparedDataDirectory,
  query,
  start,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { postgresProcessesIn } from './processes.ts';

afterEach(cleanUp);

async function untilSaid(said: string[], pattern: RegExp, times = 1): Promise<void> {
  while (said.filter((line) => pattern.test(line)).length < times) await sleep(5);
}

describe('a PostgreSQL that dies while the service runs', () => {
  test('starts again, at the same address', async () => {
    const layout = await preparedDataDirectory();
    const { connection, said } = await start(layout);
    await query(connection, 'create table kept as select 1 as id');
    const before = await postmasterOf(layout);
    process.kill(before, 'SIGKILL');
    await untilSaid(said, /PostgreSQL is ready again/);
    expect(said).toContain('PostgreSQL ended unexpectedly (killed by SIGKILL); starting it again.');
    expect(await query(connection, 'select id from kept')).toEqual([{ id: 1 }]);
    expect(await postmasterOf(layout)).not.toBe(before);
  });

  test('starts again where it listens on TCP, at the same port', async () => {
    const { connection, said, layout } = await startOnTcp();
    process.kill(await postmasterOf(layout), 'SIGKILL');
    await untilSaid(said, /PostgreSQL is ready again/);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('starts again although another process had started it', async () => {
    const layout = await preparedDataDirectory();
    const killed = startHalyardProcess('service', layout.dataDirectory);
    await killed.ready;
    await killed.kill();
    const { connection, said } = await start(layout);
    expect(said).toEqual([expect.stringContaining('already runs')]);
    process.kill(await postmasterOf(layout), 'SIGKILL');
    await untilSaid(said, /PostgreSQL is ready again/);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('starts again when another program has stopped it, after a moment in which Halyard may be stopped too', async () => {
    const layout = await preparedDataDirectory();
    const { connection, said } = await start(layout);
    const begin = performance.now();
    process.kill(await postmasterOf(layout), 'SIGTERM');
    await untilSaid(said, /PostgreSQL is ready again/);
    expect(performance.now() - begin).toBeGreaterThan(1000);
    expect(said).toContain('PostgreSQL ended unexpectedly (exit code 0); starting it again.');
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('and cannot start is tried ever more slowly, and comes back once it is mended', async () => {
    const layout = await preparedDataDirectory();
    const { connection, said } = await start(layout);
    const catalogue = join(layout.files, 'global');
    await rename(catalogue, `${catalogue}-away`);
    const begin = performance.now();
    process.kill(await postmasterOf(layout), 'SIGKILL');
    await untilSaid(said, /could not be started again, trying further: PostgreSQL did not start/, 4);
    // At once, then after pauses of at least 100, 200 and 400 ms.
    expect(performance.now() - begin).toBeGreaterThan(700);
    await rename(`${catalogue}-away`, catalogue);
    await untilSaid(said, /PostgreSQL is ready again/);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('and cannot start is left alone from the stop on', async () => {
    const layout = await preparedDataDirectory();
    const { said, stop } = await start(layout);
    const catalogue = join(layout.files, 'global');
    await rename(catalogue, `${catalogue}-away`);
    process.kill(await postmasterOf(layout), 'SIGKILL');
    await untilSaid(said, /trying further/);
    await stop();
    const saidUntilThen = said.length;
    expect(postgresProcessesIn(layout.files)).toEqual([]);
    await sleep(500);
    expect(said).toHaveLength(saidUntilThen);
  });

  test('with its files is not replaced by a new database', async () => {
    const layout = await preparedDataDirectory();
    const { said } = await start(layout);
    await rename(layout.files, `${layout.files}-away`);
    process.kill(postgresProcessesIn(`${layout.files}-away`)[0] ?? 0, 'SIGKILL');
    await untilSaid(said, /trying further: The database in .* is gone/);
    expect(existsSync(layout.files)).toBe(false);
    await rename(`${layout.files}-away`, layout.files);
    await untilSaid(said, /PostgreSQL is ready again/);
  });
});

async function startOnTcp() {
  const layout = await preparedDataDirectory('long-'.repeat(20));
  return { layout, ...(await start(layout)) };
}
