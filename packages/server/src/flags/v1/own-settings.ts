import type { LiveEnvironment } from '../../organization/index.ts';
import type { FeatureContent } from '../feature.ts';
import { environmentView } from '../scope.ts';

/** The feature with settings of their own in environments that follow others: what they have followed until now. */
export function withOwnSettings(
  feature: FeatureContent,
  ids: Iterable<string>,
  environments: readonly LiveEnvironment[],
): FeatureContent {
  const view = environmentView(feature, environments);
  const following = [...ids].flatMap((id) => {
    const source = view.followed(id);
    return source === null ? [] : [{ id, source }];
  });
  if (following.length === 0) return feature;
  const switches = following.map(({ id }) => [id, { enabled: view.isOn(id) }] as const);
  const withFollowers = (source: string, listed: readonly string[]) => [
    source,
    ...following.filter(({ id, source: followed }) => followed === source && !listed.includes(id)).map(({ id }) => id),
  ];
  return {
    ...feature,
    environments: { ...feature.environments, ...Object.fromEntries(switches) },
    rules: feature.rules.map((rule) => {
      const listed = rule.environments.flatMap((id) => withFollowers(id, rule.environments));
      return listed.length === rule.environments.length ? rule : { ...rule, environments: listed };
    }),
  };
}
