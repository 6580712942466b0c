import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

/** How the titles of the server's children begin. */
const CHILD = 'postgres: ';

/** Where the kernel tells of its processes. */
const PROC = '/proc';

/**
 * Whether this process is a PostgreSQL that works in `directory`: a number from an old
 * `postmaster.pid` may belong to another program by now, or to the PostgreSQL of another directory. Zombies do not count.
 */
export function isPostgresIn(directory: string, processId: number): boolean {
  if (nameOfProcess(processId) !== 'postgres') return false;
  return worksIn(directory, processId) ?? isStartedFor(directory, processId);
}

/** All PostgreSQL processes that work in `directory`, the server's own children included. */
export function postgresProcessesIn(directory: string, proc = PROC): number[] {
  const processIds = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  return processIds.map(Number).filter((processId) => {
    if (nameOfProcess(processId, proc) !== 'postgres') return false;
    return (
      worksIn(directory, processId, proc) ?? (isStartedFor(directory, processId, proc) || isOrphan(processId, proc))
    );
  });
}

/**
 * The process that all others of the PostgreSQL in `directory` are children of; orphans have none. Processes end while we
 * look: one of which nothing is to be read any more is not taken for it.
 */
export function firstProcessIn(directory: string, proc = PROC): number | undefined {
  const all = postgresProcessesIn(directory, proc);
  return all.find((processId) => {
    const parent = parentOf(processId, proc);
    if (parent === undefined || all.includes(parent)) return false;
    const commandLine = commandLineOf(processId, proc);
    return commandLine !== '' && !commandLine.startsWith(CHILD);
  });
}

/** Whether a process with this number exists, whatever program it runs. */
export function processExists(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Sends a signal; a process that is already gone is not an error. */
export function signalProcess(processId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(processId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * PostgreSQL makes its data directory the working directory of all its processes. `undefined` where the kernel does not
 * tell us: as root in a container without CAP_SYS_PTRACE, which is what Docker gives.
 */
function worksIn(directory: string, processId: number, proc = PROC): boolean | undefined {
  try {
    const link = `${proc}/${processId}/cwd`;
    if (readlinkSync(link) === `${directory} (deleted)`) return true;
    const here = statSync(link);
    const there = statSync(directory, { throwIfNoEntry: false });
    return here.dev === there?.dev && here.ino === there.ino;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? undefined : false;
  }
}

/** The first process keeps the command line that we gave it. */
function isStartedFor(directory: string, processId: number, proc = PROC): boolean {
  const commandLine = commandLineOf(processId, proc).split('\0');
  return commandLine.some((argument, index) => argument === '-D' && commandLine[index + 1] === directory);
}

/**
 * A child whose first process was killed, of whichever Halyard on this machine: its work is lost in any case. (Children
 * show the `cluster_name` in their title.)
 */
function isOrphan(processId: number, proc: string): boolean {
  if (!commandLineOf(processId, proc).startsWith(`${CHILD}halyard: `)) return false;
  const parent = parentOf(processId, proc);
  return parent !== undefined && nameOfProcess(parent, proc) !== 'postgres';
}

function nameOfProcess(processId: number, proc = PROC): string {
  return readProcessFile(processId, 'comm', proc).trim();
}

function commandLineOf(processId: number, proc: string): string {
  return readProcessFile(processId, 'cmdline', proc);
}

/** The second field after the name, which stands in parentheses and may hold anything; `undefined` when it has ended. */
function parentOf(processId: number, proc: string): number | undefined {
  const stat = readProcessFile(processId, 'stat', proc);
  return stat === '' ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Empty when the process has ended. */
function readProcessFile(processId: number, file: string, proc: string): string {
  try {
    return readFileSync(`${proc}/${processId}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
