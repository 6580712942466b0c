/**
 * The public SDK test vectors (flags 11), section by section. Nothing of the vector file is kept in this repository:
 * `scripts/conformance.ts` is given it, and a test reads it where it lies beside the repository.
 */
import { isDeepStrictEqual, styleText } from 'node:util';
import {
  bucketRanges,
  type Condition,
  chooseVariation,
  compilePayload,
  decryptText,
  type EvaluablePayload,
  type Evaluator,
  type Experiment,
  equalWeights,
  evaluateCondition,
  hash,
  inNamespace,
  type NamespaceSlice,
  queryStringOverride,
  type SavedGroups,
  type StickyBucketDocument,
  stickyBucketKey,
  type User,
  type VariationRange,
} from '../src/index.ts';

/** What a case expects and what it got; equal when the case passes. */
interface Outcome {
  readonly expected: unknown;
  readonly got: unknown;
}

/** How a section of the file is read: a row is positional and its meaning is the section's. */
interface Section {
  readonly name: string;
  /** What to call a case without a name of its own. */
  readonly nameOf: (row: readonly unknown[]) => string;
  readonly run: (row: never) => Outcome;
}

/** Everything a case says of user and payload. */
type Context = Partial<EvaluablePayload> & Partial<Omit<User, 'forcedFeatures'>>;

/** What came of one section. */
export interface SectionReport {
  readonly name: string;
  readonly passed: number;
  readonly failures: readonly (Outcome & { readonly name: string })[];
}

const named = ([name]: readonly unknown[]) => String(name);
const unnamed = (row: readonly unknown[]) => JSON.stringify(row);

const SECTIONS: readonly Section[] = [
  { name: 'evalCondition', nameOf: named, run: evalCondition },
  { name: 'hash', nameOf: unnamed, run: hashCase },
  { name: 'getBucketRange', nameOf: named, run: getBucketRange },
  { name: 'feature', nameOf: named, run: feature },
  { name: 'contextualBandit', nameOf: named, run: feature },
  { name: 'run', nameOf: named, run },
  { name: 'chooseVariation', nameOf: named, run: chooseVariationCase },
  { name: 'getQueryStringOverride', nameOf: named, run: getQueryStringOverride },
  { name: 'inNamespace', nameOf: named, run: inNamespaceCase },
  { name: 'getEqualWeights', nameOf: unnamed, run: getEqualWeights },
  { name: 'decrypt', nameOf: named, run: decrypt },
  { name: 'stickyBucket', nameOf: named, run: stickyBucket },
  { name: 'urlRedirect', nameOf: named, run: urlRedirect },
];

function evalCondition([, condition, attributes, expected, savedGroups]: [
  string,
  Condition,
  User['attributes'],
  boolean,
  SavedGroups?,
]): Outcome {
  return { expected, got: evaluateCondition(attributes, condition, savedGroups) };
}

function hashCase([seed, value, version, expected]: [string, string, number, number | null]): Outcome {
  return { expected, got: hash(seed, value, version) };
}

function getBucketRange([, [count, coverage, weights], expected]: [
  string,
  [number, number, number[] | null],
  VariationRange[],
]): Outcome {
  return { expected: floored(expected), got: floored(bucketRanges(count, coverage, weights ?? undefined)) };
}

function feature([, context, featureKey, expected]: [string, Context, string, unknown]): Outcome {
  return { expected, got: evaluatorOf(context).evaluate(featureKey, userOf(context)) };
}

function run([, context, experiment, value, inExperiment, hashUsed]: [
  string,
  Context,
  Experiment,
  unknown,
  boolean,
  boolean,
]): Outcome {
  const result = evaluatorOf(context).run(experiment, userOf(context));
  return {
    expected: { value, inExperiment, hashUsed },
    got: { value: result.value, inExperiment: result.inExperiment, hashUsed: result.hashUsed },
  };
}

function chooseVariationCase([, bucket, ranges, expected]: [string, number, VariationRange[], number]): Outcome {
  return { expected, got: chooseVariation(bucket, ranges) };
}

function getQueryStringOverride([, key, url, count, expected]: [string, string, string, number, unknown]): Outcome {
  return { expected, got: queryStringOverride(key, url, count) };
}

function inNamespaceCase([, value, slice, expected]: [string, string, NamespaceSlice, boolean]): Outcome {
  return { expected, got: inNamespace(value, slice) };
}

function getEqualWeights([count, expected]: [number, number[]]): Outcome {
  return { expected: floored(expected), got: floored(equalWeights(count)) };
}

function decrypt([, text, key, expected]: [string, string, string, string | null]): Outcome {
  try {
    return { expected, got: decryptText(text, key) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { expected, got: expected === null ? null : error.message };
  }
}

/** The store of documents is the case's own; only those that can matter to the user are loaded into the context. */
function stickyBucket([, context, stored, featureKey, expectedResult, expectedDocuments]: [
  string,
  Context,
  StickyBucketDocument[],
  string,
  unknown,
  unknown,
]): Outcome {
  const evaluator = evaluatorOf(context);
  const store = new Map(stored.map((doc) => [stickyBucketKey(doc.attributeName, doc.attributeValue), doc]));
  const documents: Record<string, StickyBucketDocument> = {};
  for (const key of evaluator.stickyBucketKeys(userOf(context))) {
    const found = store.get(key);
    if (found !== undefined) documents[key] = found;
  }
  Object.assign(documents, context.stickyBucketAssignmentDocs);
  const { experimentResult } = evaluator.evaluate(featureKey, {
    ...userOf(context),
    stickyBucketAssignmentDocs: documents,
    saveStickyBucketDocument(doc) {
      documents[stickyBucketKey(doc.attributeName, doc.attributeValue)] = doc;
    },
  });
  return {
    expected: { result: expectedResult, documents: expectedDocuments },
    got: { result: experimentResult ?? null, documents },
  };
}

/** A browser would follow the redirect; a server says where to. */
function urlRedirect([, context, expected]: [string, Context, unknown]): Outcome {
  const redirect = evaluatorOf(context).redirect(userOf(context));
  const got = redirect && {
    inExperiment: redirect.result.inExperiment,
    urlRedirect: redirect.urlRedirect,
    urlWithParams: redirect.urlWithParams,
  };
  return { expected, got: got === undefined ? [] : [got] };
}

function evaluatorOf(context: Context): Evaluator {
  return compilePayload({ ...context, features: context.features ?? {} });
}

function userOf(context: Context): User {
  const { url, forcedVariations, qaMode, enabled } = context;
  return {
    attributes: context.attributes ?? {},
    ...(url !== undefined && { url }),
    ...(forcedVariations !== undefined && { forcedVariations }),
    ...(qaMode !== undefined && { qaMode }),
    ...(enabled !== undefined && { enabled }),
  };
}

/** Numbers as the file compares them: cut to 8 decimals. */
function floored(value: unknown): unknown {
  if (typeof value === 'number') return Math.floor(value * 1e8) / 1e8;
  return Array.isArray(value) ? value.map(floored) : value;
}

/** Runs every section of a vector file. A section that the file does not have is a failure, one we do not know too. */
export function runConformance(vectors: Readonly<Record<string, unknown>>): SectionReport[] {
  const reports = SECTIONS.map((section): SectionReport => {
    const rows = vectors[section.name];
    if (!Array.isArray(rows)) return broken(section.name, 'an array of cases', rows);
    const outcomes = rows.map((row) => ({ name: section.nameOf(row), ...runCase(section, row) }));
    const failures = outcomes.filter(({ expected, got }) => !isDeepStrictEqual(asJson(got), asJson(expected)));
    return { name: section.name, passed: rows.length - failures.length, failures };
  });
  const unknown = Object.keys(vectors).filter(
    (name) => Array.isArray(vectors[name]) && !SECTIONS.some((section) => section.name === name),
  );
  return [...reports, ...unknown.map((name) => broken(name, 'a section that this script knows', 'another'))];
}

function broken(name: string, expected: unknown, got: unknown): SectionReport {
  return { name, passed: 0, failures: [{ name, expected, got }] };
}

function runCase(section: Section, row: unknown): Outcome {
  try {
    // Each section's function states the shape of its rows; a file that breaks it fails the case.
    return section.run(row as never);
  } catch (error) {
    return { expected: 'no exception', got: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** `undefined` counts as absent. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function tableLine(name: string, ...cells: (string | number)[]): string {
  return name.padEnd(24) + cells.map((cell) => String(cell).padStart(10)).join('');
}

/** The report as text: a table, then every failure. No case is left out: redirects run without a browser, too. */
export function conformanceText(reports: readonly SectionReport[]): string {
  const total = {
    name: 'total',
    passed: reports.reduce((sum, { passed }) => sum + passed, 0),
    failures: reports.flatMap(({ failures }) => failures),
  };
  const table = [...reports, total].map(({ name, passed, failures }) => tableLine(name, passed, failures.length, 0));
  const failures = reports.flatMap((report) =>
    report.failures.map(
      ({ name, expected, got }) =>
        `\n${styleText('red', 'failed')} ${report.name}: ${name}\n` +
        `  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(got)}`,
    ),
  );
  return [tableLine('section', 'passed', 'failed', 'left out'), ...table, ...failures].join('\n');
}
