import type { FeatureValueType } from '@halyard/contract';
import type { JsonValue } from '@halyard/evaluation';
import { invalid } from '../platform/index.ts';
import type { ValueSchema } from './feature.ts';
import { SchemaLane } from './schema-lane.ts';
import type { SchemaAnswer, SchemaQuestion } from './schema-thread.ts';

const longestSchema = 100_000;
const deepestSchema = 128;

const numeric = new Set(['number', 'integer']);

/**
 * Reads a JSON Schema that a request brings for the values of a feature. An empty text removes the schema.
 *
 * @throws Refusal (invalid) when it is no schema, or none for that type of value
 */
export async function readSchema(
  organization: string,
  type: FeatureValueType,
  text: string,
  now: Date,
): Promise<ValueSchema | null> {
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
  const { problem } = await ask(organization, { schema: text, values: [] });
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

/**
 * Which of the values do not fit: for each a sentence that says where in the value and why, or one that says why they cannot
 * be checked. A feature without an enabled schema takes any.
 */
export async function misfits(
  organization: string,
  schema: ValueSchema | null,
  values: readonly { readonly name: string; readonly value: JsonValue }[],
): Promise<string[]> {
  if (schema === null || !schema.enabled || values.length === 0) return [];
  const { problem, reasons } = await ask(organization, {
    schema: schema.schema,
    values: values.map(({ value }) => value),
  });
  if (problem !== null) return [`The values cannot be checked against the jsonSchema: ${problem}.`];
  return values.flatMap(({ name }, index) => {
    const reason = reasons[index] ?? null;
    return reason === null ? [] : [`${name} does not fit the jsonSchema: ${reason}.`];
  });
}

const quick = new SchemaLane({ timeLimit: 250, mostWaiting: 100, likeLeavesWithLike: true });
const patient = new SchemaLane({ timeLimit: 1_000, mostWaiting: 5, likeLeavesWithLike: false });

/** Everything is tried quickly first; what takes longer goes on where it holds up only its like. */
async function ask(organization: string, question: SchemaQuestion): Promise<SchemaAnswer> {
  const answer = (await quick.ask(organization, question)) ?? (await patient.ask(organization, question));
  return answer ?? { problem: 'checking takes too long', reasons: [] };
}
