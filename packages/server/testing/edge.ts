import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { EdgeOptions } from '../src/delivery/index.ts';
import { type EdgeApp, startEdge } from '../src/edge-app.ts';
import { readSettings } from '../src/platform/index.ts';
import { type TestClock, testClock } from './clock.ts';

/** A running edge of a test, with a data directory of its own unless it is given one. */
export interface TestEdge {
  readonly app: EdgeApp;
  readonly url: string;
  readonly clock: TestClock;
  readonly dataDirectory: string;
  /** What it has logged as a warning or worse. */
  readonly warnings: string[];
  /** Ends it, and leaves its directory for another one. */
  stop(): Promise<void>;
}

const edges = new Set<TestEdge>();
const upstreams = new Set<FakeUpstream>();
const directories: string[] = [];

export async function startTestEdge(
  environment: Readonly<Record<string, string>>,
  patience?: EdgeOptions['patience'],
): Promise<TestEdge> {
  const dataDirectory = environment.HALYARD_DATA_DIR ?? (await newDirectory());
  const settings = readSettings({ PORT: '0', HALYARD_DATA_DIR: dataDirectory, ...environment });
  const clock = testClock();
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const app = await startEdge({ settings, clock, log, ...(patience === undefined ? {} : { patience }) });
  const edge: TestEdge = {
    app,
    url: app.url,
    clock,
    dataDirectory,
    warnings,
    async stop() {
      edges.delete(edge);
      await app.stop();
    },
  };
  edges.add(edge);
  return edge;
}

/** An upstream that says what the test tells it to. */
export interface FakeUpstream {
  readonly url: string;
  /** Requests that came, oldest first. */
  readonly requests: IncomingMessage[];
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Ends it and every connection to it. */
  stop(): Promise<void>;
}

export async function fakeUpstream(answer: FakeUpstream['answer'], port = 0): Promise<FakeUpstream> {
  const server = createServer((request, response) => {
    upstream.requests.push(request);
    upstream.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const upstream: FakeUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer,
    stop: () =>
      new Promise((resolve) => {
        upstreams.delete(upstream);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  upstreams.add(upstream);
  return upstream;
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'halyard-edge-'));
  directories.push(directory);
  return directory;
}

/** Ends and removes everything that was made here. */
export async function endEdges(): Promise<void> {
  for (const edge of edges) await edge.stop();
  for (const upstream of upstreams) await upstream.stop();
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}
