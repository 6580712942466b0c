import { Worker } from 'node:worker_threads';
import type { FeatureValueType } from '@halyard/contract';
import type { JsonValue } from '@halyard/evaluation';
import { invalid } from '../platform/index.ts';
import type { ValueSchema } from './feature.ts';

const longestSchema = 100_000;
const deepestSchema = 128;
const timeLimit = 1_000;
const idleLimit = 30_000;

const numeric = new Set(['number', 'integer']);

/**
 * Reads a JSON Schema that a request brings for the values of a feature. An empty text removes the schema.
 *
 * @throws Refusal (invalid) when it is no schema, or none for that type of value
 */
export async function readSchema(type: FeatureValueType, text: string, now: Date): Promise<ValueSchema | null> {
  if (text.trim() === '') return null;
  if (text.length > longestSchema) throw invalid(`The jsonSchema is longer than ${longestSchema} characters.`);
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw invalid(`The jsonSchema is not JSON: ${(error as Error).message}.`);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw invalid('The jsonSchema must be a JSON object, such as {"type": "object"}.');
  }
  refuseUncheckable(schema, 1);
  refuseOtherType(type, schema);
  const { problem } = await ask({ schema: text, values: [] });
  if (problem !== null) throw invalid(`The jsonSchema cannot be used: ${problem}.`);
  return {
    schemaType: 'schema',
    schema: text,
    simple: { type: 'object', fields: [] },
    date: now.toISOString(),
    enabled: true,
  };
}

/** What the checker passes over without a word, and what could exhaust its stack. */
function refuseUncheckable(node: unknown, depth: number): void {
  if (typeof node !== 'object' || node === null) return;
  if (depth > deepestSchema) throw invalid(`The jsonSchema is nested deeper than ${deepestSchema} levels.`);
  for (const [key, part] of Object.entries(node)) {
    if (key === '__proto__') throw invalid('The jsonSchema speaks of "__proto__", which cannot be checked.');
    refuseUncheckable(part, depth + 1);
  }
}

function refuseOtherType(type: FeatureValueType, schema: { type?: unknown; enum?: unknown }): void {
  if (type !== 'number' && type !== 'string') return;
  const fits = (value: unknown) => typeof value === type;
  if (schema.type === undefined) {
    if (Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.every(fits)) return;
    throw invalid(`The jsonSchema of a ${type} feature needs "type": "${type}", or an "enum" of such values.`);
  }
  const accepted = type === 'number' ? numeric.has(String(schema.type)) : schema.type === 'string';
  if (!accepted) throw invalid(`The jsonSchema of a ${type} feature must be of "type": "${type}".`);
}

/** A value that does not fit its schema. */
export interface Misfit {
  readonly name: string;
  /** Where in the value and why, as schema paths with reasons. */
  readonly reason: string;
}

/** Which of the values do not fit. A feature without an enabled schema takes any. */
export async function misfits(
  schema: ValueSchema | null,
  values: readonly { readonly name: string; readonly value: JsonValue }[],
): Promise<Misfit[]> {
  if (schema === null || !schema.enabled || values.length === 0) return [];
  const { problem, reasons } = await ask({ schema: schema.schema, values: values.map(({ value }) => value) });
  if (problem !== null) return [{ name: 'The schema', reason: problem }];
  return values.flatMap(({ name }, index) => {
    const reason = reasons[index] ?? null;
    return reason === null ? [] : [{ name, reason }];
  });
}

/** What the worker is asked, and what it answers. */
export interface SchemaQuestion {
  readonly schema: string;
  readonly values: readonly JsonValue[];
}
export interface SchemaAnswer {
  /** Why the schema cannot be used; null: it can. */
  readonly problem: string | null;
  /** For each value why it does not fit; null: it does. */
  readonly reasons: readonly (string | null)[];
}

let worker: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Asks the schema worker, one question at a time. A schema is somebody's program: its patterns and references can take any
 * time, so it runs in a thread of its own that is ended when it takes too long, and when nobody asks any more.
 */
function ask(question: SchemaQuestion): Promise<SchemaAnswer> {
  const answer = last.then(() => askNow(question));
  last = answer.catch(() => undefined);
  return answer;
}

function startWorker(): Worker {
  const started = new Worker(new URL('./value-schema-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64, stackSizeMb: 4 },
  });
  // For all its life: an error that nobody listens to ends the whole process, also one that comes when nothing is asked.
  started.on('error', () => drop(started));
  return started;
}

/** Ends a worker, so that the next question gets a fresh one. */
function drop(dropped: Worker): void {
  if (worker === dropped) worker = null;
  void dropped.terminate();
}

function askNow(question: SchemaQuestion): Promise<SchemaAnswer> {
  clearTimeout(idle);
  worker ??= startWorker();
  const asked = worker;
  asked.ref();
  return new Promise<SchemaAnswer>((resolve) => {
    const giveUp = (problem: string): void => {
      drop(asked);
      finish({ problem, reasons: [] });
    };
    const onError = () => giveUp('checking values against it takes too much memory or fails');
    const finish = (answer: SchemaAnswer): void => {
      clearTimeout(timer);
      asked.off('message', finish);
      asked.off('error', onError);
      asked.unref();
      idle = setTimeout(() => drop(asked), idleLimit);
      idle.unref();
      resolve(answer);
    };
    const timer = setTimeout(() => giveUp('checking values against it takes too long'), timeLimit);
    asked.once('message', finish);
    asked.once('error', onError);
    asked.postMessage(question);
  });
}
