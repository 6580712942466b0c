import { newDataDirectory, startHalyard } from '../packages/server/testing/halyard.ts';
import { residentMegabytes } from './support/memory.ts';
import { bounded, median, progress, type Row } from './support/rows.ts';

const idleSeconds = 60;

/** How long the service takes until it is ready, and what its process weighs when it has nothing to do. */
export async function benchStart(): Promise<Row[]> {
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < 3; round++) {
    const directory = await newDataDirectory();
    first.push(await secondsUntilReady(directory.path));
    again.push(await secondsUntilReady(directory.path));
    await directory.remove();
    progress(`  start: first ${first.at(-1)?.toFixed(2)} s, again ${again.at(-1)?.toFixed(2)} s`);
  }
  return [
    bounded('ready, first start', 's', median(first), 5),
    bounded('ready, restart', 's', median(again), 2),
    bounded(`memory of the idle process, ${idleSeconds} s after ready`, 'MB', await idleMemory(), 200),
  ];
}

async function secondsUntilReady(dataDirectory: string): Promise<number> {
  const begin = performance.now();
  const halyard = await startHalyard({ HALYARD_DATA_DIR: dataDirectory });
  const seconds = (performance.now() - begin) / 1000;
  await halyard.end('SIGTERM');
  return seconds;
}

async function idleMemory(): Promise<number> {
  const directory = await newDataDirectory();
  const halyard = await startHalyard({ HALYARD_DATA_DIR: directory.path });
  progress(`  idle for ${idleSeconds} s …`);
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  const memory = residentMegabytes(halyard.processId);
  await halyard.end('SIGTERM');
  await directory.remove();
  return memory;
}
