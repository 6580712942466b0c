import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './child.mjs';
import { duration } from './duration.mjs';
import { Failure } from './failure.mjs';

/**
 * Runs the steps of a command, all of them, each as a program of its own.
 *
 * @param {import('./commands.mjs').Step[]} steps
 * @param {{ root: string, runtime: string, environment: NodeJS.ProcessEnv, say: (text: string) => void }} context
 * @returns {Promise<number>} the exit code: of the only step, or 1 if one of several failed
 */
export async function runSteps(steps, { root, runtime, environment, say }) {
  const failed = [];
  for (const step of steps) {
    const path = join(root, step.program);
    if (!existsSync(path)) throw new Failure(`${step.program} is missing; is this a whole clone of the repository?`);
    const begin = performance.now();
    if (steps.length > 1) say(`${step.name} …\n`);
    const { code, interrupted } = await runProgram(runtime, [...(step.forNode ?? []), path, ...step.arguments], {
      cwd: root,
      env: environment,
    });
    if (steps.length === 1 || interrupted) return code;
    say(`${step.name} ${code === 0 ? 'passed' : 'FAILED'} (${duration(begin)})\n`);
    if (code !== 0) failed.push(step.name);
  }
  if (failed.length > 0) say(`Failed: ${failed.join(', ')}\n`);
  return failed.length > 0 ? 1 : 0;
}
