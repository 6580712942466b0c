import type { SimulatedFeature } from '@halyard/contract';
import {
  type Attributes,
  compilePayload,
  type Evaluator,
  type FeatureDefinition,
  type FeatureResult,
} from '@halyard/evaluation';
import { environmentsOf } from '../../organization/index.ts';
import type { StateReader } from '../../record/index.ts';
import type { FeatureState } from '../feature.ts';
import { type PayloadCompiler, payloadCompiler, type TracedDefinition } from '../payload/compile.ts';
import { definitionOptions } from '../payload/options.ts';
import type { RuleKinds } from '../rule-kinds.ts';
import { type EnvironmentView, environmentView } from '../scope.ts';
import { typedValue, valueReader } from '../values.ts';
import type { BoundedEvaluation } from './bounded-evaluation.ts';
import { entry, type LogEntry, ruleLog, type SimulatedRule } from './rule-log.ts';

/** A feature that is simulated. */
export interface Subject {
  readonly id: string;
  /** As it is simulated. */
  readonly state: FeatureState;
  readonly rules: readonly SimulatedRule[];
}

/** For whom, and among what, features are simulated. */
interface Circumstances {
  /** With the subjects as they are simulated, at the instant at which schedules are judged. */
  readonly states: StateReader;
  readonly attributes: Attributes;
  /** Ids of the environments. */
  readonly environments: readonly string[];
  readonly kinds: RuleKinds;
  readonly bounded: BoundedEvaluation;
}

type SimulatedEnvironment = SimulatedFeature['environments'][number];

/** A feature in an environment, ready to be evaluated. */
interface Prepared {
  readonly subject: Subject;
  readonly environment: string;
  readonly view: EnvironmentView;
  readonly evaluator: Evaluator;
  /** Null: the feature is not served there. */
  readonly traced: TracedDefinition | null;
}

/** Evaluates the subjects in each environment. In the order of the subjects. */
export function simulateFeatures(
  subjects: readonly Subject[],
  circumstances: Circumstances,
): readonly (readonly SimulatedEnvironment[])[] {
  const { states, environments, bounded } = circumstances;
  const parts = environments.flatMap((environment) => prepare(subjects, environment, circumstances));
  const simulated = bounded.each(
    states.organization,
    parts,
    (part) => ({ part, shown: evaluate(part, circumstances) }),
    (part) => ({ part, shown: show(part, null, [entry(tooSlow)]) }),
  );
  return subjects.map((subject) => simulated.filter(({ part }) => part.subject === subject).map(({ shown }) => shown));
}

const tooSlow =
  'Not evaluated: the regular expressions of the targeting take too long for these attributes. Put shorter texts into them.';

function prepare(
  subjects: readonly Subject[],
  environment: string,
  { states, kinds, bounded }: Circumstances,
): Prepared[] {
  const all = environmentsOf(states);
  const options = { ...definitionOptions(environment), includeRuleIds: true, savedGroupReferences: false };
  const compiler = payloadCompiler(states, kinds, options, valueReader());
  const traced = subjects.map(({ id }) => compiler.traced(id));
  const definitions = new Map<string, FeatureDefinition>();
  for (const [index, { id }] of subjects.entries()) {
    const definition = traced[index]?.definition;
    if (definition !== undefined) definitions.set(id, definition);
  }
  addRequired(definitions, compiler);
  const { regularExpression } = bounded;
  const evaluator = compilePayload({ features: Object.fromEntries(definitions) }, { regularExpression });
  return subjects.map((subject, index) => ({
    subject,
    environment,
    view: environmentView(subject.state, all),
    evaluator,
    traced: traced[index] ?? null,
  }));
}

/** Adds the features that those which are there depend on, directly or through others. */
function addRequired(definitions: Map<string, FeatureDefinition>, compiler: PayloadCompiler): void {
  for (const { rules = [] } of definitions.values()) {
    for (const { id } of rules.flatMap(({ parentConditions = [] }) => parentConditions)) {
      const required = definitions.has(id) ? null : compiler.feature(id);
      if (required !== null) definitions.set(id, required);
    }
  }
}

function evaluate(part: Prepared, { states, attributes }: Circumstances): SimulatedEnvironment {
  const { subject, evaluator, traced } = part;
  if (traced === null) return show(part, null, [entry(whyNotServed(part))]);
  const { result, outcomes } = evaluator.explain(subject.id, { attributes });
  const log = ruleLog({ ...part, ...traced, rules: subject.rules, outcomes, instant: states.at.instant });
  return show(part, result, log);
}

function whyNotServed({ subject, environment, view }: Prepared): string {
  if (subject.state.archived) return 'Not served: the feature is archived.';
  if (!view.isOn(environment)) return 'Not served: the feature is off in this environment.';
  return 'Not served: a prerequisite of the feature can never hold here.';
}

function show(
  { subject: { state }, environment, view }: Prepared,
  result: FeatureResult | null,
  log: LogEntry[],
): SimulatedEnvironment {
  return {
    env: environment,
    enabled: view.isOn(environment),
    defaultValue: typedValue(state.valueType, state.defaultValue),
    result: result === null ? null : showResult(result),
    log,
  };
}

function showResult({
  experiment,
  experimentResult,
  ...result
}: FeatureResult): NonNullable<SimulatedEnvironment['result']> {
  return {
    ...result,
    ...(experiment === undefined ? {} : { experiment: { ...experiment } }),
    ...(experimentResult === undefined ? {} : { experimentResult: { ...experimentResult } }),
  };
}
