import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startHalyardProcess } from '../../../testing/platform/embedded-postgres/halyard-process.ts';
import {
  cleanUp,
  isRoot,
  newDataDirectory,
  postmasterOf,
  preparedDataDirectory,
  query,
  start,
  temporaryDirectory,
} from '../../../testing/platform/embedded-postgres/workspace.ts';
import { completeLibraries, findInstalledPrograms } from './installed-programs.ts';
import { type Layout, layoutOf } from './layout.ts';
import { prepareDataDirectory, prepareServerDirectory } from './prepare-directory.ts';
import { postgresProcessesIn } from './processes.ts';
import { type Programs, providePrograms } from './programs.ts';
import { runProgram } from './run-program.ts';
import { chooseServerUser } from './server-user.ts';

afterEach(cleanUp);

const NOBODY = 65_534;

describe.runIf(isRoot)('as root, PostgreSQL', () => {
  test('runs as an unprivileged user, to whom its files belong', async () => {
    const layout = await newDataDirectory();
    await start(layout);
    const user = chooseServerUser(layout.files);
    expect(user.uid).not.toBe(0);
    for (const processId of postgresProcessesIn(layout.files)) {
      const status = readFileSync(`/proc/${processId}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\\s+${user.uid}\\s+${user.uid}\\s+${user.uid}\\s+${user.uid}$`, 'm'));
      expect(status).toMatch(/^Groups:\s*$/m);
    }
    for (const directory of [layout.files, layout.socketDirectory]) {
      expect([statSync(directory).uid, statSync(directory).mode & 0o777]).toEqual([user.uid, 0o700]);
    }
  });

  test('can neither change its configuration nor read what else is in the data directory', async () => {
    const layout = await preparedDataDirectory();
    await start(layout);
    const ours = [layout.configurationFile, layout.authenticationFile, layout.userMapFile, layout.logFile];
    for (const path of [...ours, layout.dataDirectory, layout.server, layout.locks]) {
      const { uid, mode } = statSync(path);
      expect({ path, uid, othersMayWrite: (mode & 0o022) !== 0 }).toEqual({ path, uid: 0, othersMayWrite: false });
    }
    // Passing is enough for the one, nothing at all for the other.
    expect(statSync(layout.dataDirectory).mode & 0o077).toBe(0o010);
    expect(statSync(layout.locks).mode & 0o077).toBe(0);
  });

  test('keeps the user who owns the database', async () => {
    const layout = await preparedDataDirectory();
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, layout.files]);
    const { connection } = await start(layout);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(readFileSync(`/proc/${await postmasterOf(layout)}/status`, 'utf8')).toContain(`Uid:\t${NOBODY}`);
  });

  test('does not get a database that belongs to root, and the line says how to mend it', async () => {
    const layout = await preparedDataDirectory();
    await chown(layout.files, 0, 0);
    await expect(start(layout)).rejects.toThrow(`(chown -R ${anyUser()} '${layout.files}')`);
  });

  test('is refused a data directory below a closed one, with a better one named', async () => {
    const closed = join(await temporaryDirectory(), 'closed');
    await mkdir(closed, { mode: 0o700 });
    const data = join(closed, 'data');
    await expect(start(layoutOf(data))).rejects.toThrow(
      new RegExp(
        `^The data directory ${data} cannot be reached by .*: ${closed} is closed to it. Set HALYARD_DATA_DIR to a directory such as /var/lib/halyard`,
      ),
    );
  });

  test('is let into a data directory that is itself closed, without opening it to all', async () => {
    const layout = await newDataDirectory();
    await mkdir(layout.dataDirectory, { mode: 0o700 });
    const { connection } = await start(layout);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(statSync(layout.dataDirectory).mode & 0o777).toBe(0o710);
  });

  test('is not started in a directory of another user, who could lay links for root', async () => {
    const layout = await newDataDirectory();
    await mkdir(layout.dataDirectory);
    await chown(layout.dataDirectory, NOBODY, NOBODY);
    await expect(start(layout)).rejects.toThrow(
      'belongs to nobody, and Halyard was started as root: start it as nobody',
    );
  });

  test('is not started where another user has laid a link, or a directory', async () => {
    const linked = await newDataDirectory();
    await mkdir(linked.dataDirectory, { mode: 0o777 });
    await symlink('/etc', linked.server);
    await expect(start(linked)).rejects.toThrow(`${linked.server} is a symbolic link`);
    const laid = await newDataDirectory();
    await mkdir(laid.locks, { recursive: true });
    await chown(laid.locks, NOBODY, NOBODY);
    await expect(start(laid)).rejects.toThrow(`${laid.locks} belongs to nobody`);
  });

  test('is found, stopped and started where the kernel hides the working directories, as in a Docker container', async () => {
    const layout = await preparedDataDirectory();
    const wrapper = ['setpriv', '--bounding-set=-sys_ptrace'];
    const killed = startHalyardProcess('service', layout.dataDirectory, { wrapper });
    await killed.ready;
    const postmaster = await postmasterOf(layout);
    await killed.kill();
    const second = startHalyardProcess('service', layout.dataDirectory, { wrapper });
    await second.ready;
    expect(await postmasterOf(layout)).toBe(postmaster);
    process.kill(postmaster, 'SIGKILL');
    await second.untilItSays(/PostgreSQL is ready again/);
    await second.stop();
    expect(postgresProcessesIn(layout.files)).toEqual([]);
  });
});

describe.runIf(isRoot && mayUnshare())('a PostgreSQL in another container that shares the volume', () => {
  const elsewhere = { wrapper: ['unshare', '--pid', '--uts', '--fork', '--kill-child', '--mount-proc'] };
  const renamed = { wrapper: [...elsewhere.wrapper, 'sh', '-c', 'hostname other && exec "$@"', 'sh'] };

  test('serves a command', async () => {
    const layout = await preparedDataDirectory();
    const service = await start(layout);
    const command = startHalyardProcess('command', layout.dataDirectory, elsewhere);
    expect(await command.ready).toEqual(service.connection);
    await command.stop();
    expect(await query(service.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is waited for when it does not answer just now: a second one beside it would ruin the database', async () => {
    const layout = await preparedDataDirectory();
    const service = await start(layout);
    const postmaster = await postmasterOf(layout);
    process.kill(postmaster, 'SIGSTOP');
    const command = startHalyardProcess('command', layout.dataDirectory, elsewhere);
    await command.untilItSays(/PostgreSQL is not ready yet/);
    process.kill(postmaster, 'SIGCONT');
    expect(await command.ready).toEqual(service.connection);
    expect(await postmasterOf(layout)).toBe(postmaster);
    await command.stop();
  });

  test('keeps out a second service, and names the host of the first', async () => {
    const layout = await preparedDataDirectory();
    const first = startHalyardProcess('service', layout.dataDirectory, renamed);
    await first.ready;
    await expect(start(layout)).rejects.toThrow(/is in use by a running Halyard \(process \d+ on other\)/);
  });

  test('cannot be reached where it listens on TCP', async () => {
    const layout = await newDataDirectory('long-'.repeat(20));
    const first = startHalyardProcess('service', layout.dataDirectory, renamed);
    await first.ready;
    // The container sees other numbers of the same processes; here the number in the file means nothing.
    await expect(start(layout, 'command')).rejects.toThrow(
      'is in use by a Halyard on other, whose PostgreSQL cannot be reached',
    );
  });
});

describe.runIf(isRoot)('programs that the user of PostgreSQL cannot reach', () => {
  test('are copied to where it can, once', async () => {
    const { layout, programs, provide } = await withClosedPrograms();
    expect(programs.postgres.startsWith(layout.programCopies)).toBe(true);
    await runAsServer(layout, programs);
    const before = statSync(programs.postgres).ino;
    expect((await provide()).postgres).toBe(programs.postgres);
    expect(statSync(programs.postgres).ino).toBe(before);
  });

  test('cannot be changed by anyone but root', async () => {
    const { layout } = await withClosedPrograms();
    for (const name of await readdir(layout.programCopies, { recursive: true })) {
      const { uid, mode } = statSync(join(layout.programCopies, name));
      expect({ name, uid, othersMayWrite: (mode & 0o022) !== 0 }).toEqual({ name, uid: 0, othersMayWrite: false });
    }
  });

  test('are copied anew when the copy is damaged, or was open to others', async () => {
    const { layout, programs, provide } = await withClosedPrograms();
    await writeFile(programs.initdb, 'cut off');
    await provide();
    await runAsServer(layout, programs);
    await chmod(programs.postgres, 0o777);
    await provide();
    expect(statSync(programs.postgres).mode & 0o777).toBe(0o755);
  });
});

/** An installation in a closed directory, as of a clone in `/root`. */
async function withClosedPrograms() {
  const closed = join(await temporaryDirectory(), 'closed');
  await mkdir(closed, { mode: 0o700 });
  const { native, version } = findInstalledPrograms();
  completeLibraries(native);
  await cp(native, join(closed, 'native'), { recursive: true, verbatimSymlinks: true });
  const target = await newDataDirectory();
  const layout = prepareDataDirectory(target.dataDirectory);
  const user = chooseServerUser(layout.files);
  await prepareServerDirectory(layout, user);
  const provide = (): Promise<Programs> => providePrograms(layout, user, { native: join(closed, 'native'), version });
  return { layout, programs: await provide(), provide };
}

async function runAsServer(layout: Layout, programs: Programs): Promise<void> {
  const user = chooseServerUser(layout.files);
  const { uid, gid } = user;
  const draft = join(layout.server, 'made-by-the-copy');
  await mkdir(draft, { mode: 0o700 });
  await chown(draft, uid, gid);
  await runProgram(programs.initdb, [`--pgdata=${draft}`, '--no-sync'], { user, directory: draft });
  execFileSync('rm', ['-r', draft]);
}

function anyUser(): string {
  return chooseServerUser('/does/not/exist').name;
}

function mayUnshare(): boolean {
  try {
    execFileSync('unshare', ['--pid', '--uts', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' });
    return isRoot;
  } catch {
    return false;
  }
}
