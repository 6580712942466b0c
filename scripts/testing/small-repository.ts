import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/*
 * A small repository with the real scripts/run.mjs, where npm is a program of ours that installs nothing, and the
 * commands are programs that say what they see.
 */

const scripts = dirname(import.meta.dirname);
export const children: ChildProcess[] = [];
const directories: string[] = [];

/** Ends and removes all that a test made. */
export function cleanUp(): void {
  for (const child of children.splice(0)) killGroup(child);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

/** Installs as npm does: takes all away, works for as long as the test wants, and notes what it installed. */
const NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
if (process.env.NPM_FAILS) { console.log('what npm has to say'); process.exit(7); }
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules/.bin', { recursive: true });
while (process.env.NPM_WAITS && !existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10));
for (const [name, text] of Object.entries(JSON.parse(readFileSync('packages-on-npm.json', 'utf8')))) {
  mkdirSync(dirname('node_modules/' + name), { recursive: true });
  writeFileSync('node_modules/' + name, text);
}
const { packages: { '': own, ...packages } } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
console.log('added 2 packages');
`;

/** Says what it sees, and waits for a signal when asked to. */
const PROGRAM = `
const { INIT_CWD, NODE_COMPILE_CACHE, PATH } = process.env;
console.log(JSON.stringify({ arguments: process.argv.slice(2), cwd: process.cwd(), INIT_CWD, NODE_COMPILE_CACHE, PATH }));
const [what, code] = process.argv.slice(2);
if (what === 'exit') process.exit(Number(code));
if (what === 'die') process.kill(process.pid, code);
if (what === 'wait') {
  const stay = setInterval(() => {}, 1000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      console.log('got ' + signal);
      // A clean stop takes a moment.
      setTimeout(() => { console.log('stopped'); clearInterval(stay); process.exitCode = Number(code); }, 300);
    });
  }
  console.log('waiting');
}
`;

const TOOL = `
console.log(process.argv[1].split('/').at(-1), process.argv.slice(2).join(' '));
if ((process.env.TOOLS_THAT_FAIL ?? '').split(',').includes(process.argv[1].split('/').at(-1))) process.exit(3);
`;

export const LOCK = {
  lockfileVersion: 3,
  packages: {
    '': { name: 'small' },
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
    [`node_modules/tool-for-here`]: { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
  },
};

export function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'halyard-run-'));
  directories.push(root);
  cpSync(join(scripts, 'run.mjs'), join(root, 'scripts/run.mjs'));
  cpSync(join(scripts, 'bootstrap'), join(root, 'scripts/bootstrap'), { recursive: true });
  write(root, 'package-lock.json', JSON.stringify(LOCK));
  write(root, 'npm/npm-cli.js', NPM);
  write(root, 'npm/package.json', '{ "type": "module" }');
  for (const name of ['main', 'commands/openapi']) write(root, `packages/server/src/${name}.ts`, PROGRAM);
  write(root, 'scripts/check-layers.ts', TOOL);
  const onNpm = Object.fromEntries(
    ['oxlint', 'biome', 'tsc', 'knip', 'vitest'].map((name) => [`.bin/${name}`, TOOL] as const),
  );
  write(root, 'packages-on-npm.json', JSON.stringify(onNpm));
  return root;
}

export function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

export interface Run {
  child: ChildProcess;
  out: string;
  err: string;
  /** Resolves when standard output holds this. */
  until(text: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts `npm run <command> -- …`, as far as the command sees it. */
export function start(root: string, given: string[], environment: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [join(root, 'scripts/run.mjs'), ...given], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      npm_execpath: join(root, 'npm/npm-cli.js'),
      npm_node_execpath: process.execPath,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Away from the terminal of who runs the tests, whose Ctrl-C is another test.
    detached: true,
  });
  children.push(child);
  const watchers = new Set<() => void>();
  const run: Run = {
    child,
    out: '',
    err: '',
    ended: once(child, 'close').then(([code, signal]) => ({ code, signal })),
    until: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!run.out.includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
  child.stdout?.on('data', (chunk) => {
    run.out += chunk;
    for (const watcher of watchers) watcher();
  });
  child.stderr?.on('data', (chunk) => {
    run.err += chunk;
  });
  return run;
}

export async function finish(run: Run): Promise<Run & { code: number | null; signal: NodeJS.Signals | null }> {
  return { ...run, ...(await run.ended), out: run.out, err: run.err };
}

export const run = (root: string, given: string[], environment?: NodeJS.ProcessEnv) =>
  finish(start(root, given, environment));

export const installations = (root: string): number =>
  existsSync(join(root, 'npm.log')) ? readFileSync(join(root, 'npm.log'), 'utf8').trim().split('\n').length : 0;

/** A repository in which one command was run already. */
export async function installed(): Promise<string> {
  const root = repository();
  const { code, err } = await run(root, ['openapi']);
  if (code !== 0) throw new Error(`the installation failed: ${err}`);
  return root;
}

/** The program and all that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
