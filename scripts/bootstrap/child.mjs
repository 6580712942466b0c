import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Failure } from './failure.mjs';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** npm passes Ctrl-C on to us although the terminal has done so; within this time that is one signal, not two. */
const SAME_SIGNAL_MS = 1000;
const LOOK_FOR_PARENT_MS = 500;

/**
 * Runs a program until it ends: signals reach it once, and it has the time it needs to stop cleanly. When a signal ended
 * it, this process ends by the same one, so that whoever waits for us sees the truth.
 *
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, stdio?: import('node:child_process').StdioOptions,
 *   onOutput?: (chunk: Buffer) => void }} options
 * @returns {Promise<{ code: number, interrupted: boolean }>} its exit code, and whether it ended because we were told to
 */
export async function runProgram(program, programArguments, { cwd, env, stdio = 'inherit', onOutput }) {
  const child = spawn(program, programArguments, { cwd, env, stdio });
  child.stdout?.on('data', onOutput);
  child.stderr?.on('data', onOutput);
  const forwarding = forwardSignals(child);
  let ending;
  try {
    ending = await new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new Failure(`${program} cannot be run: ${error.message}`)));
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  } finally {
    forwarding.end();
  }
  if (FORWARDED.includes(ending.signal)) process.kill(process.pid, ending.signal);
  return { code: ending.code ?? 128 + constants.signals[ending.signal], interrupted: forwarding.wasTold() };
}

function forwardSignals(child) {
  const last = new Map();
  const pass = (signal) => {
    const now = performance.now();
    if (now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < SAME_SIGNAL_MS) return;
    last.set(signal, now);
    // Ctrl-C comes from the terminal, which gives it to all programs in its foreground, the child among them.
    if (signal === 'SIGINT' && isInForeground()) return;
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, pass);

  // The shell between npm and us may not pass a signal on, but die of it. Then nobody waits for us any more.
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.env.npm_lifecycle_event === undefined || process.ppid === parent) return;
    clearInterval(timer);
    pass('SIGTERM');
  }, LOOK_FOR_PARENT_MS);

  return {
    wasTold: () => last.size > 0,
    end: () => {
      clearInterval(timer);
      for (const signal of FORWARDED) process.off(signal, pass);
    },
  };
}

/** Whether a terminal counts us among the programs that its Ctrl-C is for. */
function isInForeground() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name in parentheses: state, parent, group, session, terminal, the terminal's foreground group.
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return terminal !== '0' && group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}
