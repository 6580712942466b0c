import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { DataDirectoryError } from './data-directory-error.ts';
import type { ServerUser } from './server-user.ts';

/** What PostgreSQL's programs see of the environment: nothing of Halyard's, whose secrets may be in there. */
const SERVER_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Far above what any of these programs needs; they never wait for anything but the disk. */
const TIME_LIMIT_MS = 300_000;

/**
 * Runs one of PostgreSQL's programs to its end, as its user.
 *
 * @param input goes to its standard input: what must not be seen on a command line
 * @throws DataDirectoryError with what the program complained about
 */
export async function runProgram(
  program: string,
  programArguments: string[],
  options: { user: ServerUser; directory: string; input?: string },
): Promise<void> {
  const child = await spawnAs(options.user, program, programArguments, {
    cwd: options.directory,
    stdio: 'pipe',
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-16_384);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  // A program that ends before it has read everything is judged by its exit code.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input ?? '');
  const ending = await new Promise<string | undefined>((resolve) => {
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : describeEnding(code, signal)));
  });
  if (ending === undefined) return;
  if (/No space left on device|disk quota exceeded/i.test(output)) {
    throw new DataDirectoryError(
      `The disk that holds ${dirname(options.directory)} is full: make room and start again, or set HALYARD_DATA_DIR to a ` +
        `directory on another disk.`,
    );
  }
  throw new DataDirectoryError(`PostgreSQL could not prepare ${options.directory} (${ending}): ${complaintIn(output)}`);
}

export const CLEAN_END = 'exit code 0';

/** In words how a process ended. */
export function describeEnding(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === 0) return CLEAN_END;
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** The line of a program's or a server's output that says what went wrong. */
export function complaintIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const line =
    lines.find((candidate) => COMPLAINT.test(candidate)) ??
    lines.findLast((candidate) => candidate !== '') ??
    'it said nothing';
  return line.replace(COMPLAINT, '');
}

const COMPLAINT = /^.*?\b(?:FATAL|PANIC|error):\s*/;

/** Starts one of PostgreSQL's programs as its user; root's other groups are dropped with the user. */
export async function spawnAs(
  user: ServerUser,
  program: string,
  programArguments: string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  try {
    const child = spawn(program, programArguments, {
      ...options,
      ...(user.isOther ? { uid: user.uid, gid: user.gid } : {}),
      env: SERVER_ENVIRONMENT,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } catch (error) {
    throw explainSpawnFailure(error as NodeJS.ErrnoException, program, user);
  }
}

/** Why a program could not even be started, as a line for the operator. */
function explainSpawnFailure(error: NodeJS.ErrnoException, program: string, user: ServerUser): Error {
  if (user.isOther && error.code === 'EPERM') {
    return new DataDirectoryError(
      `Halyard runs as root but may not start PostgreSQL as ${user.name} (it lacks CAP_SETUID and CAP_SETGID): start it as an ` +
        `unprivileged user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  return new DataDirectoryError(
    `${program} cannot be run here (${error.code ?? error.message}); it needs a Linux with glibc: set DATABASE_URL to a ` +
      `PostgreSQL of your own.`,
    { cause: error },
  );
}
