import { existsSync } from 'node:fs';
import { runProgram } from './child.mjs';
import { duration } from './duration.mjs';
import { Failure } from './failure.mjs';

/** What the Chromium of the tests wants of the system, and the packages that bring it on Debian and its kin. */
const LIBRARIES = { 'libnss3.so': 'libnss3', 'libnspr4.so': 'libnspr4', 'libexpat.so.1': 'libexpat1' };

const MACHINES = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/** Where libraries lie, and how they are installed. */
const thisSystem = {
  folders: ['/lib', '/usr/lib', '/lib64', '/usr/lib64'].flatMap((folder) => [
    folder,
    `${folder}/${MACHINES[process.arch]}`,
  ]),
  aptGet: '/usr/bin/apt-get',
  mayInstall: process.getuid?.() === 0,
};

/**
 * Makes sure that the Chromium of the tests finds its libraries: as root they are installed, else whoever runs this is told
 * how.
 *
 * @param {NodeJS.ProcessEnv} environment whose `HALYARD_CHROMIUM` names another Chromium, which has what it needs
 */
export async function provideBrowserLibraries(root, environment, say, system = thisSystem) {
  const { folders, aptGet, mayInstall } = system;
  if (environment.HALYARD_CHROMIUM) return;
  const missing = Object.keys(LIBRARIES).filter((name) => !folders.some((folder) => existsSync(`${folder}/${name}`)));
  if (missing.length === 0) return;
  const packages = missing.map((name) => LIBRARIES[name]).join(' ');
  const hint = `apt-get install --yes ${packages}   (or set HALYARD_CHROMIUM to a Chromium that runs here)`;
  if (!mayInstall || !existsSync(aptGet)) {
    throw new Failure(
      `The browser of the tests needs ${missing.join(', ')}. Install them and run this again:\n  sudo ${hint}`,
    );
  }
  say(`Installing ${packages} for the browser of the tests … `);
  const begin = performance.now();
  const output = [];
  const run = async (...given) => {
    const env = { ...environment, DEBIAN_FRONTEND: 'noninteractive' };
    const onOutput = (chunk) => output.push(chunk);
    const stdio = ['ignore', 'pipe', 'pipe'];
    return (await runProgram(aptGet, given, { cwd: root, env, stdio, onOutput })).code === 0;
  };
  const installs = ['install', '--yes', '--no-install-recommends', ...packages.split(' ')];
  if (!((await run(...installs)) || ((await run('update')) && (await run(...installs))))) {
    say(`failed after ${duration(begin)}\n${Buffer.concat(output)}`);
    throw new Failure(`apt-get failed; what it said is above. Run this once it is mended:\n  ${hint}`);
  }
  say(`${duration(begin)}\n`);
}
