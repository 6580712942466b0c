import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { inject } from 'vitest';
import { type Address, connect, type Db } from '../src/platform/index.ts';

/** A database of a test's own. */
export interface TestDatabase {
  readonly address: Exclude<Address, string>;
  readonly db: Db;
  drop(): Promise<void>;
}

/** @param migrated false: quite empty */
export async function createDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const server = inject('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${name} ${migrated ? `template ${inject('template')}` : ''}`);
  const address = { ...server, database: name };
  const db = connect(address, () => undefined);
  return {
    address,
    db,
    async drop() {
      await db.destroy();
      await dropDatabase(name);
    },
  };
}

/** PostgreSQL may be tidying the database up itself at the moment, which only its own superuser may interrupt. */
async function dropDatabase(name: string, tries = 20): Promise<void> {
  try {
    await onServer(`drop database ${name} with (force)`);
  } catch (error) {
    if ((error as { code?: string }).code !== '42501' || tries === 0) throw error;
    await sleep(250);
    await dropDatabase(name, tries - 1);
  }
}

/** The same address as an operator would write it. */
export function databaseUrl({ host, port, user, password = '', database }: TestDatabase['address']): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user, password })}`;
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ ...inject('postgres'), database: 'postgres' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
