import type { FeatureDefinition, FeatureMetadata, FeatureRule, ParentCondition } from '@halyard/evaluation';
import { customFieldsInForce, customFieldsOf, environmentsOf, projectKind } from '../../organization/index.ts';
import type { StateReader } from '../../record/index.ts';
import { namespaceKind } from '../../targeting/index.ts';
import { deliveryProjects, type FeatureState, featureKind, ruleIdStem, type StoredRule } from '../feature.ts';
import type { CompilationContext, RuleKinds } from '../rule-kinds.ts';
import { isScheduledOn } from '../schedule.ts';
import { type EnvironmentView, environmentView } from '../scope.ts';
import { overlaid, typedValue } from '../values.ts';
import { compiledTargeting, type RuleTargeting } from './compiled-targeting.ts';
import { withKnownKeys } from './known-keys.ts';
import type { PayloadOptions } from './options.ts';
import { prerequisiteJudge, type ReadPrerequisite } from './prerequisite-outlook.ts';
import { common, existing, type Projects, reaches, servedProjects } from './served-projects.ts';

/** Compiles the payload of one kind of connection at one configuration version. */
export interface PayloadCompiler {
  /** False: the environment lets none of the connection's projects in, and the whole payload is empty. */
  readonly servesAnything: boolean;
  /** The values of a saved group that is a list; null: it is none. */
  groupValues(id: string): readonly (string | number)[] | null;
  /** The definition of a feature; null: it is not in the payload. */
  feature(id: string): FeatureDefinition | null;
  /** The same, with how it came about. */
  traced(id: string): TracedDefinition | null;
}

/** Why a rule is not in a definition. */
export type Absence = 'off' | 'environment' | 'projects' | 'schedule' | 'prerequisites' | 'nothing';

/** A definition, and how it came about. */
export interface TracedDefinition {
  readonly definition: FeatureDefinition;
  /** How many of its rules, the first ones, are gates. */
  readonly gates: number;
  /** Of each rule of the feature why it is not in it; null: it is. */
  readonly absences: readonly (Absence | null)[];
}

/** A feature that is delivered, and how the environment sees it. */
interface Delivered {
  readonly id: string;
  readonly state: FeatureState;
  readonly view: EnvironmentView;
  readonly projects: Projects;
}

/**
 * A pure function of the states, their version's instant, and the options: the same on every process, at any time.
 *
 * @param read how stored values are read
 */
export function payloadCompiler(
  states: StateReader,
  kinds: RuleKinds,
  options: PayloadOptions,
  read = typedValue,
): PayloadCompiler {
  const environments = environmentsOf(states);
  const served = servedProjects(states, options);
  const targeting = compiledTargeting(states, options);
  const exists = environments.some(({ id }) => id === options.environment);
  const found = new Map<string, Delivered | null>();
  const wantedFields = new Set(options.customFieldsInMetadata);
  const fields = new Map<string, readonly { readonly id: string }[]>();

  const deliver = (id: string): Delivered | null => {
    const state = states.get(featureKind, id)?.state;
    if (state === undefined || state.archived || !exists) return null;
    const projects = deliveryProjects(state);
    if (served !== null && !reaches(common(projects, served))) return null;
    const view = environmentView(state, environments);
    return view.isOn(options.environment) ? { id, state, view, projects } : null;
  };
  const delivered = (id: string): Delivered | null => {
    const known = found.get(id);
    if (known !== undefined) return known;
    const fresh = deliver(id);
    found.set(id, fresh);
    return fresh;
  };

  const judge = prerequisiteJudge((id) => {
    const feature = delivered(id);
    if (feature === null) return null;
    const { state, view } = feature;
    return {
      prerequisites: state.prerequisites,
      hasRules: state.rules.some((rule) => rule.enabled && view.applies(rule, options.environment)),
      defaultValue: read(state.valueType, state.defaultValue),
    };
  });

  const publicIds = (projects: Projects): string[] | null =>
    projects === null
      ? null
      : [...projects].filter((id) => id !== '').map((id) => states.get(projectKind, id)?.state.publicId ?? id);

  const namespaceOf = (id: string) => states.get(namespaceKind, id)?.state ?? null;

  const compileRule = (
    rule: StoredRule,
    feature: Delivered,
    context: CompilationContext,
    conditionOf: RuleTargeting,
  ): CompiledRule => {
    const { state, view, projects } = feature;
    const scope = rule.allProjects ? null : existing(states, rule.projects);
    if (!rule.enabled) return dropped('off');
    if (!view.applies(rule, options.environment)) return dropped('environment');
    if (!isScheduledOn(rule.scheduleRules, states.at.instant)) return dropped('schedule');
    if (!reaches(common(scope, projects, served))) return dropped('projects');
    const required = judge.reduce(rule.prerequisites);
    if (required === null) return dropped('prerequisites');
    const body = kinds.get(rule.type)?.compile(rule, context) ?? null;
    if (body === null) return dropped('nothing');
    const condition = conditionOf(rule);
    const named = publicIds(scope === null ? null : common(scope, deliveryProjects(state)));
    return {
      requires: required.length > 0,
      absence: null,
      rule: {
        ...(options.includeRuleIds ? { id: ruleIdStem(rule.id) } : {}),
        ...(condition === null ? {} : { condition }),
        ...(required.length === 0 ? {} : { parentConditions: parentConditions(required) }),
        ...body,
        ...(options.includeProjectIdInMetadata && named !== null && named.length > 0
          ? { metadata: { projects: named } }
          : {}),
      } as FeatureRule,
    };
  };

  /** The custom fields that features of a project have and the connection asks for. */
  const deliveredFields = (project: string): readonly { readonly id: string }[] => {
    if (wantedFields.size === 0) return [];
    const known = fields.get(project);
    if (known !== undefined) return known;
    const fresh = customFieldsOf(states, 'feature', project).filter(({ id }) => wantedFields.has(id));
    fields.set(project, fresh);
    return fresh;
  };

  const metadata = ({ state, projects }: Delivered): FeatureMetadata | null => {
    const ids = options.includeProjectIdInMetadata ? (publicIds(projects) ?? []) : [];
    const customFields = customFieldsInForce(state.customFields ?? {}, deliveredFields(state.project));
    const tags = options.includeTagsInMetadata ? state.tags : [];
    const members = {
      ...(ids.length === 0 ? {} : { projects: ids }),
      ...(Object.keys(customFields).length === 0 ? {} : { customFields }),
      ...(tags.length === 0 ? {} : { tags }),
    };
    return Object.keys(members).length === 0 ? null : members;
  };

  return {
    servesAnything: reaches(served),
    groupValues: targeting.groupValues,

    feature(id) {
      return this.traced(id)?.definition ?? null;
    },

    traced(id) {
      const feature = delivered(id);
      if (feature === null) return null;
      const { state } = feature;
      const required = judge.reduce(state.prerequisites);
      if (required === null) return null;

      const defaultValue = read(state.valueType, state.defaultValue);
      const context: CompilationContext = {
        feature: id,
        includeNames: options.includeExperimentNames,
        namespaceOf,
        typed: (value, sparse) => {
          const typed = read(state.valueType, value);
          return sparse && state.valueType === 'json' ? overlaid(defaultValue, typed) : typed;
        },
      };
      const conditionOf = targeting.rules();
      const compiled = state.rules.map((rule) => compileRule(rule, feature, context, conditionOf));
      const dependsOnOthers = required.length > 0 || compiled.some(({ requires }) => requires);
      if (dependsOnOthers && !options.capabilities.has('prerequisites')) return null;

      const gates = parentConditions(required).map((parent) => ({ parentConditions: [{ ...parent, gate: true }] }));
      const rules = [...gates, ...compiled.flatMap(({ rule }) => rule ?? [])];
      const more = metadata(feature);
      const definition = withKnownKeys(
        { defaultValue, ...(rules.length === 0 ? {} : { rules }), ...(more === null ? {} : { metadata: more }) },
        options,
      );
      return { definition, gates: gates.length, absences: compiled.map(({ absence }) => absence) };
    },
  };
}

interface CompiledRule {
  /** Null: it serves nothing here. */
  readonly rule: FeatureRule | null;
  /** It depends on other features. */
  readonly requires: boolean;
  /** Null: it is there. */
  readonly absence: Absence | null;
}
const dropped = (absence: Absence): CompiledRule => ({ rule: null, requires: false, absence });

const parentConditions = (required: readonly ReadPrerequisite[]): ParentCondition[] =>
  required.filter(({ condition }) => Object.keys(condition).length > 0).map(({ id, condition }) => ({ id, condition }));
