import { listWithout, type References } from '../../organization/index.ts';
import type { Revisions } from '../../revisions/index.ts';
import { landGroups } from './land-groups.ts';
import { contentOf, savedGroupKind } from './saved-group.ts';

/** Saved groups name projects. */
export const savedGroupReferences = ({ revisions }: { readonly revisions: Revisions }): References => ({
  changesOnProjectDeletion(states, project, by) {
    const changes = states.all(savedGroupKind).flatMap((before) => {
      const projects = listWithout(before.state.projects, project);
      const unchanged = projects === before.state.projects;
      return unchanged ? [] : [{ id: before.id, before, content: { ...contentOf(before.state), projects } }];
    });
    const landing = landGroups(changes, `The project ${project} was deleted`, { states, members: by.members });
    return revisions.asPublication(states.organization, by.actor, landing);
  },
});
