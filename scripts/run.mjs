/**
 * Behind every `npm run …` of this repository: makes sure that what is needed is installed, and goes on under Node 24.
 * Plain JavaScript without dependencies, which Node 20 runs on a fresh clone. Whatever it says itself goes to standard
 * error: standard output belongs to the commands (`npm run --silent openapi > openapi.yaml`).
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provideBrowserLibraries } from './bootstrap/browser-libraries.mjs';
import { commands, usage } from './bootstrap/commands.mjs';
import { provideDependencies } from './bootstrap/dependencies.mjs';
import { environmentFor } from './bootstrap/environment.mjs';
import { Failure } from './bootstrap/failure.mjs';
import { linkPostgresLibraries } from './bootstrap/postgres-libraries.mjs';
import { findRuntime } from './bootstrap/runtime.mjs';
import { runSteps } from './bootstrap/steps.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(text);

async function main([name, ...given]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (command === undefined) {
    const isQuestion = name === undefined || name === 'help' || name === '--help';
    say(isQuestion ? usage : `There is no command "${name}".\n\n${usage}`);
    return isQuestion ? 0 : 2;
  }
  if (command.takesNothing && given.length > 0) {
    throw new Failure(`npm run ${name} takes no arguments, but got: ${given.join(' ')}`);
  }
  await provideDependencies(root, say);
  linkPostgresLibraries(join(root, 'node_modules'));
  if (command.usesBrowser) await provideBrowserLibraries(root, process.env, say);
  const runtime = findRuntime(root);
  return runSteps(command.steps(given), { root, runtime, environment: environmentFor(root), say });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  say(`${error.message}\n`);
  process.exitCode = 1;
}
