/**
 * Random attributes and conditions for property tests. Names and values come from small pools, so that conditions
 * often hold.
 *
 * Conditions are well formed. What a malformed one does is our own decision (it holds for nobody) and has tests of its
 * own.
 */
import * as fc from 'fast-check';
import type { Condition, JsonValue, SavedGroups } from '../src/index.ts';

const GROUP_IDS = ['g0', 'g1', 'unknown'] as const;

/** A member that is there in three cases of four, or in one. */
export const often = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 4 });
export const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A record without the keys whose value came out `undefined`. */
export function record<Shape extends object>(
  shape: { readonly [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> },
): fc.Arbitrary<Shape> {
  return fc.record(shape).map((value) => {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(entries) as Shape;
  });
}

export const text = fc.oneof(
  fc.constantFrom('DE', 'de', 'US', '', 'null', 'true', '5', '0', '1.2.3', '1.10.0-rc.1', 'v1.2', 'a/b', '10', ' 5 '),
  fc.constantFrom('日本', '😀', 'ß', 'É', 'user-1', 'user-2', 'u3', '\u0000', '[object Object]', '1,2'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const number = fc.oneof(fc.constantFrom(0, 1, 2, 5, -1, 1.5, 10, 1e21, -0), fc.integer(), fc.double({ noNaN: true }));
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(text, number, fc.boolean(), fc.constant(null));

/**
 * Lists that conditions may meet hold no 0, `""` or `false`: the specification says that `$elemMatch` passes over such
 * elements, the SDK of today does not. (`emptyElements` has them, for conditions without `$elemMatch`.)
 */
const isElement = (value: unknown) => value === null || Boolean(value);
const element = scalar.filter(isElement);

export const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('json').filter(isElement), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'plan', 'length'), tie('json'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const attributeValue = fc.oneof(
  { weight: 8, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(element, { maxLength: 4 }) },
  { weight: 1, arbitrary: json },
  { weight: 1, arbitrary: fc.constantFrom(undefined, Number.NaN) },
);

export const attributes: fc.Arbitrary<Readonly<Record<string, unknown>>> = record({
  id: often(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('user-1', 'user-2', 'u3', 5) },
      { weight: 3, arbitrary: fc.oneof(text, number) },
      { weight: 1, arbitrary: attributeValue },
    ),
  ),
  deviceId: often(fc.oneof(fc.constantFrom('d1', 'd2', 7), text)),
  company: rarely(fc.oneof(text, number)),
  country: often(fc.oneof(fc.constantFrom('DE', 'US', 'de'), attributeValue)),
  age: often(fc.oneof(fc.integer({ min: -2, max: 12 }), attributeValue)),
  premium: often(fc.oneof(fc.boolean(), attributeValue)),
  tags: often(
    fc.oneof(
      fc.array(fc.constantFrom('de', 'DE', 'us', 'user-1', 5), { maxLength: 3 }),
      fc.array(text.filter(isElement), { maxLength: 4 }),
      attributeValue,
    ),
  ),
  version: often(
    fc.oneof(fc.constantFrom('1.2.3', '1.10.0', '1.9.9', 'v1.2', '1.2.3-rc.1', '1.2.3+b', '2', 2), attributeValue),
  ),
  account: often(fc.oneof(record({ plan: often(text), seats: often(number), nested: often(json) }), attributeValue)),
  hobbies: rarely(fc.array(fc.oneof(record({ name: often(text) }), element), { maxLength: 3 })),
  '': rarely(scalar),
});

/** Attributes whose lists may hold 0, `""` and `false`. */
export const emptyElements = fc.record({ tags: fc.array(scalar, { maxLength: 4 }), country: json });

const path = fc.oneof(
  fc.constantFrom('id', 'country', 'age', 'premium', 'tags', 'version', 'account', 'account.plan', 'hobbies', 'tags.0'),
  fc.constantFrom('account.seats', 'account.nested.a.b', 'tags.length', 'country.length', 'missing', 'missing.too'),
  fc.constantFrom('', '.', '$groups', 'constructor', 'constructor.name', 'toString', '__proto__', '__proto__.toString'),
);
const pattern = fc.constantFrom(
  '^D',
  'E$',
  'user',
  '.',
  '^.$',
  '[/]',
  'a/b',
  'a\\/b',
  'null',
  '(',
  '[',
  '+',
  '\\d',
  '',
);
const list = fc.oneof(
  { weight: 4, arbitrary: fc.array(scalar, { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.array(scalar, { minLength: 9, maxLength: 14 }) },
  { weight: 1, arbitrary: json },
);

/** Tests as people write them, which the attributes above often meet. */
const tag = fc.constantFrom('de', 'DE', 'us', 'US', 'user-1', '5', 5);
const version = fc.constantFrom('1.2.3', 'v1.2.3', '1.2', '1.2.3-rc.1', '1.2.3-rc.2', '1.10.0', '1.9.9', '2');
const typical: fc.Arbitrary<Condition> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('tags', 'country', 'id', 'account.plan'),
      operator(fc.constantFrom('$in', '$nin', '$ini', '$nini', '$all', '$alli'), fc.array(tag, { maxLength: 2 })),
    )
    .map(([name, test]) => ({ [name]: test })),
  operator(
    fc.constant('version'),
    operator(fc.constantFrom('$veq', '$vne', '$vlt', '$vlte', '$vgt', '$vgte'), version),
  ),
  operator(
    fc.constantFrom('age', 'account.seats', 'missing'),
    operator(fc.constantFrom('$lt', '$lte', '$gt', '$gte', '$eq', '$ne'), fc.integer({ min: -1, max: 6 })),
  ),
);

/**
 * Operand restrictions, each because the SDK throws there or lets everybody in: logical operators get lists of
 * conditions, `$elemMatch` an object, `$inGroup` the id of a group, `$regex` and `$regexi` text.
 */
export const { condition, operators } = fc.letrec<{ condition: Condition; operators: Condition; operand: JsonValue }>(
  (tie) => ({
    operand: fc.oneof({ maxDepth: 4, depthSize: 'small' }, scalar, json, tie('operators')),
    operators: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      operator(fc.constantFrom('$eq', '$ne', '$lt', '$lte', '$gt', '$gte'), fc.oneof(scalar, json)),
      operator(fc.constantFrom('$veq', '$vne', '$vlt', '$vlte', '$vgt', '$vgte'), fc.oneof(text, scalar)),
      operator(fc.constantFrom('$exists', '$unknown', '$and'), json),
      operator(
        fc.constant('$type'),
        fc.constantFrom('string', 'number', 'boolean', 'array', 'object', 'null', 'undefined', 'date'),
      ),
      operator(fc.constantFrom('$in', '$nin', '$ini', '$nini'), list),
      operator(fc.constantFrom('$inGroup', '$notInGroup'), fc.constantFrom(...GROUP_IDS)),
      operator(fc.constantFrom('$regex', '$regexi'), fc.oneof(pattern, text)),
      operator(fc.constantFrom('$all', '$alli'), fc.oneof(fc.array(tie('operand'), { maxLength: 3 }), json)),
      operator(fc.constant('$elemMatch'), fc.oneof(tie('operators'), tie('condition'))),
      operator(fc.constantFrom('$size', '$not'), tie('operand')),
      fc.tuple(tie('operators'), tie('operators')).map(([left, right]) => ({ ...left, ...right })),
    ),
    condition: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      typical,
      fc.dictionary(path, tie('operand'), { maxKeys: 2, noNullPrototype: true }),
      operator(fc.constantFrom('$or', '$nor', '$and'), fc.array(tie('condition'), { maxLength: 3 })),
      operator(fc.constant('$not'), tie('condition')),
      fc.tuple(tie('condition'), tie('condition')).map(([left, right]) => ({ ...left, ...right })),
    ),
  }),
);

function operator(name: fc.Arbitrary<string>, operand: fc.Arbitrary<JsonValue>): fc.Arbitrary<Condition> {
  return fc.tuple(name, operand).map(([key, value]) => ({ [key]: value }));
}

export const conditionWithoutElemMatch = condition.filter((test) => !JSON.stringify(test).includes('"$elemMatch"'));

export const savedGroups: fc.Arbitrary<SavedGroups> = record({
  g0: often(fc.array(fc.oneof(text, number), { maxLength: 12 })),
  g1: often(fc.array(fc.oneof(fc.constantFrom('user-1', 'DE'), number), { maxLength: 4 })),
}) as fc.Arbitrary<SavedGroups>;
