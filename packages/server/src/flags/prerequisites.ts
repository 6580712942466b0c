import type { Prerequisite } from '@halyard/contract';
import { environmentsOf } from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import type { Grouping, StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { attributesIn, readCondition } from '../targeting/index.ts';
import { type FeatureContent, type FeatureState, featureKind, type StoredRule, seenIn } from './feature.ts';
import { environmentView } from './scope.ts';

/** What the v1 and v2 feature bodies mean when they name a prerequisite by its id alone. */
export const mustBeTrue = (id: string): Prerequisite => ({ id, condition: '{"value": true}' });

/** Ids of the features that a feature requires: by its own prerequisites, and by those of the rules that count. */
const requirementsOf = (content: FeatureContent, counts: (rule: StoredRule) => boolean): string[] =>
  [...content.prerequisites, ...content.rules.filter(counts).flatMap((rule) => rule.prerequisites)].map(({ id }) => id);

/** Features by those that they require, also through rules that are switched off. */
export const byRequirement: Grouping<FeatureState> = {
  kind: featureKind,
  groupsOf: (state) => requirementsOf(state, () => true),
};

const isEnabled = (rule: StoredRule): boolean => rule.enabled;

/**
 * Checks prerequisites that a request brings: the features exist, can be read and are not the feature itself, and the
 * conditions look at their value.
 *
 * @throws Refusal (invalid)
 */
export function checkPrerequisites(
  prerequisites: readonly Prerequisite[],
  context: {
    feature: string;
    place: string;
    states: StateReader;
    requester: Requester;
  },
): void {
  const { feature, place, states, requester } = context;
  for (const { id, condition } of prerequisites) {
    if (id === feature) throw invalid(`A feature cannot be its own prerequisite, as ${place} asks.`);
    const required = states.get(featureKind, id);
    if (required === null || !requester.maySee(seenIn(required.state))) {
      throw invalid(`${place} has the unknown prerequisite ${quoted(id)}. Name a feature that exists.`);
    }
    const parsed = readCondition(condition, `the prerequisite ${quoted(id)} of ${place}`);
    if (parsed === null || [...attributesIn(parsed)].some((name) => name !== 'value')) {
      throw invalid(
        `The condition on the prerequisite ${quoted(id)} of ${place} must look at "value", such as {"value": true}.`,
      );
    }
  }
}

/**
 * Refuses a feature that would, through others, depend on itself.
 *
 * Dependence goes through prerequisites of features and, in each environment, of enabled rules that apply there.
 *
 * @throws Refusal (invalid) naming the circle
 */
export function refuseCycle(feature: string, content: FeatureContent, states: StateReader): void {
  const contentOf = (id: string): FeatureContent | null =>
    id === feature ? content : (states.get(featureKind, id)?.state ?? null);
  const circleThrough = (requires: (of: FeatureContent) => string[]) =>
    findCircle(feature, (id) => {
      const of = contentOf(id);
      return of === null ? [] : requires(of);
    });
  // Nearly always there is none even with the rules of all environments together, and one walk tells.
  if (circleThrough((of) => requirementsOf(of, isEnabled)) === null) return;
  const environments = environmentsOf(states);
  for (const { id: environment } of environments) {
    const circle = circleThrough((of) => {
      const { applies } = environmentView(of, environments);
      return requirementsOf(of, (rule) => rule.enabled && applies(rule, environment));
    });
    if (circle !== null) {
      throw invalid(
        `These features would require each other: ${shortened(circle).join(' → ')}. Remove one of the prerequisites.`,
      );
    }
  }
}

/** A way as messages tell it: of a long one both ends, which meet. */
function shortened(way: readonly string[]): string[] {
  const ids = way.map(quoted);
  return ids.length <= 10 ? ids : [...ids.slice(0, 5), `… (${ids.length - 10} more)`, ...ids.slice(-5)];
}

/** A way from the feature back to itself; null: there is none. Circles that others have among themselves are not its concern. */
function findCircle(feature: string, requires: (id: string) => string[]): string[] | null {
  const cameFrom = new Map<string, string>();
  const open = [feature];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const required of requires(id)) {
      if (required === feature) return wayTo(id, cameFrom, feature);
      if (cameFrom.has(required)) continue;
      cameFrom.set(required, id);
      open.push(required);
    }
  }
  return null;
}

function wayTo(id: string, cameFrom: ReadonlyMap<string, string>, feature: string): string[] {
  const way = [feature];
  for (let at: string | undefined = id; at !== undefined && at !== feature; at = cameFrom.get(at)) way.unshift(at);
  return [feature, ...way];
}

/** How many features that are not archived have it among their prerequisites, also ones the caller cannot see. */
export const countDependents = (feature: string, states: StateReader): number =>
  states
    .group(byRequirement, feature)
    .filter(({ id, state }) => id !== feature && !state.archived && requirementsOf(state, isEnabled).includes(feature))
    .length;
