import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll } from 'vitest';
import type { Connection } from '../../../src/platform/embedded-postgres/connection.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/index.ts';
import { type Layout, layoutOf } from '../../../src/platform/embedded-postgres/layout.ts';
import { shutDown } from '../../../src/platform/embedded-postgres/postmaster.ts';
import { readPostmasterFile } from '../../../src/platform/embedded-postgres/postmaster-file.ts';
import { killHalyardProcesses } from './halyard-process.ts';

export const isRoot = process.geteuid?.() === 0;

const layouts = new Set<Layout>();
const directories = new Set<string>();
const started = new Set<EmbeddedPostgres>();

/** An empty directory that every user can reach; `cleanUp` removes it. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'halyard-postgres-'));
  directories.add(directory);
  await chmod(directory, 0o755);
  return directory;
}

/** A data directory that does not exist yet. */
export async function newDataDirectory(name = 'data'): Promise<Layout> {
  const layout = layoutOf(join(await temporaryDirectory(), name));
  layouts.add(layout);
  return layout;
}

let template: Layout | undefined;

/** A data directory in which a database was prepared and cleanly stopped: a copy, which is quicker than a first start. */
export async function preparedDataDirectory(name = 'data'): Promise<Layout> {
  if (template === undefined) {
    const directory = await mkdtemp(join(tmpdir(), 'halyard-postgres-template-'));
    await chmod(directory, 0o755);
    template = layoutOf(join(directory, 'data'));
    const postgres = await startEmbeddedPostgres({
      dataDirectory: template.dataDirectory,
      role: 'command',
      say: () => {},
    });
    await postgres.stop();
  }
  const layout = await newDataDirectory(name);
  execFileSync('cp', ['-a', '--reflink=auto', template.dataDirectory, layout.dataDirectory]);
  return layout;
}

afterAll(async () => {
  if (template !== undefined) await rm(dirname(template.dataDirectory), { recursive: true, force: true });
});

/** Uses the data directory from within this process. */
export async function start(
  layout: Layout,
  role: 'service' | 'command' = 'service',
): Promise<EmbeddedPostgres & { said: string[] }> {
  const said: string[] = [];
  const postgres = await startEmbeddedPostgres({
    dataDirectory: layout.dataDirectory,
    role,
    say: (line) => said.push(line),
  });
  started.add(postgres);
  return { ...postgres, said };
}

/** Ends and removes all that the test made. */
export async function cleanUp(): Promise<void> {
  await killHalyardProcesses();
  // Whatever goes wrong with one of them, the others must go as well.
  const stops = await Promise.allSettled([...started].map((postgres) => postgres.stop()));
  started.clear();
  await Promise.all([...layouts].map((layout) => shutDown(layout.files, { fast: 0, immediate: 0 })));
  layouts.clear();
  await Promise.all([...directories].map((directory) => rm(directory, { recursive: true, force: true })));
  directories.clear();
  for (const stop of stops) if (stop.status === 'rejected') throw stop.reason;
}

/** Runs one statement over a connection of its own. */
export async function query<Row>(connection: Connection, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(text, values);
    return rows as Row[];
  } finally {
    await client.end();
  }
}

/** The number of PostgreSQL's first process. */
export async function postmasterOf(layout: Layout): Promise<number> {
  const file = await readPostmasterFile(layout.files);
  if (file === undefined) throw new Error('no PostgreSQL runs');
  return file.processId;
}
