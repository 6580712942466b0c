import { isDeepStrictEqual } from 'node:util';
import type { LiveEnvironment } from '../organization/index.ts';
import type { FeatureContent } from './feature.ts';
import { environmentView, servingEnvironments } from './scope.ts';

/** Which environments a change of a feature touches, and what of the feature it changes. */
export interface Footprint {
  /** Something beside descriptions, owner and tags differs: the change reaches SDKs, or may. */
  readonly reachesSdks: boolean;
  readonly archives: boolean;
  /** Environments whose payload the change may alter; empty: it is bound to none. */
  readonly environments: readonly string[];
}

/** Fields that only people see. */
const forPeople = new Set<keyof FeatureContent>(['description', 'owner', 'tags', 'neverStale']);

/** Fields with a finer footprint than the whole feature. */
const finer = new Set<keyof FeatureContent>(['rules', 'environments', 'archived']);

/** The fields that differ. */
export const changedFields = (before: FeatureContent, after: FeatureContent): (keyof FeatureContent)[] =>
  (Object.keys(after) as (keyof FeatureContent)[]).filter((key) => !isDeepStrictEqual(before[key], after[key]));

export function footprint(
  before: FeatureContent,
  after: FeatureContent,
  environments: readonly LiveEnvironment[],
): Footprint {
  const changed = changedFields(before, after);
  const serving = union(servingEnvironments(before, environments), servingEnvironments(after, environments));
  const archives = !before.archived && after.archived;
  const whole =
    changed.some((field) => !forPeople.has(field) && !finer.has(field)) || before.archived !== after.archived;
  const touched = union(
    whole ? serving : [],
    changed.includes('rules') ? ruleFootprint(before, after, environments, serving) : [],
    changed.includes('environments') ? switched(before, after, environments) : [],
  );
  const reachesSdks = changed.some((field) => !forPeople.has(field) && !(field === 'archived' && archives));
  return { reachesSdks, archives, environments: inOrder(touched, environments) };
}

const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];

const inOrder = (ids: readonly string[], environments: readonly LiveEnvironment[]) =>
  environments.map(({ id }) => id).filter((id) => ids.includes(id));

/** Where the rules differ and are served; where they are served nowhere, still where they differ. */
function ruleFootprint(
  before: FeatureContent,
  after: FeatureContent,
  environments: readonly LiveEnvironment[],
  serving: readonly string[],
): string[] {
  const [old, fresh] = [before, after].map((content) => {
    const view = environmentView(content, environments);
    return (environment: string) =>
      content.rules
        .filter((rule) => view.applies(rule, environment))
        .map(({ allEnvironments: _all, environments: _some, ...rule }) => rule);
  }) as [(environment: string) => unknown, (environment: string) => unknown];
  const different = environments.map(({ id }) => id).filter((id) => !isDeepStrictEqual(old(id), fresh(id)));
  const served = different.filter((id) => serving.includes(id));
  return served.length > 0 ? served : different;
}

/** The environments in which the feature goes on or off, by its own switch or by one it follows. */
function switched(before: FeatureContent, after: FeatureContent, environments: readonly LiveEnvironment[]): string[] {
  const [old, fresh] = [environmentView(before, environments), environmentView(after, environments)];
  return environments
    .map(({ id }) => id)
    .filter(
      (id) => old.isOn(id) !== fresh.isOn(id) || !isDeepStrictEqual(before.environments[id], after.environments[id]),
    );
}
