import { readFileSync, statSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  cleanUp,
  newDataDirectory,
  postmasterOf,
  query,
  start,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { needsLoopback } from './connection.ts';
import { layoutOf } from './layout.ts';

afterEach(cleanUp);

const LONG = 'long-'.repeat(20);

describe('where the path of the socket would exceed 107 bytes', () => {
  test('PostgreSQL listens on the loopback interface, with a password', async () => {
    const layout = await newDataDirectory(LONG);
    const { connection } = await start(layout);
    expect(connection.host).toBe('127.0.0.1');
    const [row] = await query<Record<string, string>>(connection, `select current_setting('listen_addresses') as tcp`);
    expect(row).toEqual({ tcp: '127.0.0.1' });
    expect(readFileSync(layout.configurationFile, 'utf8')).toContain(`unix_socket_directories = ''`);
    await expect(query({ ...connection, password: 'guessed' }, 'select 1')).rejects.toThrow('password authentication');
    const { password: _, ...without } = connection;
    await expect(query(without, 'select 1')).rejects.toThrow('password must be a');
  });

  test('the password is in a file for Halyard’s user alone, and nowhere else', async () => {
    const layout = await newDataDirectory(LONG);
    const { connection, said } = await start(layout);
    const password = connection.password ?? '';
    expect(Buffer.from(password, 'base64url')).toHaveLength(32);
    expect(statSync(layout.passwordFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(layout.passwordFile, 'utf8')).toBe(password);
    expect(said.join('\n')).not.toContain(password);
    const names = (await readdir(layout.server, { recursive: true })).map((name) => join(layout.server, name));
    const holders = names.filter((file) => statSync(file).isFile() && readFileSync(file).includes(password));
    expect(holders).toEqual([layout.passwordFile]);
    expect(readFileSync(`/proc/${await postmasterOf(layout)}/cmdline`, 'utf8')).not.toContain(password);
  });

  test('a restart keeps the password', async () => {
    const layout = await newDataDirectory(LONG);
    const first = await start(layout);
    await first.stop();
    const second = await start(layout);
    expect(second.connection.password).toBe(first.connection.password);
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a lost password is made anew', async () => {
    const layout = await newDataDirectory(LONG);
    const first = await start(layout);
    await first.stop();
    await rm(layout.passwordFile);
    const second = await start(layout);
    expect(second.connection.password).not.toBe(first.connection.password);
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a data directory that is moved there, and back again, is served', async () => {
    const short = await newDataDirectory();
    await (await start(short)).stop();
    const long = await newDataDirectory(LONG);
    await rename(short.dataDirectory, long.dataDirectory);
    const moved = await start(long);
    expect(await query(moved.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await moved.stop();
    await rename(long.dataDirectory, short.dataDirectory);
    const back = await start(short);
    expect(back.connection.host).toBe(short.socketDirectory);
    expect(await query(back.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('and only there', () => {
    const rest = '//postgresql/socket/.s.PGSQL.5432'.length;
    expect(needsLoopback(layoutOf(`/${'d'.repeat(107 - rest)}`))).toBe(false);
    expect(needsLoopback(layoutOf(`/${'d'.repeat(108 - rest)}`))).toBe(true);
    // Bytes count, not characters.
    expect(needsLoopback(layoutOf(`/${'ü'.repeat(50)}`))).toBe(true);
  });
});
