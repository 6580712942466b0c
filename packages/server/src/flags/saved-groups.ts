import type { Grouping } from '../record/index.ts';
import { type GroupReferences, groupsNamedIn } from '../targeting/index.ts';
import { type FeatureContent, type FeatureState, featureKind, seenIn } from './feature.ts';

/** The saved groups that the rules of a feature name, also rules that are switched off. */
export const groupsOf = ({ rules }: FeatureContent): string[] =>
  rules.flatMap(({ condition, savedGroupTargeting }) => [
    ...savedGroupTargeting.flatMap((entry) => entry.savedGroups),
    ...groupsNamedIn(condition),
  ]);

const byGroup: Grouping<FeatureState> = { kind: featureKind, groupsOf };

/** Features target by saved groups; archived ones keep theirs. */
export const featureGroupReferences: GroupReferences = {
  usersOf(states, groups) {
    const features = new Map(groups.flatMap((group) => states.group(byGroup, group).map((live) => [live.id, live])));
    return [...features.values()]
      .sort((a, b) => a.ordinal - b.ordinal)
      .map(({ id, state }) => ({
        kind: 'feature',
        id,
        name: id,
        project: state.project,
        archived: state.archived,
        seenIn: seenIn(state),
      }));
  },
};
