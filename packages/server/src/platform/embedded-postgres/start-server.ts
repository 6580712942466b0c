import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attach, type RunningServer, type StartOptions, untilReady } from './attach.ts';
import { type Listening, writeConfiguration } from './configuration.ts';
import { findFreePort, LOOPBACK, needsLoopback } from './connection.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import { checkVersion, initialize, providePassword } from './initialize.ts';
import type { Layout } from './layout.ts';
import { didNotStart, endStragglers, launch, shutDown } from './postmaster.ts';
import { postmasterFileOf, readPostmasterFile } from './postmaster-file.ts';
import { prepareServerDirectory } from './prepare-directory.ts';
import { processExists } from './processes.ts';
import { type Programs, providePrograms } from './programs.ts';
import { chooseServerUser, type ServerUser } from './server-user.ts';

const STRAGGLERS_MAY_TAKE_MS = 5000;
const PORT_ATTEMPTS = 5;

/**
 * Attaches to the PostgreSQL that runs on the data directory, or starts one; makes the database where there is none.
 * To be called under the lock of the life cycle.
 */
export async function attachOrStart(layout: Layout, options: StartOptions): Promise<RunningServer> {
  const running = await attach(layout, options);
  if (running !== undefined) {
    options.say(`Using the PostgreSQL that already runs on ${layout.dataDirectory}.`);
    return running;
  }
  const begin = performance.now();
  const user = chooseServerUser(layout.files);
  await prepareServerDirectory(layout, user);
  const programs = await providePrograms(layout, user);
  if (!existsSync(layout.files)) {
    options.say(`Preparing a new database in ${layout.files} …`);
    await initialize(layout, programs, user);
  }
  const server = await start(layout, programs, user, options);
  options.say(`PostgreSQL is ready (${((performance.now() - begin) / 1000).toFixed(2)} s).`);
  return server;
}

/**
 * Starts the server of an existing database again, or attaches where somebody was quicker. Never makes a new database:
 * one that is gone while Halyard runs is a fault, not a first start.
 *
 * @param port where it listened before, which is where Halyard's connections look for it
 */
export async function startAgain(layout: Layout, port: number, options: StartOptions): Promise<RunningServer> {
  if (!existsSync(layout.files)) throw new DataDirectoryError(`The database in ${layout.files} is gone.`);
  const running = await attach(layout, options);
  if (running !== undefined) return running;
  const user = chooseServerUser(layout.files);
  await prepareServerDirectory(layout, user);
  return start(layout, await providePrograms(layout, user), user, options, port);
}

async function start(
  layout: Layout,
  programs: Programs,
  user: ServerUser,
  options: StartOptions,
  fixedPort?: number,
): Promise<RunningServer> {
  await checkVersion(layout, programs);
  await clearRemains(layout);
  const overLoopback = needsLoopback(layout);
  if (overLoopback) await providePassword(layout, programs, user);
  for (let attempt = 1; ; attempt += 1) {
    const listening: Listening = overLoopback
      ? { on: 'loopback', port: fixedPort ?? (await findFreePort()) }
      : { on: 'socket' };
    await writeConfiguration(layout, listening, user);
    const { postmaster, whatItSaid } = await launch(layout, programs, user);
    try {
      const server = await untilReady(layout, postmaster, options);
      if (server !== undefined) return server;
    } catch (error) {
      await shutDown(layout.files);
      throw error;
    }
    const output = await whatItSaid();
    // Somebody took the port between our look and PostgreSQL's.
    const portIsTaken = output.includes('could not create any TCP/IP sockets');
    if (portIsTaken && fixedPort === undefined && attempt < PORT_ATTEMPTS) continue;
    if (portIsTaken) {
      throw new DataDirectoryError(
        `PostgreSQL did not start: its port ${LOOPBACK}:${fixedPort} is taken by another program.`,
      );
    }
    throw didNotStart(layout, postmaster.ending() ?? '', output);
  }
}

/** Clears away what a crash left, so far as PostgreSQL would stumble over it. */
async function clearRemains(layout: Layout): Promise<void> {
  await endStragglers(layout.files, STRAGGLERS_MAY_TAKE_MS);
  // The directory of the socket is ours alone, and nobody listens there any more.
  for (const name of await readdir(layout.socketDirectory)) {
    await rm(join(layout.socketDirectory, name), { force: true });
  }
  const file = await readPostmasterFile(layout.files);
  // PostgreSQL sees through an old file itself, unless the number in it now belongs to another program, or to the remains
  // of a process that nobody collects, as in a container whose first program does not care.
  if (file !== undefined && processExists(file.processId)) await rm(postmasterFileOf(layout.files), { force: true });
}
