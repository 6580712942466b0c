import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { runProgram } from './child.mjs';
import { duration } from './duration.mjs';
import { Failure } from './failure.mjs';
import { withInstallLock } from './install-lock.mjs';

const STAMP = '.halyard-installed';
const PLATFORM = `${process.platform}-${process.arch}`;

/** Installs the dependencies if what is installed does not fit `package-lock.json`. */
export async function provideDependencies(root, say) {
  if (isInstalled(root)) return;
  await withInstallLock(root, say, async () => {
    // Another `npm run` may have done it while we waited.
    if (!isInstalled(root)) await install(root, say);
  });
}

/** Whether `node_modules` is what `package-lock.json` asks for, whoever installed it. */
function isInstalled(root) {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  return readIfThere(join(root, 'node_modules', STAMP)) === stampOf(lock) || npmSaysItFits(root, JSON.parse(lock));
}

/** Written when `npm ci` has ended well; it empties `node_modules` first, so that a stamp never outlives its contents. */
function stampOf(lock) {
  return `${createHash('sha256').update(lock).digest('hex')} ${PLATFORM}\n`;
}

/** npm notes what it installed; so we also know a hand-made `npm install` or `npm ci`. */
function npmSaysItFits(root, { packages: wanted }) {
  const note = readIfThere(join(root, 'node_modules', '.package-lock.json'));
  if (note === undefined) return false;
  const { packages: installed } = JSON.parse(note);
  const isSame = (path) =>
    wanted[path]?.version === installed[path].version && wanted[path]?.integrity === installed[path].integrity;
  return (
    Object.keys(installed).every(isSame) &&
    Object.keys(wanted).every((path) => path === '' || path in installed || mayBeMissing(wanted[path]))
  );
}

/** Optional packages are left out where they do not fit; those for this very platform must be there. */
function mayBeMissing({ optional, os, cpu, libc }) {
  const isForHere = [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
  return optional === true && !(isForHere && libc === undefined);
}

async function install(root, say) {
  say('Installing dependencies … ');
  const begin = performance.now();
  const output = [];
  const npm = findNpm(root);
  // What we build and check with is needed everywhere, whatever the environment says about production.
  const npmArguments = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error'];
  const { code, interrupted } = await runProgram(npm.program, [...npm.arguments, ...npmArguments], {
    cwd: root,
    env: npm.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    onOutput: (chunk) => output.push(chunk),
  });
  if (code !== 0) {
    say(`failed after ${duration(begin)}\n${Buffer.concat(output)}`);
    if (interrupted) throw new Failure('Interrupted; the next npm run installs anew.');
    throw new Failure(`npm ci ended with exit code ${code}; what it said is above. Mend that and run this again.`);
  }
  writeFileSync(join(root, 'node_modules', STAMP), stampOf(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  say(`${duration(begin)}\n`);
}

/**
 * The npm that called us, under the Node that it runs under. Never under the Node in `node_modules`, which the
 * installation takes away.
 */
function findNpm(root) {
  const binaries = join(root, 'node_modules', '.bin');
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => entry !== binaries);
  const environment = { ...process.env, PATH: path.join(delimiter) };
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  if (script !== undefined && node !== undefined && basename(script) === 'npm-cli.js' && existsSync(node)) {
    return { program: node, arguments: [script], environment };
  }
  return { program: 'npm', arguments: [], environment };
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
