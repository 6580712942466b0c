import type { Operation } from '@halyard/contract';
import type { z } from 'zod';
import { invalid, quoted } from '../platform/index.ts';

type Issue = z.core.$ZodIssue;

/** What a request brings, before it is held against its operation. */
export interface Unchecked {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

const mostProblems = 10;

/**
 * Holds path, query and body against the operation's schemas, all three before anything is refused.
 *
 * @returns the values with defaults filled in
 * @throws Refusal (invalid) whose message has a line for each part that does not fit, with the places and reasons
 */
export function checkShape(operation: Operation, request: Unchecked): Unchecked {
  const lines: string[] = [];
  const check = (part: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (schema === undefined) return undefined;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    lines.push(`${part}: ${problemsOf(result.error.issues, part, value)}`);
    return undefined;
  };
  const params = check('Path', operation.params, request.params);
  // Query keys are refused also where an operation knows none.
  const query =
    operation.query === undefined ? refuseKeys(request.query, lines) : check('Query', operation.query, request.query);
  const body = check('Body', operation.body, request.body);
  if (lines.length > 0) throw invalid(lines.join('\n'));
  return { params, query, body };
}

/**
 * Holds the body of a public route against its schema.
 *
 * @throws Refusal (invalid) with the places and reasons
 */
export function checkBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(`Body: ${problemsOf(result.error.issues, 'Body', value)}`);
}

function refuseKeys(query: unknown, lines: string[]): undefined {
  const keys = Object.keys((query as object | undefined) ?? {});
  if (keys.length > 0) lines.push(`Query: ${keys.slice(0, mostProblems).map(unknownKey).join(', ')}`);
}

const unknownKey = (key: string) => `[${key.slice(0, 100)}] is not known here`;

function problemsOf(issues: readonly Issue[], part: string, value: unknown): string {
  const problems = issues.flatMap((issue) => describe(issue, part, value));
  const shown = problems.slice(0, mostProblems).join(', ');
  return problems.length <= mostProblems ? shown : `${shown} and ${problems.length - mostProblems} more`;
}

function describe(issue: Issue, part: string, root: unknown): string[] {
  const place = (path: readonly PropertyKey[]) =>
    path.length === 0 ? '' : `[${path.map(String).join('.').slice(0, 200)}] `;
  const at = place(issue.path);
  const given = valueAt(root, issue.path);
  if (part === 'Query' && Array.isArray(given)) return [`${at}was sent more than once`];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, mostProblems).map((key) => unknownKey([...issue.path, key].map(String).join('.')));
    case 'invalid_type':
      if (given === undefined) return [at === '' ? 'a body is required' : `${at}is required`];
      return [`${at}must be ${typeNames[issue.expected] ?? issue.expected}`];
    case 'invalid_value':
      if (given === undefined) return [`${at}is required`];
      if (hasOwnWords(issue)) return [`${at}${issue.message}`];
      return [
        `${at}must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((v) => JSON.stringify(v)).join(', ')}`,
      ];
    case 'too_big':
      return [`${at}${hasOwnWords(issue) ? issue.message : `must be at most ${issue.maximum}${unitOf(issue.origin)}`}`];
    case 'too_small':
      return [
        `${at}${hasOwnWords(issue) ? issue.message : `must be at least ${issue.minimum}${unitOf(issue.origin)}`}`,
      ];
    case 'invalid_format':
      if (issue.format === 'datetime')
        return [`${at}must be a date and time in ISO 8601, such as 2026-01-31T09:00:00.000Z`];
      return [`${at}${issue.message}`];
    case 'invalid_union':
      return [`${at}${describeUnion(issue, given)}`];
    default:
      return [`${at}${issue.message}`];
  }
}

function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>, given: unknown): string {
  if (hasOwnWords(issue)) return issue.message;
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : null;
  if (options !== null) {
    const known = options.map((option) => JSON.stringify(option)).join(', ');
    return `must be one of ${known}${typeof given === 'string' ? `, not ${quoted(given)}` : ''}`;
  }
  return 'is of none of the forms that are accepted here';
}

/** Zod's own texts start with one of these; anything else was written by us, beside the schema. */
const hasOwnWords = (issue: Issue) => !/^(Invalid|Too (big|small)|Unrecognized)/.test(issue.message);

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const unitOf = (origin: string) => (origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '');

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (node === null || node === undefined ? undefined : (node as Record<PropertyKey, unknown>)[key]),
    root,
  );
}
