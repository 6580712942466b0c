import { jsonTextOf } from './coercion.ts';
import type { EvaluablePayload, Evaluator } from './evaluator.ts';
import { rulesOf } from './feature.ts';
import type { FeatureResult } from './feature-result.ts';
import type { EnteredExperiment, Experiment, ExperimentResult, Payload } from './payload.ts';
import { recordExperiments } from './recorder.ts';
import type { User } from './user.ts';
import { VariationTexts } from './variation-texts.ts';

/** What a client tells of its user when it asks for values instead of definitions (flags A28). */
export type RemoteEvaluationRequest = Pick<
  User,
  'attributes' | 'url' | 'forcedVariations' | 'forcedFeatures' | 'stickyBucketAssignmentDocs'
>;

/** Answers requests on one payload, as JSON text. A pure function of the request. */
export type RemoteEvaluation = (request: RemoteEvaluationRequest) => string;

interface PreparedFeature {
  readonly key: string;
  /** `"key":{"defaultValue":` */
  readonly opening: string;
}

/**
 * Prepares the remote evaluation of a payload: the answer is a payload of its own that gives this one user the same
 * values, and says nothing that does not concern the user: no condition, no saved group, no value of another variation.
 *
 * Whatever of the answer does not depend on the user is written once: features without rules, the values of rules,
 * what is told of an experiment to the users of one variation.
 *
 * @param evaluator of the same payload
 * @example
 * const payload = { features: { banner: { defaultValue: 'blue' } }, dateUpdated: '2026-01-31T09:00:00.000Z' };
 * remoteEvaluation(payload, compilePayload(payload))({ attributes: { id: 'u1' } });
 * // {"features":{"banner":{"defaultValue":"blue"}},"dateUpdated":"2026-01-31T09:00:00.000Z"}
 */
export function remoteEvaluation(
  payload: EvaluablePayload & Pick<Payload, 'dateUpdated'>,
  evaluator: Evaluator,
): RemoteEvaluation {
  const features = evaluator.featureKeys.map(preparedFeature);
  const parts = withConstantsJoined(features, payload);
  const closing = `"dateUpdated":${JSON.stringify(payload.dateUpdated)}}`;
  const hasExperiments = payload.experiments !== undefined;

  const values = new Map<FeatureResult, string>();
  const variationValues = new VariationTexts();
  const tracksText = tracksWriter();
  const auto = new VariationTexts();

  /** Results that do not depend on the user are shared by all users, and so are their texts. */
  function valueText(result: FeatureResult): string {
    const { experiment, experimentResult } = result;
    if (experiment !== undefined && experimentResult !== undefined) {
      return variationValues.of(experiment, experimentResult, () => JSON.stringify(result.value));
    }
    if (result.source === 'override') return JSON.stringify(result.value);
    let text = values.get(result);
    if (text === undefined) {
      text = JSON.stringify(result.value);
      values.set(result, text);
    }
    return text;
  }

  return (request) => {
    const entered: EnteredExperiment[] = [];
    const user: User = {
      ...request,
      trackExperiment: (experiment, result) => void entered.push({ experiment, result }),
    };
    let text = '';
    // A feature without rules is no constant to a client that forces its value.
    for (const part of request.forcedFeatures?.size ? features : parts) {
      if (text !== '') text += ',';
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const value = valueText(evaluator.evaluate(part.key, user));
      if (entered.length === 0) {
        text += `${part.opening}${value}}`;
      } else {
        const tracks = tracksText(distinct(entered));
        text += `${part.opening}${value},"rules":[{"force":${value},"tracks":[${tracks}]}]}`;
        entered.length = 0;
      }
    }
    const experiments = evaluator
      .runAutoExperiments(user)
      .map(({ experiment, result }) =>
        auto.of(experiment, result, () => JSON.stringify(scrubbed(experiment, result, {}))),
      );
    return `{"features":{${text}},${hasExperiments ? `"experiments":[${experiments.join(',')}],` : ''}${closing}`;
  };
}

const preparedFeature = (key: string): PreparedFeature => ({ key, opening: `${JSON.stringify(key)}:{"defaultValue":` });

/** The features in their order, those without rules already written, neighbours in one piece. */
function withConstantsJoined(
  features: readonly PreparedFeature[],
  payload: EvaluablePayload,
): readonly (PreparedFeature | string)[] {
  const parts: (PreparedFeature | string)[] = [];
  for (const feature of features) {
    const definition = payload.features[feature.key];
    if (definition === undefined || rulesOf(definition).length > 0) {
      parts.push(feature);
      continue;
    }
    const text = `${feature.opening}${JSON.stringify(definition.defaultValue ?? null)}}`;
    const before = parts.at(-1);
    if (typeof before === 'string') parts[parts.length - 1] = `${before},${text}`;
    else parts.push(text);
  }
  return parts;
}

/** Writes experiments that a user has entered. All but the user's own part of it is written once. */
function tracksWriter(): (entered: readonly EnteredExperiment[]) => string {
  const common = new VariationTexts();
  const write = (attribute: string, value: unknown) =>
    `,"hashAttribute":${JSON.stringify(attribute)},"hashValue":${jsonTextOf(value) ?? 'null'}`;
  // Most experiments of a user hash the same value.
  let last = { attribute: '', value: '', text: write('', '') };
  const hashedText = (attribute: string, value: unknown): string => {
    if (typeof value !== 'string') return write(attribute, value);
    if (last.value !== value || last.attribute !== attribute)
      last = { attribute, value, text: write(attribute, value) };
    return last.text;
  };
  return (entered) => {
    let text = '';
    for (const { experiment, result } of entered) {
      if (text !== '') text += ',';
      text += common.of(experiment, result, () => {
        const own = { hashAttribute: undefined, hashValue: undefined, stickyBucketUsed: undefined, bucket: undefined };
        const concerning = JSON.stringify(scrubbed(experiment, result, null));
        return `{"experiment":${concerning},"result":${JSON.stringify({ ...result, ...own }).slice(0, -1)}`;
      });
      const { hashAttribute, hashValue, stickyBucketUsed, bucket } = result;
      text += hashedText(hashAttribute, hashValue);
      text += `,"stickyBucketUsed":${stickyBucketUsed}${bucket === undefined ? '' : `,"bucket":${bucket}`}}}`;
    }
    return text;
  };
}

/** Each assignment once, however often it was met on the way. */
function distinct(entered: readonly EnteredExperiment[]): readonly EnteredExperiment[] {
  if (entered.length === 1) return entered;
  const recorder = recordExperiments();
  for (const { experiment, result } of entered) recorder.track(experiment, result);
  return recorder.entered;
}

/**
 * What of an experiment concerns a user who is in it: neither whom it is for, nor what the others get.
 *
 * @param instead stands for the content of the other variations
 */
function scrubbed(
  experiment: Experiment,
  { variationId }: ExperimentResult,
  instead: null | Readonly<Record<string, never>>,
): object {
  const { condition: _, parentConditions: __, variations, meta, ...rest } = experiment;
  return {
    ...rest,
    variations: variations.map((content, index) => (index === variationId ? content : instead)),
    ...(meta !== undefined && { meta: meta.map((entry, index) => (index === variationId ? entry : {})) }),
  };
}
