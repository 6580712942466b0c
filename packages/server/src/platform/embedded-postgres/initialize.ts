import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE } from './connection.ts';
import { DataDirectoryError } from './data-directory-error.ts';
import type { Layout } from './layout.ts';
import type { Programs } from './programs.ts';
import { runProgram } from './run-program.ts';
import type { ServerUser } from './server-user.ts';

const DRAFT = 'initializing-';
/** The owner of everything inside the server. Halyard never connects as this one. */
const SUPERUSER = 'postgres';

/**
 * Makes a new database. All of it happens in a draft directory that takes its final name when it is whole and on the
 * disk: the final name therefore never stands for half a database, wherever a kill or a power cut falls.
 */
export async function initialize(layout: Layout, programs: Programs, user: ServerUser): Promise<void> {
  await removeDrafts(layout);
  const draft = await mkdtemp(join(layout.server, DRAFT));
  try {
    if (user.isOther) await chown(draft, user.uid, user.gid);
    const inDraft = { user, directory: draft };
    await runProgram(
      programs.initdb,
      [
        `--pgdata=${draft}`,
        `--username=${SUPERUSER}`,
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-locale',
        '--auth-local=reject',
        '--auth-host=reject',
        '--no-instructions',
        // All is written to the disk at once, further below, instead of file by file.
        '--no-sync',
      ],
      inDraft,
    );
    await runStatements(
      programs,
      inDraft,
      ['fsync=off'],
      [`create role ${DATABASE} login createdb`, `create database ${DATABASE} owner ${DATABASE}`],
    );
    // Nobody has written anything yet that could be lost; from here on everything above is on the disk. (One request for
    // the whole file system takes a fraction of the time of one for each of 1300 files.)
    await runProgram(programs.initdb, [`--pgdata=${draft}`, '--sync-only', '--sync-method=syncfs'], inDraft);
    await rename(draft, layout.files);
    await syncDirectory(layout.server);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** A database that is there must be one that these programs can run. */
export async function checkVersion(layout: Layout, programs: Programs): Promise<void> {
  const version = await readFile(join(layout.files, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) {
    throw new DataDirectoryError(
      `${layout.files} is not a whole PostgreSQL database (PG_VERSION is missing): restore it from a backup, or move it ` +
        `away to begin anew.`,
    );
  }
  if (version.trim() === programs.majorVersion) return;
  throw new DataDirectoryError(
    `The database in ${layout.files} was made by PostgreSQL ${version.trim()}, and this Halyard brings PostgreSQL ` +
      `${programs.majorVersion}: dump it with the Halyard that made it and restore it into a new HALYARD_DATA_DIR.`,
  );
}

/**
 * The password for connections over TCP; made when it is first needed, while the server does not run. The server knows
 * it before the file exists, so that a password in the file is always one that works.
 */
export async function providePassword(layout: Layout, programs: Programs, user: ServerUser): Promise<void> {
  const isThere = await stat(layout.passwordFile).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const password = randomBytes(32).toString('base64url');
  await runStatements(
    programs,
    { user, directory: layout.files },
    [],
    [`alter role ${DATABASE} password '${password}'`],
  );
  const draft = `${layout.passwordFile}.new`;
  await rm(draft, { force: true });
  await writeFile(draft, password, { mode: 0o600, flush: true, flag: 'wx' });
  await rename(draft, layout.passwordFile);
}

/** Runs statements as the superuser, without a server and without showing them on a command line or in a log. */
async function runStatements(
  programs: Programs,
  place: { user: ServerUser; directory: string },
  furtherSettings: string[],
  statements: string[],
): Promise<void> {
  const settings = ['exit_on_error=true', 'log_min_error_statement=panic', ...furtherSettings];
  await runProgram(
    programs.postgres,
    ['--single', '-D', place.directory, ...settings.flatMap((setting) => ['-c', setting]), 'postgres'],
    { ...place, input: statements.map((statement) => `${statement};\n`).join('') },
  );
}

/** What a start that was killed left behind. Its `initdb` may even live on for a moment, each in a draft of its own. */
async function removeDrafts(layout: Layout): Promise<void> {
  const names = await readdir(layout.server);
  for (const name of names.filter((candidate) => candidate.startsWith(DRAFT))) {
    await rm(join(layout.server, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
