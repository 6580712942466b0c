import type { LiveEnvironment } from '../organization/index.ts';
import type { FeatureContent } from './feature.ts';
import { environmentView } from './scope.ts';

/** The feature with settings of its own in environments that follow others: they begin as what has been followed until now. */
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

/**
 * The feature with switches as they are asked for, of environments that exist. One that is so already, be it by following
 * another, stays as it is stored; so does, where one is to be different, what follows it and is asked to stay.
 */
export function withSwitches(
  feature: FeatureContent,
  asked: ReadonlyMap<string, boolean>,
  environments: readonly LiveEnvironment[],
): FeatureContent {
  const { isOn } = environmentView(feature, environments);
  const different = [...asked].filter(([environment, enabled]) => isOn(environment) !== enabled);
  if (different.length === 0) return feature;
  const own = withOwnSettings(
    feature,
    different.map(([environment]) => environment),
    environments,
  );
  const switches = Object.fromEntries(different.map(([environment, enabled]) => [environment, { enabled }]));
  return withSwitches({ ...own, environments: { ...own.environments, ...switches } }, asked, environments);
}
