import { listWithout, type References } from '../organization/index.ts';
import type { Clock } from '../platform/index.ts';
import type { PublicationPart, StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import type { Revisions } from '../revisions/index.ts';
import { changedFields } from './content-fields.ts';
import { contentOf, type FeatureContent, featureKind } from './feature.ts';
import { landFeatures } from './land-features.ts';
import type { RuleKinds } from './rule-kinds.ts';
import { showContext } from './show.ts';

/** Features name projects (as their own, as targets, in the scopes of rules) and environments. */
export function featureReferences(tools: { revisions: Revisions; kinds: RuleKinds; clock: Clock }): References {
  const landing = (
    states: StateReader,
    by: Requester,
    comment: string,
    changed: (content: FeatureContent) => FeatureContent,
  ): PublicationPart => {
    const changes = states.all(featureKind).flatMap((before) => {
      const content = changed(contentOf(before.state));
      return changedFields(contentOf(before.state), content).length === 0 ? [] : [{ id: before.id, before, content }];
    });
    if (changes.length === 0) return {};
    const record = { event: 'feature.update', comment } as const;
    const { landing } = landFeatures(changes, record, showContext(tools, by, states), tools);
    return tools.revisions.asPublication(states.organization, by.actor, landing);
  };
  return {
    changesOnProjectDeletion: (states, project, by) =>
      landing(states, by, `The project ${project} was deleted`, (content) => withoutProject(content, project)),
    // A deleted environment leaves switches and scopes behind; nothing may come back to life because a new one is called alike.
    changesOnEnvironmentCreation: (states, environment, by) =>
      landing(states, by, `The environment ${environment} was created anew`, (content) =>
        withoutEnvironment(content, environment),
      ),
  };
}

/** A rule that applied nowhere else applies nowhere. */
function withoutEnvironment(content: FeatureContent, environment: string): FeatureContent {
  const { [environment]: _left, ...environments } = content.environments;
  const rules = content.rules.map((rule) => ({
    ...rule,
    environments: rule.environments.filter((id) => id !== environment),
  }));
  return { ...content, environments, rules };
}

/** Never widens a scope: where the project was the last one of a list, its id stays there and matches nothing. */
const withoutProject = (content: FeatureContent, project: string): FeatureContent => ({
  ...content,
  project: content.project === project ? '' : content.project,
  targetingProjects: listWithout(content.targetingProjects, project),
  rules: content.rules.map((rule) => ({ ...rule, projects: listWithout(rule.projects, project) })),
});
