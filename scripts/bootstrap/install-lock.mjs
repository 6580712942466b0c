import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.mjs';

const LOOK_EVERY_MS = 200;
const LIMIT_MS = 600_000;

/** Two `npm ci` at once would take each other's files away: the second waits for the first. */
export async function withInstallLock(root, say, act) {
  const directory = join(root, '.cache');
  const lock = join(directory, 'install.lock');
  const mine = join(directory, `install.lock.${process.pid}`);
  const name = nameOf(process.pid);
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(mine, name);
  } catch (error) {
    throw new Failure(
      `The dependencies are not installed as package-lock.json asks, and ${root} cannot be written (${error.code}): ` +
        `run npm ci there as its owner.`,
    );
  }
  try {
    await take(lock, mine, name, say);
    await act();
  } finally {
    if (read(lock) === name) rmSync(lock, { force: true });
    rmSync(mine, { force: true });
  }
}

async function take(lock, mine, name, say) {
  const deadline = Date.now() + LIMIT_MS;
  for (let waits = 0; Date.now() < deadline; waits += 1) {
    const holder = read(lock);
    if (holder === name) return;
    if (holder === undefined) {
      tryLink(mine, lock);
      continue;
    }
    if (isAlive(holder)) {
      if (waits === 0) say('Waiting for another npm run, which installs the dependencies …\n');
      await sleep(LOOK_EVERY_MS);
      continue;
    }
    // Its holder was killed. Of several who see that at once the last one has the lock, which shows a moment later.
    const copy = `${mine}.copy`;
    writeFileSync(copy, name);
    renameSync(copy, lock);
    await sleep(LOOK_EVERY_MS);
  }
  throw new Failure(
    `Another npm run has been installing for ${LIMIT_MS / 60_000} minutes; if none runs, remove ${lock}.`,
  );
}

function tryLink(from, to) {
  try {
    linkSync(from, to);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The number and the start of a process: numbers are given out again. */
function nameOf(processId) {
  return `${processId} ${startOf(processId)}\n`;
}

function isAlive(holder) {
  const processId = Number.parseInt(holder, 10);
  try {
    process.kill(processId, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return nameOf(processId) === holder;
}

/** In ticks since the machine started; the twentieth field after the name in parentheses. */
function startOf(processId) {
  const stat = read(`/proc/${processId}/stat`);
  return stat === undefined ? '' : stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}
