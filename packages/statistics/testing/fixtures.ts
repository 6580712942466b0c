import { readFileSync } from 'node:fs';

/** The lines of a fixture, each of which is JSON. */
export function fixtureLines<Line>(name: string): Line[] {
  const text = readFileSync(new URL(`fixtures/${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));
}
