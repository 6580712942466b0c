import type { EvaluablePayload, Evaluator } from './evaluator.ts';
import { rulesOf } from './feature.ts';
import type { FeatureResult } from './feature-result.ts';
import type { FeatureDefinition, ForceRule, JsonValue } from './payload.ts';
import { MAX_PREREQUISITE_DEPTH } from './prerequisite.ts';
import type { User } from './user.ts';
import { VariationTexts } from './variation-texts.ts';

/** What decided a flag's value, in the words of OpenFeature. */
export type FlagReason = 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'UNKNOWN';

/** The type of a feature's values. */
export type ValueType = 'boolean' | 'number' | 'string' | 'json';

/** What one flag is for one user. */
export interface EvaluatedFlag {
  /** The flag as the OpenFeature Remote Evaluation Protocol writes it, or why it cannot be evaluated: JSON text. */
  readonly text: string;
  readonly failed: boolean;
}

/** Evaluates a payload's features as the flags of OpenFeature. */
export interface FlagEvaluation {
  /** Of all flags, in their order. */
  readonly keys: readonly string[];
  /** One flag; undefined: the payload does not have it. Never throws. */
  readonly one: (key: string, user: User) => EvaluatedFlag | undefined;
  /** A flag that is not evaluated, and why. */
  readonly failed: (key: string, why: string) => EvaluatedFlag;
}

interface Flag {
  readonly key: string;
  /** As of `openingOf`. */
  readonly opening: string;
  readonly valueType: ValueType;
}

/** Features that only others refer to. */
const isHoldout = (key: string) => key.startsWith('$holdout:');

/**
 * Prepares a payload's features as flags of OpenFeature. What does not depend on the user is written once: a flag's text
 * is decided by the rule and the variation behind its value.
 *
 * @param evaluator of the same payload
 * @param configVersion told in every flag's metadata
 * @example
 * const payload = { features: { banner: { defaultValue: 'blue' } } };
 * flagEvaluation(payload, compilePayload(payload), 7).one('banner', { attributes: {} })?.text;
 * // {"key":"banner","value":"blue","reason":"STATIC","metadata":{"configVersion":7,"source":"defaultValue","valueType":"string"}}
 */
export function flagEvaluation(payload: EvaluablePayload, evaluator: Evaluator, configVersion: number): FlagEvaluation {
  const flags = new Map(
    Object.entries(payload.features)
      .filter(([key]) => !isHoldout(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, definition]): [string, Flag] => [
        key,
        { key, opening: openingOf(key), valueType: valueTypeOf(definition) },
      ]),
  );
  const texts = new Map<FeatureResult, EvaluatedFlag>();
  const variationTexts = new VariationTexts();

  function write({ opening, valueType }: Flag, result: FeatureResult): string {
    const { value, source, experimentResult, ruleId } = result;
    const variant = experimentResult?.key ?? ruleId;
    const rest = {
      ...(value !== null && { value }),
      reason: reasonOf(result, evaluator.forceRuleOf(result)),
      ...(variant !== '' && { variant }),
      metadata: { configVersion, source, valueType },
    };
    return `${opening},${JSON.stringify(rest).slice(1)}`;
  }

  function evaluated(flag: Flag, user: User): EvaluatedFlag {
    const result = evaluator.evaluate(flag.key, user);
    const { source, experiment, experimentResult } = result;
    if (experiment !== undefined && experimentResult !== undefined) {
      const text = variationTexts.of(experiment, experimentResult, () => write(flag, result));
      return { text, failed: false };
    }
    if (source === 'cyclicPrerequisite')
      return failure(
        flag.key,
        `The prerequisites of this flag form a circle, or a chain of more than ${MAX_PREREQUISITE_DEPTH}.`,
      );
    // These results belong to no flag, or to no more than this one user.
    if (source === 'prerequisite' || source === 'override') return { text: write(flag, result), failed: false };
    let known = texts.get(result);
    if (known === undefined) {
      known = { text: write(flag, result), failed: false };
      texts.set(result, known);
    }
    return known;
  }

  function evaluate(flag: Flag, user: User): EvaluatedFlag {
    try {
      return evaluated(flag, user);
    } catch {
      return failure(flag.key, 'This flag cannot be evaluated for this context.');
    }
  }

  return {
    keys: [...flags.keys()],
    one(key, user) {
      const flag = flags.get(key);
      return flag && evaluate(flag, user);
    },
    failed: failure,
  };
}

const openingOf = (key: string) => `{"key":${JSON.stringify(key)}`;

const failure = (key: string, errorDetails: string): EvaluatedFlag => ({
  text: `${openingOf(key)},"errorCode":"GENERAL","errorDetails":${JSON.stringify(errorDetails)}}`,
  failed: true,
});

/** @param rule behind a forced value */
function reasonOf({ source }: FeatureResult, rule: ForceRule | undefined): FlagReason {
  switch (source) {
    case 'defaultValue':
    case 'prerequisite':
      return 'STATIC';
    case 'experiment':
      return 'SPLIT';
    case 'force':
      return rule !== undefined && splits(rule) ? 'SPLIT' : 'TARGETING_MATCH';
    default:
      return 'UNKNOWN';
  }
}

/** Whether a rule includes only some of the users that its condition lets in. */
function splits({ range, coverage }: ForceRule): boolean {
  if (range !== undefined) return range[0] > 0 || range[1] < 1;
  return coverage !== undefined && coverage < 1;
}

/** The type that all values of a feature have; `json` also where they have several. */
function valueTypeOf(definition: FeatureDefinition): ValueType {
  const types = new Set(valuesOf(definition).map(typeOf));
  const [only] = types;
  return types.size === 1 && only !== undefined ? only : 'json';
}

function valuesOf(definition: FeatureDefinition): JsonValue[] {
  const values = rulesOf(definition).flatMap((rule): readonly JsonValue[] => {
    if ('force' in rule) return [rule.force];
    if ('variations' in rule) return rule.variations;
    return 'contextualVariations' in rule ? rule.contextualVariations : [];
  });
  return [definition.defaultValue, ...values];
}

function typeOf(value: JsonValue): ValueType {
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'json';
}
