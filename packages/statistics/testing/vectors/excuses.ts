/**
 * Where the vectors' own description says that the implementation they come from is at fault, ours is right instead. Each rule
 * says when it applies, never for which case.
 */
import { type Comparison, valueAt } from './compare.ts';
import type { VectorCase } from './format.ts';

interface Rule {
  readonly reason: string;
  readonly applies: (input: Input, comparison: Comparison, testCase: VectorCase) => boolean;
}

interface Settings {
  readonly topTwo?: boolean;
  readonly inverse?: boolean;
  readonly decisionMetric?: string;
}

/** What the rules look at, of whichever group. */
interface Input {
  readonly settings?: Settings;
  readonly arms?: readonly unknown[];
  readonly bandit?: Settings | null;
  readonly metrics?: readonly { readonly id: string; readonly inverse: boolean }[];
  readonly analyses?: readonly {
    readonly postStratify: boolean;
    readonly maxLevels: number;
    readonly oneSided: boolean;
    readonly sequential: boolean;
  }[];
  readonly results?: readonly { readonly rows: readonly { readonly variation: string }[] }[];
}

const weightsByRank =
  /^(simulated|exact\.weightsRankTwoAndThree|bandit\.(updatedWeights|exactUpdatedWeights|weightsWereUpdated))/;
const drawsOfSimulation = 10_000;

const rules: readonly Rule[] = [
  {
    reason:
      'top-two sampling of an inverse metric takes ranks two and three from the bottom there; here the lowest two',
    applies: (input, { path }) => isInverseTopTwo(input) && weightsByRank.test(path),
  },
  {
    reason: 'top-two sampling of one arm fails there; here the arm has all traffic',
    applies: ({ settings, arms = [] }, { path }) =>
      settings?.topTwo === true && arms.length === 1 && path === 'simulated',
  },
  {
    reason: 'the standard errors are of draws, which are not made here, and follow probabilities integrated to 1e-9',
    applies: (_, { path, expected, actual }) =>
      path.startsWith('simulated.standardErrors.') &&
      typeof expected === 'number' &&
      typeof actual === 'number' &&
      Math.abs(expected ** 2 - actual ** 2) * drawsOfSimulation <= 1e-9,
  },
  {
    reason: 'units that saw several variations are not counted there',
    applies: ({ results = [] }, { path, expected }) =>
      path.endsWith('.multipleExposures') &&
      expected === 0 &&
      results.some(({ rows }) => rows.some(({ variation }) => variation === '__multiple__')),
  },
  {
    reason:
      'the search for a one-sided sequential p-value stops early there, by up to 0.0005; here it has its closed form',
    applies: ({ analyses = [] }, { path, expected, actual }) => {
      const [, place] = /^metrics\.\d+\.analyses\.(\d+)\..*\.pValue$/.exec(path) ?? [];
      const analysis = analyses[Number(place)];
      return (
        analysis?.oneSided === true &&
        analysis.sequential === true &&
        typeof expected === 'number' &&
        typeof actual === 'number' &&
        Math.abs(expected - actual) <= 5e-4
      );
    },
  },
  {
    reason: 'an arm without units ends the whole run there; here its comparisons say what is wrong',
    applies: (_, { path }, { expected }) =>
      (path === 'metrics' || path === 'bandit') && valueAt(expected, ['error', 'exception']) === 'divisionByZero',
  },
  {
    reason: 'strata of levels that are taken together are counted once for each variation there',
    applies: ({ analyses = [] }, { path }, testCase) => {
      const [, place, level] = /^metrics\.\d+\.analyses\.(\d+)\.levels\.(\d+)\./.exec(path) ?? [];
      const analysis = analyses[Number(place)];
      return analysis?.postStratify === true && isOther(testCase, path) && Number(level) === analysis.maxLevels - 1;
    },
  },
];

function isInverseTopTwo({ settings, bandit, metrics = [] }: Input): boolean {
  if (settings?.topTwo === true) return settings.inverse === true;
  const isInverse = metrics.some(({ id, inverse }) => id === bandit?.decisionMetric && inverse);
  return bandit?.topTwo === true && isInverse;
}

/** Whether the path leads into a level that takes others together. */
function isOther({ expected }: VectorCase, path: string): boolean {
  const [upToLevel = ''] = /^metrics\.\d+\.analyses\.\d+\.levels\.\d+/.exec(path) ?? [];
  return valueAt(expected, [...upToLevel.split('.'), 'level']) === '(other)';
}

/** Why a difference does not count, if it does not. */
export function excuse(testCase: VectorCase, comparison: Comparison): string | undefined {
  // The rules ask for what each group may have, and find nothing in the others.
  const input = testCase.input as Input;
  return rules.find(({ applies }) => applies(input, comparison, testCase))?.reason;
}
