import type { Operation } from '@halyard/contract';
import { z } from 'zod';
import { refuseHarm } from './body.ts';

/** The part of a JSON Schema that says what type of value is wanted. */
interface Wanted {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Wanted>>;
  readonly additionalProperties?: boolean | Wanted;
  readonly items?: Wanted;
  readonly anyOf?: readonly Wanted[];
  readonly oneOf?: readonly Wanted[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Wanted>>;
}

const wantedBy = new WeakMap<z.ZodType, Wanted>();

/**
 * Turns the texts of a form into what the operation's body wants: `true`, `12`, and JSON where an object or list is due.
 *
 * @throws Refusal (invalid) when that JSON is shaped to do harm: before, it was a text like any other
 */
export function fitForm(operation: Operation, value: unknown): unknown {
  const body = operation.body;
  if (body === undefined) return value;
  const root = wantedBy.get(body) ?? (z.toJSONSchema(body, { io: 'input' }) as Wanted);
  wantedBy.set(body, root);
  const fitted = fit(root, value, root);
  refuseHarm(fitted);
  return fitted;
}

function fit(wanted: Wanted, value: unknown, root: Wanted): unknown {
  const variants = variantsOf(wanted, root).filter((variant) => couldBe(variant, value, root));
  const types = new Set(variants.flatMap((variant) => variant.type ?? []));
  if (typeof value === 'string') return fitText(value, types, variants, root);
  if (Array.isArray(value)) {
    const items = variants.find((variant) => variant.items !== undefined)?.items ?? {};
    return value.map((item) => fit(items, item, root));
  }
  if (value === null || typeof value !== 'object') return value;
  const shape = variants.find(
    (variant) => variant.properties !== undefined || variant.additionalProperties !== undefined,
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, fit(memberOf(shape, key), member, root)]),
  );
}

function memberOf(shape: Wanted | undefined, key: string): Wanted {
  const declared = shape?.properties;
  if (declared !== undefined && Object.hasOwn(declared, key)) return declared[key] ?? {};
  return typeof shape?.additionalProperties === 'object' ? shape.additionalProperties : {};
}

function fitText(text: string, types: ReadonlySet<string>, variants: readonly Wanted[], root: Wanted): unknown {
  if (text === 'null' && types.has('null') && variants.some(({ format }) => format === 'date-time')) return null;
  if (types.has('string') || types.size === 0) return text;
  if (types.has('boolean') && ['true', '1', 'false', '0'].includes(text)) return text === 'true' || text === '1';
  if ((types.has('number') || types.has('integer')) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('object') || types.has('array')) {
    const parsed = parsedJson(text);
    const structure = variants.find((variant) => couldBe(variant, parsed, root));
    return parsed !== null && typeof parsed === 'object' && structure !== undefined ? parsed : text;
  }
  return text;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function variantsOf(wanted: Wanted, root: Wanted): readonly Wanted[] {
  if (wanted.$ref !== undefined) {
    return variantsOf(root.$defs?.[wanted.$ref.replace('#/$defs/', '')] ?? {}, root);
  }
  const alternatives = wanted.anyOf ?? wanted.oneOf;
  return alternatives === undefined ? [wanted] : alternatives.flatMap((alternative) => variantsOf(alternative, root));
}

/** Whether a variant is meant: where it fixes members (such as `type`), the value's must be the same. */
function couldBe(variant: Wanted, value: unknown, root: Wanted): boolean {
  if (Array.isArray(value)) return variant.type === undefined || variant.type === 'array';
  if (value === null || typeof value !== 'object') return true;
  if (variant.type !== undefined && variant.type !== 'object') return false;
  return Object.entries(variant.properties ?? {}).every(([key, member]) => {
    const fixed = variantsOf(member, root)[0]?.const;
    const given = (value as Record<string, unknown>)[key];
    return fixed === undefined || given === undefined || given === fixed;
  });
}
