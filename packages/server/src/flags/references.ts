import { listWithout, type References } from '../organization/index.ts';
import type { Clock } from '../platform/index.ts';
import type { Revisions } from '../revisions/index.ts';
import { changedFields } from './content-fields.ts';
import { contentOf, type FeatureContent, featureKind } from './feature.ts';
import { landFeatures } from './land-features.ts';
import type { RuleKinds } from './rule-kinds.ts';
import { showContext } from './show.ts';

/** Features name projects: as their own, as targets, and in the scopes of rules. */
export function featureReferences(tools: { revisions: Revisions; kinds: RuleKinds; clock: Clock }): References {
  return {
    changesOnProjectDeletion(states, project, by) {
      const changes = states.all(featureKind).flatMap((before) => {
        const content = contentWithout(contentOf(before.state), project);
        return changedFields(contentOf(before.state), content).length === 0 ? [] : [{ id: before.id, before, content }];
      });
      const record = { event: 'feature.update', comment: `The project ${project} was deleted` } as const;
      const { landing } = landFeatures(changes, record, showContext(tools, by, states), tools);
      return tools.revisions.asPublication(states.organization, by.actor, landing);
    },
  };
}

/** Never widens a scope: where the project was the last one of a list, its id stays there and matches nothing. */
const contentWithout = (content: FeatureContent, project: string): FeatureContent => ({
  ...content,
  project: content.project === project ? '' : content.project,
  targetingProjects: listWithout(content.targetingProjects, project),
  rules: content.rules.map((rule) => ({ ...rule, projects: listWithout(rule.projects, project) })),
});
