import type { EnvironmentStaleReason, StaleReason } from '@halyard/contract';
import { environmentsOf } from '../organization/index.ts';
import type { StateReader } from '../record/index.ts';
import { type FeatureState, featureKind, type LiveFeature, type StoredRule } from './feature.ts';
import { storedCondition } from './payload/stored-condition.ts';
import { byRequirement } from './prerequisites.ts';
import { applicableEnvironments, type EnvironmentView, environmentView } from './scope.ts';

/** What is found of a feature in one environment. */
interface EnvironmentStaleness {
  readonly isStale: boolean;
  readonly reason: EnvironmentStaleReason;
  /** The value that everyone gets, as text; absent where it depends on the user. */
  readonly evaluatesTo?: string;
}

/** What is found of a feature. */
export interface Staleness {
  readonly isStale: boolean;
  /** Null: it is not stale, for no particular reason; `error`: it could not be judged. */
  readonly reason: StaleReason | 'error' | null;
  /** By the environments that let one of the feature's projects in, in the organization's order. */
  readonly environments: ReadonlyMap<string, EnvironmentStaleness>;
}

/** The experiments that are in payloads: they keep features alive. The area of experiments fills this port. */
export interface PayloadExperiments {
  /** Whether a rule serves one of them. */
  areServedBy(rule: StoredRule): boolean;
  /** Whether one of them has the feature as its prerequisite. */
  require(feature: string): boolean;
}

export const noExperiments: PayloadExperiments = { areServedBy: () => false, require: () => false };

/** What features are judged by. */
export interface StaleContext {
  readonly states: StateReader;
  readonly now: Date;
  readonly experiments: PayloadExperiments;
  /** When the newest open draft of a feature was last changed; null: it has none. */
  newestDraft(feature: string): Date | null;
  /** Hears of a feature that could not be judged. */
  failed(feature: string, error: unknown): void;
}

const day = 24 * 60 * 60 * 1_000;
const recentUpdate = 14 * day;
const recentDraft = 30 * day;

/** Another feature that requires the one that is judged. */
interface Dependent {
  readonly id: string;
  /** Whether it requires the feature in an environment. */
  requiresIn(environment: string): boolean;
}

/** A feature on the way of dependence that is being walked. */
interface Step {
  readonly id: string;
  readonly dependents: readonly Dependent[];
  next: number;
}

/**
 * Tells which features could go: that serve everyone the same, that nobody works on and nothing depends on.
 *
 * What depends on a feature keeps it alive unless it is stale itself. Features that depend on each other in a circle keep each
 * other alive: one that is met again on the way counts as not stale.
 *
 * @returns judges the feature of an id; null: there is none, or it is archived
 */
export function staleDetector(context: StaleContext): (id: string) => Staleness | null {
  const { states, experiments } = context;
  const environments = environmentsOf(states);
  const views = new Map<string, EnvironmentView>();
  const verdicts = new Map<string, boolean>();

  const viewOf = ({ id, state }: LiveFeature): EnvironmentView => {
    const view = views.get(id) ?? environmentView(state, environments);
    views.set(id, view);
    return view;
  };

  const dependentsOf = (feature: LiveFeature): Dependent[] => {
    const applicable = applicableEnvironments(feature.state, environments);
    const requires = (list: FeatureState['prerequisites']) => list.some(({ id }) => id === feature.id);
    return states.group(byRequirement, feature.id).flatMap((live): Dependent[] => {
      const { id, state } = live;
      if (state.archived) return [];
      if (requires(state.prerequisites)) return [{ id, requiresIn: () => true }];
      const rules = state.rules.filter((rule) => rule.enabled && requires(rule.prerequisites));
      const requiresIn = (environment: string) => rules.some((rule) => viewOf(live).applies(rule, environment));
      return applicable.some((environment) => requiresIn(environment.id)) ? [{ id, requiresIn }] : [];
    });
  };

  const judge = (feature: LiveFeature, protectors: readonly Dependent[]): Staleness => {
    const { id, state, dateUpdated } = feature;
    const isRequired = experiments.require(id);
    const view = viewOf(feature);
    const found = applicableEnvironments(state, environments).map(({ id: environment }) => {
      const isProtected = isRequired || protectors.some(({ requiresIn }) => requiresIn(environment));
      return [environment, judgeEnvironment(state, environment, view, isProtected, experiments)] as const;
    });
    const so = (isStale: boolean, reason: StaleReason | null) => ({ isStale, reason, environments: new Map(found) });

    if (state.neverStale) return so(false, 'never-stale');
    const age = (date: Date) => context.now.getTime() - date.getTime();
    if (age(dateUpdated) <= recentUpdate) return so(false, 'recently-updated');
    const draft = context.newestDraft(id);
    if (draft !== null && age(draft) <= recentDraft) return so(false, 'active-draft');
    if (isRequired || protectors.length > 0) return so(false, 'has-dependents');
    const on = found.flatMap(([, verdict]) => (verdict.reason === 'toggled-off' ? [] : [verdict]));
    if (on.length === 0 || on.some(({ isStale }) => !isStale)) return so(false, null);
    if (draft !== null) return so(true, 'abandoned-draft');
    return so(true, on.some(({ reason }) => reason === 'no-rules') ? 'no-rules' : 'rules-one-sided');
  };

  /** Whether a feature would be stale if nothing depended on it. */
  const mayBeStale = (feature: LiveFeature): boolean => {
    try {
      return judge(feature, []).isStale;
    } catch (error) {
      context.failed(feature.id, error);
      return false;
    }
  };

  /** Walks the dependents of dependents without recursion: however long the chain, it must not exhaust the stack. */
  const isStale = (id: string): boolean => {
    const way: Step[] = [];
    const onWay = new Set<string>();
    const enter = (entered: string): void => {
      const feature = states.get(featureKind, entered);
      if (feature === null || !mayBeStale(feature)) {
        verdicts.set(entered, false);
        return;
      }
      way.push({ id: entered, dependents: dependentsOf(feature), next: 0 });
      onWay.add(entered);
    };
    const leave = (step: Step, verdict: boolean): void => {
      verdicts.set(step.id, verdict);
      onWay.delete(step.id);
      way.pop();
    };

    if (!verdicts.has(id)) enter(id);
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      const dependent = step.dependents[step.next];
      if (dependent === undefined) {
        leave(step, true);
        continue;
      }
      const verdict = onWay.has(dependent.id) ? false : verdicts.get(dependent.id);
      if (verdict === undefined) {
        enter(dependent.id);
        continue;
      }
      step.next++;
      if (!verdict) leave(step, false);
    }
    return verdicts.get(id) ?? false;
  };

  return (id) => {
    const feature = states.get(featureKind, id);
    if (feature === null || feature.state.archived) return null;
    try {
      return judge(
        feature,
        dependentsOf(feature).filter((dependent) => !isStale(dependent.id)),
      );
    } catch (error) {
      context.failed(id, error);
      return { isStale: false, reason: 'error', environments: new Map() };
    }
  };
}

function judgeEnvironment(
  state: FeatureState,
  environment: string,
  view: EnvironmentView,
  isProtected: boolean,
  experiments: PayloadExperiments,
): EnvironmentStaleness {
  if (!view.isOn(environment)) return { isStale: true, reason: 'toggled-off', evaluatesTo: 'null' };
  const rules = state.rules.filter((rule) => rule.enabled && view.applies(rule, environment));
  const unless = (reason: EnvironmentStaleReason, evaluatesTo: string): EnvironmentStaleness =>
    isProtected ? { isStale: false, reason: 'has-dependents', evaluatesTo } : { isStale: true, reason, evaluatesTo };

  if (rules.length === 0) return unless('no-rules', state.defaultValue);
  if (meetsExperiment(rules, experiments)) return { isStale: false, reason: 'active-experiment' };
  if (rules.every(isOneSided)) return unless('rules-one-sided', firstValue(rules) ?? state.defaultValue);
  return { isStale: false, reason: 'has-rules' };
}

/** Whether somebody can get to an experiment: no rule before it catches everyone. */
function meetsExperiment(rules: readonly StoredRule[], { areServedBy }: PayloadExperiments): boolean {
  const experiment = rules.findIndex((rule) => areServedBy(rule));
  const caught = rules.findIndex(catchesEveryone);
  return experiment >= 0 && (caught < 0 || experiment < caught);
}

const catchesEveryone = (rule: StoredRule): boolean =>
  targetsEveryone(rule) &&
  rule.prerequisites.length === 0 &&
  (rule.type === 'force' || (rule.type === 'rollout' && rule.coverage >= 1));

/** Whether a rule tells no users apart, as far as its type is one that serves a single value. */
function isOneSided(rule: StoredRule): boolean {
  if (rule.type === 'rollout') return rule.coverage === 1 && targetsEveryone(rule);
  return rule.type !== 'force' || targetsEveryone(rule);
}

const targetsEveryone = ({ condition, savedGroupTargeting }: StoredRule): boolean =>
  (condition.trim() === '' || Object.keys(storedCondition(condition)).length === 0) &&
  savedGroupTargeting.every(({ savedGroups }) => savedGroups.length === 0);

function firstValue(rules: readonly StoredRule[]): string | null {
  for (const rule of rules) if (rule.type === 'force' || rule.type === 'rollout') return rule.value;
  return null;
}
