import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type LockFile, missingPackages } from './complete-lock-file.ts';

test('the lock file names every optional package, so that npm ci takes it on every platform', () => {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as LockFile;
  expect(missingPackages(lock)).toEqual({});
});

test('a package that is missing gets the platform that its name tells', () => {
  const packages = {
    '': {},
    'node_modules/tool': {
      dev: true,
      optionalDependencies: { '@tool/linux-x64-musl': '1.0.0', '@tool/linux-x64-gnu': '1.0.0' },
    },
    'node_modules/tool/node_modules/@tool/linux-x64-gnu': { version: '1.0.0' },
  };
  expect(missingPackages({ packages })).toEqual({
    'node_modules/@tool/linux-x64-musl': {
      version: '1.0.0',
      os: ['linux'],
      cpu: ['x64'],
      libc: ['musl'],
      dev: true,
      optional: true,
    },
  });
});

test('a package that is there in another version only is missing, and put where it is found', () => {
  const wants = { optionalDependencies: { '@tool/linux-x64-gnu': '1.0.0', '@tool/linux-arm64-gnu': '1.0.0' } };
  const packages = {
    '': {},
    'node_modules/@tool/linux-x64-gnu': { version: '2.0.0' },
    'node_modules/@tool/linux-arm64-gnu': { version: '1.0.0' },
    'node_modules/tool': wants,
    'node_modules/other/node_modules/tool': wants,
  };
  expect(Object.keys(missingPackages({ packages }))).toEqual([
    'node_modules/tool/node_modules/@tool/linux-x64-gnu',
    'node_modules/other/node_modules/@tool/linux-x64-gnu',
  ]);
});
