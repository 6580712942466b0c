import { parentPort } from 'node:worker_threads';
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Said, SchemaAnswer, SchemaQuestion } from './schema-thread.ts';

const mostReasons = 5;

/**
 * Unknown keywords and formats are no errors: a schema may say more than we check. Values have the properties that their JSON
 * gives them, not those that every object inherits.
 */
const leniently = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  logger: false,
  ownProperties: true,
} as const;

function validator(text: string): ValidateFunction {
  const schema = JSON.parse(text) as { $schema?: unknown };
  const { $schema: draft, ...rest } = schema;
  const named = String(draft ?? '');
  if (named.includes('2020-12')) return new Ajv2020(leniently).compile(schema as AnySchema);
  if (named.includes('2019-09')) return new Ajv2019(leniently).compile(schema as AnySchema);
  return new Ajv(leniently).compile(rest as AnySchema);
}

function answer({ schema, values }: SchemaQuestion): SchemaAnswer {
  let validate: ValidateFunction;
  try {
    validate = validator(schema);
    // It would answer with promises, which count as true.
    if ('$async' in validate) throw new Error('"$async" is no part of JSON Schema');
  } catch (error) {
    return { problem: (error as Error).message, reasons: [] };
  }
  const reasons = values.map((value) => {
    if (validate(value)) return null;
    const errors = (validate.errors ?? []).slice(0, mostReasons);
    return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? 'does not fit'}`).join(', ');
  });
  return { problem: null, reasons };
}

const say = (said: Said) => parentPort?.postMessage(said);
parentPort?.on('message', (question: SchemaQuestion) => say(answer(question)));
// The first schema takes long, whatever it is: it is none of those that are timed.
answer({ schema: '{"type":"object","properties":{"a":{"type":"string"}}}', values: [{ a: '' }] });
say('ready');
