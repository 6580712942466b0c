/**
 * What each command runs: steps one after the other, each a program of ours or of an installed package with its
 * arguments. All steps of a command are run even if one fails.
 */

/** @typedef {{ name: string, program: string, arguments: string[], forNode?: string[] }} Step */
/** @typedef {{ about: string, takesNothing?: boolean, usesBrowser?: boolean, steps: (given: string[]) => Step[] }} Command */

/** @returns {(given: string[]) => Step[]} */
const program =
  (path, ...forNode) =>
  (given) => [{ name: path, program: path, arguments: given, forNode }];

/** @returns {Step} */
const tool = (name, executable, ...fixed) => ({
  name,
  program: `node_modules/.bin/${executable}`,
  arguments: fixed,
});

const checks = [
  tool('oxlint', 'oxlint', '--ignore-path=.gitignore'),
  tool('biome format', 'biome', 'format'),
  tool('tsc', 'tsc', '--noEmit'),
  { name: 'layers', program: 'scripts/check-layers.ts', arguments: [] },
  tool('knip', 'knip'),
];

/** @type {Record<string, Command>} */
export const commands = {
  up: { about: 'install and start the service', steps: program('packages/server/src/main.ts') },
  dev: {
    about: 'the same, started again at every change',
    steps: program('packages/server/src/main.ts', '--watch', '--watch-preserve-output'),
  },
  edge: {
    about: 'install and start an edge: serves what another Halyard serves, also while that one is away',
    takesNothing: true,
    steps: program('packages/server/src/edge.ts'),
  },
  test: {
    usesBrowser: true,
    about: 'all checks of lint, then all tests; with arguments only the tests they choose, e.g. -- flags -t coverage',
    steps: (given) => [...(given.length === 0 ? checks : []), tool('vitest', 'vitest', 'run', ...given)],
  },
  lint: { about: 'linter, format, types, layers, and what nobody uses', takesNothing: true, steps: () => checks },
  format: {
    about: 'format the code and sort its imports',
    takesNothing: true,
    steps: () => [tool('biome', 'biome', 'check', '--write', '--linter-enabled=false')],
  },
  bench: { about: 'measure', steps: program('bench/index.ts') },
  migrate: {
    about: 'bring the database to the newest schema',
    steps: program('packages/server/src/commands/migrate.ts'),
  },
  openapi: {
    about: 'print the OpenAPI document (npm run --silent openapi > openapi.yaml)',
    steps: program('packages/server/src/commands/openapi.ts'),
  },
  keys: { about: 'create, list and disable secret keys', steps: program('packages/server/src/commands/keys.ts') },
  organizations: {
    about: 'create and list organizations',
    steps: program('packages/server/src/commands/organizations.ts'),
  },
  conformance: { about: 'judge our evaluation by test vectors in a file', steps: program('scripts/conformance.ts') },
  vectors: { about: 'judge our statistics by reference vectors in files', steps: program('scripts/vectors.ts') },
  calibrate: { about: 'judge our statistics by simulation, some ten minutes', steps: program('scripts/calibrate.ts') },
};

const longest = Math.max(...Object.keys(commands).map((name) => name.length));

export const usage = `npm run <command> [-- arguments]

${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(longest)}  ${about}\n`)
  .join('')}
Paths among the arguments are taken from where npm was called.
`;
