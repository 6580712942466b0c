import type { LiveEnvironment } from '../organization/index.ts';
import { environmentsOf } from '../organization/index.ts';
import { invalid, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import { deliveryProjects, type FeatureContent, type RuleScope, type StoredRule } from './feature.ts';

/** Scope as a request says it; what it leaves out is inferred. */
export interface ScopeInput {
  readonly allEnvironments?: boolean | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly allProjects?: boolean | undefined;
  readonly projects?: readonly string[] | undefined;
}

/** Everywhere, unless a list is given or "all" is denied; "all" wins over a list sent beside it. */
export function inferScope(input: ScopeInput): RuleScope {
  const allEnvironments = input.allEnvironments ?? input.environments === undefined;
  const allProjects = input.allProjects ?? input.projects === undefined;
  return {
    allEnvironments,
    environments: allEnvironments ? [] : [...new Set(input.environments)],
    allProjects,
    projects: allProjects ? [] : [...new Set(input.projects)],
  };
}

/** @throws Refusal (invalid) listing the ids that name no environment */
export function requireEnvironments(states: StateReader, ids: readonly string[], place: string): void {
  const known = new Set(environmentsOf(states).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw invalid(`Unknown environment in ${place}: ${quotedList(unknown)}. There are: ${[...known].join(', ')}.`);
  }
}

/** The environments in which the feature can serve anything: those whose own projects let one of its projects in. */
export const applicableEnvironments = (
  feature: FeatureContent,
  environments: readonly LiveEnvironment[],
): LiveEnvironment[] => environments.filter(lettingIn(feature));

function lettingIn(feature: FeatureContent): (environment: LiveEnvironment) => boolean {
  const projects = [...(deliveryProjects(feature) ?? [])].filter((project) => project !== '');
  return ({ state }) =>
    projects.length === 0 || state.projects.length === 0 || state.projects.some((id) => projects.includes(id));
}

/**
 * A feature as environments see it: whether it is on, and which rules apply, with what is inherited from parents.
 *
 * An environment without a switch of its own on the feature follows the nearest ancestor that has one, its rules included.
 */
export interface EnvironmentView {
  isOn(environment: string): boolean;
  applies(rule: RuleScope, environment: string): boolean;
  /** The environment that another one follows; null: it has settings of its own, or there is none to follow. */
  followed(environment: string): string | null;
}

/** What an environment is to a feature. */
interface Standing {
  readonly applicable: boolean;
  /** The environment whose switch holds here. */
  readonly source: string | null;
}

const unknownEnvironment: Standing = { applicable: false, source: null };

export function environmentView(feature: FeatureContent, environments: readonly LiveEnvironment[]): EnvironmentView {
  const letsIn = lettingIn(feature);
  const standings = new Map<string, Standing>();
  // Worked out when it is asked for: whoever compiles a payload asks of thousands of features about one environment.
  const standing = (id: string): Standing => {
    const known = standings.get(id);
    if (known !== undefined) return known;
    const environment = environments.find((one) => one.id === id);
    const fresh =
      environment === undefined
        ? unknownEnvironment
        : { applicable: letsIn(environment), source: sourceOf(id, feature, environments) };
    standings.set(id, fresh);
    return fresh;
  };
  const followed = (environment: string): string | null => {
    const { source } = standing(environment);
    return source === environment ? null : source;
  };
  return {
    followed,
    isOn: (environment) => {
      const { source } = standing(environment);
      return source !== null && feature.environments[source]?.enabled === true;
    },
    applies: (rule, environment) => {
      if (!standing(environment).applicable) return false;
      if (rule.allEnvironments || rule.environments.includes(environment)) return true;
      const source = followed(environment);
      return source !== null && rule.environments.includes(source);
    },
  };
}

/**
 * The rules that apply in an environment, without where else they do: what of the rules can make a difference there.
 */
export function rulesByEnvironment(
  content: FeatureContent,
  environments: readonly LiveEnvironment[],
): (environment: string) => Omit<StoredRule, 'allEnvironments' | 'environments'>[] {
  const view = environmentView(content, environments);
  return (environment) =>
    content.rules
      .filter((rule) => view.applies(rule, environment))
      .map(({ allEnvironments: _all, environments: _some, ...rule }) => rule);
}

/** The environment whose switch holds here: its own, else the nearest ancestor's; none where the chain ends or circles. */
function sourceOf(
  environment: string,
  feature: FeatureContent,
  environments: readonly LiveEnvironment[],
): string | null {
  const seen = new Set<string>();
  let at: string | undefined = environment;
  while (at !== undefined && !seen.has(at)) {
    if (Object.hasOwn(feature.environments, at)) return at;
    seen.add(at);
    const child: string = at;
    at = environments.find(({ id }) => id === child)?.state.parent;
  }
  return null;
}

/** Ids of the environments in which the feature is on and can serve, in the organization's order. */
export function servingEnvironments(feature: FeatureContent, environments: readonly LiveEnvironment[]): string[] {
  if (feature.archived) return [];
  const view = environmentView(feature, environments);
  return applicableEnvironments(feature, environments)
    .map(({ id }) => id)
    .filter((id) => view.isOn(id));
}
