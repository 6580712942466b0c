import { type References, withoutProject } from '../organization/index.ts';
import { readerWith } from '../record/index.ts';
import type { Landed } from '../revisions/index.ts';
import { landedFeature, revisedFeature } from './direct-write.ts';
import { featureUpdated } from './events.ts';
import { contentOf, type FeatureContent, featureKind } from './feature.ts';
import { changedFields } from './footprint.ts';
import { type FeatureTools, showContext } from './tools.ts';

/** Features name projects: as their own, as targets, and in the scopes of rules. */
export function featureReferences(tools: Pick<FeatureTools, 'revisions' | 'kinds' | 'clock'>): References {
  return {
    withoutProject(states, project, { actor, members }) {
      const now = tools.clock.now();
      const touched = states.all(featureKind).flatMap((before) => {
        const content = contentWithout(contentOf(before.state), project);
        return changedFields(contentOf(before.state), content).length === 0 ? [] : [{ before, content }];
      });
      const landing = {
        revised: touched.map(({ before, content }) =>
          revisedFeature(before.id, content, before, now, `The project ${project} was deleted`),
        ),
        audit: touched.map(({ before, content }) => ({
          event: 'feature.update',
          entity: { object: 'feature', id: before.id, name: before.id },
          pre: contentOf(before.state),
          post: content,
        })),
        events: (at: Landed) => {
          const landed = touched.map(({ before, content }) => landedFeature(before.id, content, before, at, now));
          const after = readerWith(states, at, landed);
          return touched.flatMap(({ before }, index) => {
            const live = landed[index] ?? before;
            return featureUpdated(
              { live: before, context: showContext(tools, { members }, states) },
              { live, context: showContext(tools, { members }, after) },
            );
          });
        },
      };
      return tools.revisions.asPublication(states.organization, actor, landing);
    },
  };
}

/** Never widens a scope: where the project was the last one of a list, its id stays there and matches nothing. */
const contentWithout = (content: FeatureContent, project: string): FeatureContent => ({
  ...content,
  project: content.project === project ? '' : content.project,
  targetingProjects: withoutProject(content.targetingProjects, project),
  rules: content.rules.map((rule) => ({ ...rule, projects: withoutProject(rule.projects, project) })),
});
