import { invalid } from '../platform/index.ts';
import type { Grouping, StateReader } from '../record/index.ts';
import { type GroupReferences, groupsNamedIn, savedGroupKind, writtenOutLengths } from '../targeting/index.ts';
import {
  type FeatureContent,
  type FeatureState,
  featureKind,
  type LiveFeature,
  type RuleBase,
  seenIn,
} from './feature.ts';

/** The saved groups that a rule names, as often as it does. */
export const groupsOfRule = ({
  condition,
  savedGroupTargeting,
}: Pick<RuleBase, 'condition' | 'savedGroupTargeting'>): string[] => [
  ...savedGroupTargeting.flatMap((entry) => entry.savedGroups),
  ...groupsNamedIn(condition),
];

/** The saved groups that the rules of a feature name, also rules that are switched off. */
export const groupsOf = ({ rules }: Pick<FeatureContent, 'rules'>): string[] => rules.flatMap(groupsOfRule);

/** The most characters that the saved groups of a feature may have once they are written out in its rules. */
const longestWrittenOut = 16 * 2 ** 20;

/**
 * Refuses rules that would become too long for SDKs which get the values of groups in their place: a short list of rules may
 * name a long group any number of times.
 *
 * @param before what the feature has; what is no longer than that passes
 * @throws Refusal (invalid)
 */
export function refuseLongGroups(rules: readonly RuleBase[], before: readonly RuleBase[], states: StateReader): void {
  if (rules === before) return;
  const lengthOf = writtenOutLengths((id) => states.get(savedGroupKind, id)?.state ?? null, true);
  const length = lengthOfGroups(rules, lengthOf);
  if (length <= longestWrittenOut || length <= lengthOfGroups(before, lengthOf)) return;
  throw invalid(
    `The rules name saved groups of ${length} characters in all, and a feature can take ${longestWrittenOut}. Name long groups in fewer rules.`,
  );
}

const lengthOfGroups = (rules: readonly RuleBase[], lengthOf: (group: string) => number): number =>
  rules.flatMap(groupsOfRule).reduce((sum, id) => sum + lengthOf(id), 0);

/** Features by the saved groups that they name. */
export const byGroup: Grouping<FeatureState> = { kind: featureKind, groupsOf };

/** Features target by saved groups; archived ones keep theirs. */
export const featureGroupReferences: GroupReferences = {
  usersOf: (states, groups) =>
    featuresNaming(groups, states).map(({ id, state }) => ({
      kind: 'feature',
      id,
      name: id,
      project: state.project,
      archived: state.archived,
      seenIn: seenIn(state),
    })),
  countTooLong: (states, groups, now, then) =>
    featuresNaming(groups, states).filter(({ state: { rules } }) => {
      const length = lengthOfGroups(rules, then);
      return length > longestWrittenOut && length > lengthOfGroups(rules, now);
    }).length,
};

/** The features that name one of the groups, oldest first. */
function featuresNaming(groups: readonly string[], states: StateReader): LiveFeature[] {
  const features = new Map(groups.flatMap((group) => states.group(byGroup, group).map((live) => [live.id, live])));
  return [...features.values()].sort((a, b) => a.ordinal - b.ordinal);
}
