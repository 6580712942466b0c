import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, client } from './client.ts';

/** The secret key that every service started here takes. */
export const secretKey = 'secret_of_the_end_to_end_tests';

/** What a program printed, and how it ended. */
export interface Ended {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of its own, as an operator starts it. */
export interface RunningProgram {
  readonly url: string;
  readonly processId: number;
  /** What it printed until it was ready. */
  readonly greeting: string;
  /** What it has printed until now. */
  output(): string;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Ended>;
  /** Sends a signal, as `kill` does, and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

/** A running service. */
export interface Halyard extends RunningProgram {
  readonly admin: Client;
}

type Environment = Readonly<Record<string, string>>;

const program = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));

/** Starts the service, and resolves when it says that it is ready. Its port is free, its logs are warnings at least. */
export async function startHalyard(environment: Environment): Promise<Halyard> {
  const settings = { PORT: '0', LOG_LEVEL: 'warn', SECRET_API_KEY: secretKey, ...environment };
  const running = await start('main', settings, /^Halyard is ready at (\S+)$/m);
  return { ...running, admin: client(running.url, settings.SECRET_API_KEY) };
}

/** Starts an edge, and resolves when it is ready, or says that it waits for its upstream. */
export const startEdge = (environment: Environment): Promise<RunningProgram> =>
  start(
    'edge',
    { PORT: '0', LOG_LEVEL: 'warn', ...environment },
    /^(?:Halyard edge is ready|The edge listens) at (\S+)(?:$| and waits)/m,
  );

/** @param ready the line by which it says so, and where it listens */
async function start(name: string, environment: Environment, ready: RegExp): Promise<RunningProgram> {
  const child = run(name, [], environment);
  const ended = endOf(child);
  const said = Promise.withResolvers<{ url: string; greeting: string }>();
  let output = '';
  child.stdout?.on('data', (chunk: string) => {
    output += chunk;
    const url = ready.exec(output)?.[1];
    if (url !== undefined) said.resolve({ url, greeting: output });
  });
  void ended.then(({ code, stdout, stderr }) =>
    said.reject(new Error(`The program ${name} ended with ${code} before it was ready:\n${stdout}${stderr}`)),
  );
  return {
    ...(await said.promise),
    output: () => output,
    processId: child.pid ?? 0,
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a program of the server, such as `commands/keys`, to its end. */
export const runProgram = (name: string, given: readonly string[], environment: Environment): Promise<Ended> =>
  endOf(run(name, given, { LOG_LEVEL: 'warn', ...environment }));

/** The environment of the tests is not that of the programs: what is set here is what they get. */
function run(name: string, given: readonly string[], environment: Environment): ChildProcess {
  const child = spawn(process.execPath, [program(name), ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
  });
  child.stdout?.setEncoding('utf8');
  child.stderr?.setEncoding('utf8');
  children.add(child);
  return child;
}

const children = new Set<ChildProcess>();

function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve) =>
    child.once('close', (code) => {
      children.delete(child);
      resolve({ code, stdout, stderr });
    }),
  );
}

/** Ends all services that a test left running, in order, so that none leaves a PostgreSQL behind. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...children].map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      return closed;
    }),
  );
}

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

export interface DataDirectory {
  readonly path: string;
  remove(): Promise<void>;
}

export async function newDataDirectory(): Promise<DataDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'halyard-e2e-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
