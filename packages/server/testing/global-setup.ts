import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { connect, migrate, startEmbeddedPostgres } from '../src/platform/index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL that all tests share; each makes databases of its own there. */
    postgres: { host: string; port: number; user: string; password?: string };
    /** A migrated, empty database to copy. */
    template: string;
  }
}

const template = 'halyard_template';

/** Starts one PostgreSQL for the whole run, with a migrated database to copy from. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'halyard-test-'));
  const postgres = await startEmbeddedPostgres({ dataDirectory, role: 'service', say: () => undefined });
  const { database, ...server } = postgres.connection;
  const client = new Client({ ...server, database });
  await client.connect();
  await client.query(`create database ${template}`);
  await client.end();
  const db = connect({ ...server, database: template }, () => undefined);
  await migrate(db);
  await db.destroy();
  project.provide('postgres', server);
  project.provide('template', template);
  return async () => {
    await postgres.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}
