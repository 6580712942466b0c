import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { startHalyardProcess } from '../../../testing/platform/embedded-postgres/halyard-process.ts';
import {
  cleanUp,
  newDataDirectory,
  postmasterOf,
  preparedDataDirectory,
  query,
  start,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { postgresProcessesIn } from './processes.ts';

afterEach(cleanUp);

const one = [{ one: 1 }];

describe('a second service on a data directory', () => {
  test('is refused with a line that names the directory and the process', async () => {
    const layout = await preparedDataDirectory();
    const service = startHalyardProcess('service', layout.dataDirectory);
    const connection = await service.ready;
    await expect(start(layout)).rejects.toThrow(
      `The data directory ${layout.dataDirectory} is in use by a running Halyard (process ${service.processId}): ` +
        `stop that one, or set HALYARD_DATA_DIR to another directory.`,
    );
    expect(hostname()).not.toBe('');
    expect(await query(connection, 'select 1 as one')).toEqual(one);
  });

  test('is welcome once the first is dead, whatever that left behind', async () => {
    const layout = await preparedDataDirectory();
    const service = startHalyardProcess('service', layout.dataDirectory);
    await service.ready;
    await service.kill();
    expect(existsSync(layout.serviceMark)).toBe(true);
    await start(layout);
  });

  test('is refused also when both start at the same instant on a fresh directory', async () => {
    const layout = await newDataDirectory();
    const both = [1, 2, 3].map(() => startHalyardProcess('service', layout.dataDirectory));
    const results = await Promise.allSettled(both.map(({ ready }) => ready));
    const winners = results.filter((result) => result.status === 'fulfilled');
    const losers = results.filter((result) => result.status === 'rejected');
    expect(winners).toHaveLength(1);
    for (const { reason } of losers) expect(String(reason)).toContain('is in use by a running Halyard (process ');
    expect(await query(winners[0]!.value, 'select 1 as one')).toEqual(one);
  });
});

describe('a command', () => {
  test('uses the PostgreSQL of the running service and leaves it running', async () => {
    const layout = await preparedDataDirectory();
    const service = await start(layout);
    const postmaster = await postmasterOf(layout);
    const command = startHalyardProcess('command', layout.dataDirectory);
    expect(await command.ready).toEqual(service.connection);
    await command.stop();
    expect(await postmasterOf(layout)).toBe(postmaster);
    expect(await query(service.connection, 'select 1 as one')).toEqual(one);
  });

  test('starts PostgreSQL where none runs and stops it again', async () => {
    const layout = await preparedDataDirectory();
    const command = startHalyardProcess('command', layout.dataDirectory);
    expect(await query(await command.ready, 'select 1 as one')).toEqual(one);
    await command.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });

  test('does not stop its PostgreSQL under the feet of a service that has started meanwhile', async () => {
    const layout = await preparedDataDirectory();
    const command = startHalyardProcess('command', layout.dataDirectory);
    await command.ready;
    const postmaster = await postmasterOf(layout);
    const service = await start(layout);
    await command.stop();
    expect(await postmasterOf(layout)).toBe(postmaster);
    expect(await query(service.connection, 'select 1 as one')).toEqual(one);
    await service.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });

  test('leaves its PostgreSQL to another command, which stops it', async () => {
    const layout = await preparedDataDirectory();
    const first = startHalyardProcess('command', layout.dataDirectory);
    await first.ready;
    const second = startHalyardProcess('command', layout.dataDirectory);
    const connection = await second.ready;
    await first.stop();
    expect(await query(connection, 'select 1 as one')).toEqual(one);
    await second.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });

  test('that was killed stands in nobody’s way', async () => {
    const layout = await preparedDataDirectory();
    const killed = startHalyardProcess('command', layout.dataDirectory);
    await killed.ready;
    await killed.kill();
    const next = startHalyardProcess('command', layout.dataDirectory);
    expect(await query(await next.ready, 'select 1 as one')).toEqual(one);
    await next.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });

  test('and others and a service may all start at the same instant', async () => {
    const layout = await newDataDirectory();
    const service = startHalyardProcess('service', layout.dataDirectory);
    const commands = [1, 2, 3].map(() => startHalyardProcess('command', layout.dataDirectory));
    const connections = await Promise.all([service, ...commands].map(({ ready }) => ready));
    await Promise.all(commands.map((command) => command.stop()));
    expect(await query(connections[0]!, 'select 1 as one')).toEqual(one);
    await service.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });
});
