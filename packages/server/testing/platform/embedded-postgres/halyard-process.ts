import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../../../src/platform/embedded-postgres/connection.ts';

/** What the program beside this file prints, a line of JSON each. */
export type Report = { said: string } | { connection: Connection } | { refused: string } | { stopped: true };

/** A process of its own that uses a data directory, as `npm run up` or an operator's command does. */
export interface HalyardProcess {
  readonly processId: number;
  /** What it said so far. */
  readonly said: string[];
  /** Resolves when PostgreSQL is ready; rejects with the line of the refusal. */
  readonly ready: Promise<Connection>;
  /** Resolves at the first line that matches. */
  untilItSays(pattern: RegExp): Promise<string>;
  /** Lets it end in order. */
  stop(): Promise<void>;
  /** Kills it, and it alone. */
  kill(): Promise<void>;
}

const running = new Set<HalyardProcess>();

/**
 * @param options.wrapper a program and its arguments that runs the process, such as `setpriv --reuid=…`
 */
export function startHalyardProcess(
  role: 'service' | 'command',
  dataDirectory: string,
  options: { wrapper?: string[]; uid?: number; gid?: number } = {},
): HalyardProcess {
  const program = fileURLToPath(new URL('./use-data-directory.ts', import.meta.url));
  const [first, ...rest] = [...(options.wrapper ?? []), process.execPath, program, role, dataDirectory];
  const child = spawn(first as string, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    // A secret, of which PostgreSQL must not get to know.
    env: { PATH: process.env.PATH, JWT_SECRET: 'the-secret-of-the-deployment' },
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const ended = endOf(child);
  const said: string[] = [];
  const listeners = new Set<(line: string) => void>();
  const ready = Promise.withResolvers<Connection>();
  // A test that is about something else does not wait for it.
  ready.promise.catch(() => {});
  createInterface(child.stdout).on('line', (line) => {
    const report = JSON.parse(line) as Report;
    if ('connection' in report) ready.resolve(report.connection);
    if ('refused' in report) ready.reject(new Error(report.refused));
    if ('said' in report) {
      said.push(report.said);
      for (const listener of listeners) listener(report.said);
    }
  });
  void ended.then(() => ready.reject(new Error('the process ended')));

  const halyard: HalyardProcess = {
    processId: child.pid ?? 0,
    said,
    ready: ready.promise,
    untilItSays: (pattern) =>
      new Promise((resolve) => {
        const listener = (line: string): void => {
          if (!pattern.test(line)) return;
          listeners.delete(listener);
          resolve(line);
        };
        listeners.add(listener);
        for (const line of said) listener(line);
      }),
    stop: async () => {
      child.stdin.end();
      await ended;
      running.delete(halyard);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
      running.delete(halyard);
    },
  };
  running.add(halyard);
  return halyard;
}

/** Ends all that a test left running. */
export async function killHalyardProcesses(): Promise<void> {
  await Promise.all([...running].map((halyard) => halyard.kill()));
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}
