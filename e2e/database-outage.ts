import { readdirSync, readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getFeature } from '@halyard/contract';
import { startEmbeddedPostgres } from '../packages/server/src/platform/index.ts';
import { databaseUrl } from '../packages/server/testing/database.ts';
import { proxyOf } from '../packages/server/testing/database-proxy.ts';
import { type Halyard, newDataDirectory, startHalyard } from '../packages/server/testing/halyard.ts';
import { newConnection, newFeature } from '../packages/server/testing/objects.ts';

/**
 * Asks for payloads without a pause while the database behind the service is stopped, paused and slowed, one after the
 * other, and tells what SDKs and people saw second by second.
 *
 *   node e2e/database-outage.ts [least seconds of each phase]
 */

const askers = 4;
/** A phase goes on for so many seconds at most until the service has noticed. */
const longestPhase = 30;

/** What happened within a second. */
interface Second {
  readonly phase: string;
  /** Milliseconds that SDKs waited for each payload. */
  readonly waited: readonly number[];
  /** Payload answers that were not 200. */
  readonly errors: readonly string[];
  /** What the payload said of its age; null: nothing. */
  readonly age: string | null;
  /** What the admin API answered. */
  readonly admin: number;
}

/** What all seconds of a phase came to. */
export interface Phase {
  readonly name: string;
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
  readonly errors: readonly string[];
  /** What the admin API answered, and whether payloads told an age, in the last second. */
  readonly admin: number;
  readonly aged: boolean;
}

/** @param say takes a line for each second */
export async function watchOutages(seconds: number, say: (line: string) => void): Promise<Phase[]> {
  const [ours, theirs] = [await newDataDirectory(), await newDataDirectory()];
  const run = () => startEmbeddedPostgres({ dataDirectory: theirs.path, role: 'service', say: () => undefined });
  let postgres = await run();
  const proxy = await proxyOf(postgres.connection);
  const halyard = await startHalyard({
    HALYARD_DATA_DIR: ours.path,
    DATABASE_URL: databaseUrl(proxy.address),
    LOG_LEVEL: 'silent',
  });
  const phases: Phase[] = [];
  const watched = await watch(halyard);
  const phase = async (name: string, isOver: (second: Second) => boolean) => {
    const all: Second[] = [];
    let over = false;
    while (all.length < seconds || (!over && all.length < longestPhase)) {
      const second = await watched.second(name);
      over = isOver(second);
      all.push(second);
      say(lineOf(second));
    }
    phases.push(sum(name, all));
  };
  const away = ({ admin, age }: Second) => admin === 503 && age !== null;
  const well = ({ admin, age }: Second) => admin === 200 && age === null;

  try {
    await watched.second('warming up');
    await phase('quiet', well);
    await postgres.stop();
    await phase('stopped', away);
    postgres = await run();
    await phase('started again', well);
    const processes = processesOf(theirs.path);
    for (const id of processes) process.kill(id, 'SIGSTOP');
    await phase('paused', away);
    for (const id of processes) process.kill(id, 'SIGCONT');
    await phase('going on', well);
    proxy.delay(300);
    await phase('slow', well);
    proxy.pass();
    await phase('quick again', well);
    return phases;
  } finally {
    watched.stop();
    await halyard.end('SIGTERM');
    await proxy.stop();
    await postgres.stop();
    await ours.remove();
    await theirs.remove();
  }
}

/** Begins to ask for a payload without a pause. */
async function watch(halyard: Halyard) {
  const owner = { id: 'admin@localhost' };
  const feature = await newFeature({ admin: halyard.admin, owner });
  const { key } = await newConnection(halyard.admin);
  const agent = new Agent({ keepAlive: true });
  const stopping = new AbortController();
  let waited: number[] = [];
  let errors: string[] = [];
  let age: string | null = null;

  const ask = async (): Promise<void> => {
    const begun = performance.now();
    try {
      const { statusCode, headers } = await get(`${halyard.url}/api/features/${key}`, agent);
      if (statusCode !== 200) errors.push(String(statusCode));
      age = (headers['x-service-config-age'] as string | undefined) ?? null;
    } catch (error) {
      errors.push((error as Error).message);
    }
    waited.push(performance.now() - begun);
  };
  const asking = Array.from({ length: askers }, async () => {
    while (!stopping.signal.aborted) {
      await ask();
      await sleep(1);
    }
  });

  return {
    async second(phase: string): Promise<Second> {
      waited = [];
      errors = [];
      const end = sleep(1_000);
      const { status } = await halyard.admin.request(getFeature, { params: { id: feature.id } });
      await end;
      return { phase, waited, errors, age, admin: status };
    },
    stop() {
      stopping.abort();
      void Promise.all(asking).then(() => agent.destroy());
    },
  };
}

function get(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response));
    })
      .on('error', reject)
      .end();
  });
}

/** The postmaster of a data directory and everything it has started. */
function processesOf(dataDirectory: string): number[] {
  const file = join(dataDirectory, 'postgresql', 'data', 'postmaster.pid');
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => parentOf(id) === postmaster);
  return [postmaster, ...children];
}

function parentOf(processId: number): number | null {
  try {
    // After the name in parentheses, which may hold anything, come the state and the parent.
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${processId}/stat`, 'utf8')) ?? [];
    return Number(rest.split(' ')[1]);
  } catch {
    return null;
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function sum(name: string, seconds: readonly Second[]): Phase {
  const waited = seconds.flatMap((second) => second.waited);
  const last = seconds.at(-1);
  return {
    name,
    requests: waited.length,
    p50: quantile(waited, 0.5),
    p99: quantile(waited, 0.99),
    errors: seconds.flatMap(({ errors }) => errors),
    admin: last?.admin ?? 0,
    aged: last?.age !== null,
  };
}

const columns = (cells: readonly (string | number)[]) =>
  cells.map((cell, index) => String(cell).padEnd([14, 10, 10, 10, 8, 8, 6][index] ?? 8)).join('');

const heading = columns(['phase', 'payloads', 'p50 ms', 'p99 ms', 'errors', 'age s', 'admin']);

function lineOf(second: Second): string {
  const { phase, waited, errors, age, admin } = second;
  const [p50, p99] = [quantile(waited, 0.5), quantile(waited, 0.99)];
  return columns([phase, waited.length, p50.toFixed(2), p99.toFixed(2), errors.length, age ?? '', admin]);
}

if (import.meta.main) {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(heading);
  const phases = await watchOutages(Number(process.argv[2] ?? 15), say);
  say('');
  say(heading);
  const quiet = phases[0]?.p99 ?? 0;
  for (const { name, requests, p50, p99, errors, admin, aged } of phases) {
    const ratio = `p99 ${(p99 / quiet).toFixed(1)} × quiet`;
    say(
      `${columns([name, requests, p50.toFixed(2), p99.toFixed(2), errors.length, aged ? 'yes' : '', admin])}  ${ratio}`,
    );
  }
  process.exitCode = phases.some(({ errors }) => errors.length > 0) ? 1 : 0;
}
