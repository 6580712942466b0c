import { seesProject } from '../organization/index.ts';
import { type Grouping, inOneOrder, type Sliceable } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { type FeatureState, featureKind, type LiveFeature, seenIn } from './feature.ts';

/** Where a feature is seen, and whether it is archived: lists show all features of a group, or none. */
const byPlace: Grouping<FeatureState> = {
  kind: featureKind,
  groupsOf: (state) => [JSON.stringify([state.archived, seenIn(state)?.toSorted() ?? null])],
};

/**
 * The features that the requester may see, oldest first. Nobody goes through all of them: those of a place are kept together.
 *
 * @param archived also those that are archived
 * @param projectId only those of a project, its own and those targeted at it; none where the requester cannot see the project
 */
export function visibleFeatures(
  requester: Requester,
  { projectId, archived }: { readonly projectId?: string | undefined; readonly archived: boolean },
): Sliceable<LiveFeature> {
  // Asked once for all, also where there are none: whoever may read nowhere sees nothing.
  const mayRead = requester.may('readData', { projects: [] });
  if (!mayRead || (projectId !== undefined && !seesProject(requester, projectId))) return [];
  const groups = [...requester.states.groups(byPlace).values()].filter(([any]) => {
    if (any === undefined || (any.state.archived && !archived)) return false;
    const projects = seenIn(any.state);
    return requester.maySee(projects) && (projectId === undefined || projects === null || projects.includes(projectId));
  });
  return inOneOrder(groups);
}
