/** The rules by which a result is compared with a case. */
import { numberIn, type VectorCase } from './format.ts';

/** One number, text or list of a case beside what was computed. */
export interface Comparison {
  readonly path: string;
  /** The path without indices: what is counted together in the report. */
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
  readonly isEqual: boolean;
  /** For finite numbers other than 0. */
  readonly relativeError: number | null;
}

const probabilities = new Set(
  (
    'pValue pValueExact srmPValue chanceToWin power powerAtFactor targetPowerPerMetric survival ' +
    'bestArmProbabilities weights updatedWeights holm benjaminiHochberg cdf'
  ).split(' '),
);
const integrated = new Set(
  'exactBestArmProbabilities exactUpdatedWeights exactWeights weightsRankTwoAndThree'.split(' '),
);
const intervals = new Set(['confidenceInterval', 'credibleInterval', 'credibleIntervals']);
const meanOfEffect: Readonly<Record<string, string>> = {
  effect: 'controlMean',
  numeratorEffect: 'numeratorControlMean',
  denominatorEffect: 'denominatorControlMean',
};

type Path = readonly string[];

/** What stands at a path; undefined where it does not lead anywhere. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const name of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'number') : [];

const sizeAt = (root: unknown, path: Path): number => Math.abs(Number(numberIn(valueAt(root, path))));

function intervalTolerance(root: unknown, path: Path): number {
  const bounds = numbersIn(valueAt(root, path.slice(0, -1)));
  const isSingle = intervals.has(path.at(-2) ?? '');
  const estimate = isSingle ? valueAt(root, [...path.slice(0, -2), 'pointEstimate']) : 0;
  const centre = typeof estimate === 'number' ? estimate : 0;
  return 1e-9 * Math.max(0, ...bounds.map(Math.abs), ...bounds.map((bound) => Math.abs(bound - centre)));
}

function covarianceTolerance(root: unknown, path: Path): number {
  const cell = path.slice(0, 2);
  const [i = '', j = ''] = path.slice(-2);
  const spread = (k: string): number => sizeAt(root, [...cell, 'covarianceMatrix', k, k]);
  const isMean = valueAt(root, [...cell, 'controlMean']) !== undefined;
  const size = (k: string): number =>
    sizeAt(root, [...cell, isMean ? 'controlMean' : Number(k) < 2 ? 'numeratorControlMean' : 'denominatorControlMean']);
  return Math.max(1e-9 * Math.sqrt(spread(i) * spread(j)), 1e-12 * size(i) * size(j));
}

function toleranceOf(root: unknown, path: Path, value: number): number {
  const names = path.filter((name) => !/^\d+$/.test(name));
  const relative = 1e-9 * Math.abs(value);
  const isProbability = names.some((name) => probabilities.has(name));
  if (names.some((name) => integrated.has(name)) || (names[0] === 'exact' && isProbability)) return relative + 1e-9;
  if (isProbability) return relative + 1e-12;
  if (names.some((name) => intervals.has(name))) return intervalTolerance(root, path);
  if (names[0] === 'cells') {
    if (names[1] === 'covarianceMatrix') return Math.max(relative, covarianceTolerance(root, path));
    const mean = meanOfEffect[names[1] ?? ''];
    if (mean !== undefined) return Math.max(relative, 1e-12 * sizeAt(root, [...path.slice(0, 2), mean]));
  }
  if (names.at(-1) === 'risk') {
    return relative + 1e-12 * Math.max(0, ...numbersIn(valueAt(root, path.slice(0, -1))).map(Math.abs));
  }
  return relative;
}

type Kind = 'array' | 'exception' | 'leaf';

function isException(value: object): value is { readonly exception: unknown } {
  return 'exception' in value && Object.keys(value).length === 1;
}

function* walk(expected: unknown, path: Path): Generator<{ path: Path; value: unknown; kind: Kind }> {
  if (Array.isArray(expected)) {
    yield { path, value: expected, kind: 'array' };
    for (const [index, value] of expected.entries()) yield* walk(value, [...path, String(index)]);
  } else if (expected !== null && typeof expected === 'object') {
    if (isException(expected)) yield { path, value: expected.exception, kind: 'exception' };
    else for (const [name, value] of Object.entries(expected)) yield* walk(value, [...path, name]);
  } else yield { path, value: expected, kind: 'leaf' };
}

function isNoResult(actual: unknown): boolean {
  if (actual === undefined || actual === null) return true;
  if (typeof actual === 'number') return !Number.isFinite(actual);
  return typeof actual === 'object' && ('exception' in actual || 'error' in actual);
}

/** An exception asks for no usable result, whatever form that has. Some depend on the language and are not compared. */
function matchesException(exception: unknown, path: Path, actual: unknown): boolean {
  if (exception === 'overflow' || (exception === 'divisionByZero' && path.length > 0)) return true;
  return path.at(-1) === 'error' ? actual !== null && actual !== undefined : isNoResult(actual);
}

function matchesNumber({ tolerance, expected: root }: VectorCase, path: Path, value: number, actual: unknown): boolean {
  const got = numberIn(actual);
  if (typeof got !== 'number') return false;
  if (Math.abs(got - value) <= (tolerance?.[path.join('.')] ?? toleranceOf(root, path, value))) return true;
  const exact = exactValue(root, path);
  return typeof exact?.value === 'number' && Math.abs(got - exact.value) <= toleranceOf(root, exact.path, exact.value);
}

/** Where a case has the exact value beside that of a search that stops early, or of an inexact integral, the exact one is right too. */
function exactValue(root: unknown, path: Path): { readonly path: Path; readonly value: unknown } | undefined {
  const [name = '', index = '', inner = '', arm = ''] = path;
  const stand = (exact: Path): { readonly path: Path; readonly value: unknown } => ({
    path: exact,
    value: valueAt(root, exact),
  });
  if (path.length === 1 && name === 'pValue') return stand(['pValueExact']);
  if (name === 'bestArmProbabilities') return stand(['exactBestArmProbabilities', index]);
  if (name === 'weights') return stand(['exactWeights', index]);
  if (name !== 'contexts') return undefined;
  const leaves = valueAt(root, ['leaves']);
  const leaf = valueAt(root, ['contexts', index, 'leaf']);
  const place = Array.isArray(leaves) ? leaves.findIndex((one) => valueAt(one, ['leaf']) === leaf) : -1;
  const probabilities = ['leaves', String(place), 'exactBestArmProbabilities'];
  if (inner === 'bestArmProbabilities') return stand([...probabilities, arm]);
  if (inner !== 'weights') return undefined;
  // Each raised to 0.01, then divided by their sum.
  const raised = numbersIn(valueAt(root, probabilities)).map((chance) => Math.max(chance, 0.01));
  const total = raised.reduce((sum, chance) => sum + chance, 0);
  return { path: [...probabilities, arm], value: (raised[Number(arm)] ?? Number.NaN) / total };
}

function matchesLeaf(testCase: VectorCase, path: Path, expected: unknown, actual: unknown): boolean {
  const value = numberIn(expected);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return matchesNumber(testCase, path, value, actual);
    return Object.is(numberIn(actual), value) || (Number.isNaN(value) && isNoResult(actual) && actual !== Infinity);
  }
  return expected === null ? actual === null || actual === undefined : actual === expected;
}

/** Every comparison of a case; none of one that is fragile, or that overflows in another language. */
export function* compareCase(testCase: VectorCase, actual: unknown): Generator<Comparison> {
  const root = testCase.expected;
  if (testCase.fragile === true || valueAt(root, ['error', 'exception']) === 'overflow') return;
  for (const { path, value, kind } of walk(root, [])) {
    const got = valueAt(actual, path);
    const isEqual =
      kind === 'exception'
        ? matchesException(value, path, got)
        : kind === 'array'
          ? Array.isArray(got) && Array.isArray(value) && got.length === value.length
          : matchesLeaf(testCase, path, value, got);
    const isFinite = typeof value === 'number' && value !== 0 && typeof got === 'number' && Number.isFinite(got);
    yield {
      path: path.join('.'),
      field: path.map((name) => (/^\d+$/.test(name) ? '*' : name)).join('.'),
      expected: value,
      actual: got,
      isEqual,
      relativeError: isFinite ? Math.abs(got / value - 1) : null,
    };
  }
}
