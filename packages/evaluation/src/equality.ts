import { jsonTextOf, numberOf, textOf } from './coercion.ts';
import type { JsonValue } from './payload.ts';
import { never, type Predicate } from './predicate.ts';

/** Equality of a value with a plain operand, converted to the operand's type (flags 8.3, "value test"). */
export function equals(operand: JsonValue, ignoreCase = false): Predicate {
  if (typeof operand === 'string') return ignoreCase ? equalsTextInAnyCase(operand) : equalsText(operand);
  if (typeof operand === 'number') return (value) => numberOf(value) === operand;
  if (typeof operand === 'boolean') return (value) => value !== null && Boolean(value) === operand;
  if (operand === null) return (value) => value === null;
  return equalsJson(operand);
}

function equalsText(operand: string): Predicate {
  return (value) => (typeof value === 'string' ? value === operand : textOf(value) === operand);
}

function equalsTextInAnyCase(operand: string): Predicate {
  const lowered = operand.toLowerCase();
  return (value) => textOf(value).toLowerCase() === lowered;
}

/** Arrays and objects are equal when their JSON texts are, so the order of keys counts. */
function equalsJson(operand: JsonValue): Predicate {
  const text = jsonTextOf(operand);
  if (text === undefined) return never;
  return (value) => typeof value === 'object' && value !== null && jsonTextOf(value) === text;
}
