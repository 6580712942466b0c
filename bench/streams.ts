import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { postSdkConnection, toggleFeature } from '@halyard/contract';
import type { Halyard } from '../packages/server/testing/halyard.ts';
import { featureId } from './support/features.ts';
import { median, progress, type Row } from './support/rows.ts';
import { openStreams } from './support/streams.ts';

const listeners = 1_000;
const manyStreams = 10_000;
const warmUps = 5;
const toggles = 20;
/** Asks for nothing that has happened so far: what is measured is a stream on which nothing happens. */
const nothingNew = { 'Last-Event-ID': '999999999999' };

/** Milliseconds from the moment a change was acknowledged to its event, over all streams and changes. */
interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** How soon a toggle is on 1,000 streams, and what 10,000 open streams take, beside a bare server that writes the same bytes. */
export async function benchStreams(halyard: Halyard): Promise<Row[]> {
  const body = { name: 'Bench streams', language: 'javascript', environment: 'production' } as const;
  const { sdkConnection } = await halyard.admin.call(postSdkConnection, { body });
  const path = `/sub/${sdkConnection.key}`;
  let on = true;
  const toggle = async () => {
    on = !on;
    await halyard.admin.call(toggleFeature, {
      params: { id: featureId(0) },
      body: { environments: { production: on } },
    });
  };

  const event = await eventOf(halyard.url, path, toggle);
  progress(`  one event has ${event.length} bytes`);
  const bare = await startBareStreams(event);
  try {
    const ours = await latency('toggle', halyard.url, path, event.length, toggle);
    const fire = async () => void (await (await fetch(bare.url, { method: 'POST' })).arrayBuffer());
    const peer = await latency('bare', bare.url, '/', event.length, fire);
    const ourMemory = await memory(halyard.url, path, halyard.processId);
    const bareMemory = await memory(bare.url, '/', bare.processId);
    return [
      above(`toggle to event on ${listeners} streams, p50`, ours.p50, peer.p50, 12),
      above(`toggle to event on ${listeners} streams, p99`, ours.p99, peer.p99, null),
      times(`memory of each of ${manyStreams} streams`, ourMemory, bareMemory, 1.2),
    ];
  } finally {
    bare.stop();
  }
}

/** The bytes of one event, as they go over the wire. */
async function eventOf(url: string, path: string, toggle: () => Promise<void>): Promise<Buffer> {
  const response = await fetch(`${url}${path}`);
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('The stream has no body.');
  let text = '';
  const decoder = new TextDecoder();
  const readEvents = async (count: number) => {
    while (text.split('\n\n').filter((block) => block.startsWith('event:')).length < count || !text.endsWith('\n\n')) {
      const { done, value } = await reader.read();
      if (done) throw new Error('The stream ended before its event came.');
      text += decoder.decode(value, { stream: true });
    }
  };
  await readEvents(1);
  await toggle();
  await readEvents(2);
  await reader.cancel();
  return Buffer.from(`${text.split('\n\n').filter((block) => block.startsWith('event:'))[1]}\n\n`);
}

async function latency(
  name: string,
  url: string,
  path: string,
  bytes: number,
  change: () => Promise<void>,
): Promise<Latency> {
  const streams = await openStreams(url, path, listeners);
  await sleep(1_000);
  const times: number[] = [];
  for (let round = 1; round <= warmUps + toggles; round++) {
    const arriving = streams.arrivals(bytes);
    await change();
    const acknowledged = performance.now();
    const arrivals = await arriving;
    if (round > warmUps) times.push(...arrivals.map((at) => at - acknowledged));
    await sleep(200);
  }
  streams.close();
  const sorted = times.toSorted((a, b) => a - b);
  const result = { p50: median(sorted), p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN };
  progress(`  ${name}: p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms`);
  return result;
}

/** Kilobytes of resident memory that each of many open streams takes. */
async function memory(url: string, path: string, processId: number): Promise<number> {
  await sleep(2_000);
  const before = await residentKilobytes(processId);
  const streams = await openStreams(url, path, manyStreams, nothingNew);
  await sleep(5_000);
  const each = ((await residentKilobytes(processId)) - before) / manyStreams;
  streams.close();
  progress(`  ${each.toFixed(1)} kB a stream`);
  return each;
}

async function residentKilobytes(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

async function startBareStreams(event: Buffer): Promise<{ url: string; processId: number; stop(): void }> {
  const program = fileURLToPath(new URL('support/bare-streams.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(event.toString('base64'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: line.toString().trim(), processId: child.pid ?? 0, stop: () => child.kill() };
}

const above = (name: string, ours: number, peer: number, most: number | null): Row => ({
  name,
  unit: 'ms',
  ours,
  peer,
  ratio: null,
  aim: most === null ? '' : `≤ ${most} ms above`,
  reached: most === null ? null : ours - peer <= most,
});

const times = (name: string, ours: number, peer: number, most: number): Row => ({
  name,
  unit: 'kB',
  ours,
  peer,
  ratio: ours / peer,
  aim: `≤ ${most} ×`,
  reached: ours / peer <= most,
});
