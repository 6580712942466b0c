import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { conformanceText, runConformance } from '../testing/conformance.ts';

/** Beside the repository, not in it: whoever has the public vector file runs it. */
const FILE = new URL('../../../../shared/vectors/sdk/cases.json', import.meta.url);
const isThere = existsSync(FILE);
if (!isThere)
  process.stdout.write('The SDK test vectors did not run: ../shared/vectors/sdk/cases.json is not there.\n');

test.runIf(isThere)('every case of the public SDK test vectors passes', () => {
  const text = conformanceText(runConformance(JSON.parse(readFileSync(FILE, 'utf8'))));
  expect(text).toMatch(/^total +[1-9]\d* +0 +0$/m);
});
