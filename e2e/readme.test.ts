import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { endAll, newDataDirectory, startHalyard } from '../packages/server/testing/halyard.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The commands of the README's tour, one after the other. */
function tour(): string {
  const [, section = ''] = readFileSync(`${root}/README.md`, 'utf8').split('## A tour in five minutes');
  const [ours = ''] = section.split('\n## ');
  return [...ours.matchAll(/```sh\n(.*?)```/gs)].map(([, commands]) => commands).join('\n');
}

test('the tour of the README, pasted as it is, ends with an SDK that has heard of the toggle', async () => {
  const directory = await newDataDirectory();
  const environment = { HALYARD_DATA_DIR: directory.path };
  const { url, greeting } = await startHalyard({ ...environment, SECRET_API_KEY: '' });
  expect(greeting).toContain('There is no organization yet');

  const commands = tour().replaceAll('http://127.0.0.1:3100', url).replaceAll('/tmp/', `${directory.path}/`);
  const { SECRET_API_KEY: _, ...inherited } = process.env;
  const shell = spawn('bash', ['-eu'], {
    cwd: root,
    env: { ...inherited, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  shell.stdin.end(commands);
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  const answers = output.split('\n');

  expect(errors).not.toContain('Error');
  expect(answers[0]).toMatch(/^org_/);
  expect(output).toContain('"new-checkout":{"defaultValue":false,"rules":[{"condition":{"country":"DE"},"force":true}');
  expect(output).toContain('"key":"new-checkout","value":true,"reason":"TARGETING_MATCH"');
  const said = output.match(/new-checkout is (on|off)/g);
  expect(said?.at(0)).toBe('new-checkout is on');
  expect(said?.at(-1)).toBe('new-checkout is off');
  await endAll();
  await directory.remove();
});
