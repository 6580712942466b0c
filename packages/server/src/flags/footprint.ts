import { isDeepStrictEqual } from 'node:util';
import type { LiveEnvironment } from '../organization/index.ts';
import { changedFields, reachesAllServed, reachesSdks } from './content-fields.ts';
import type { FeatureContent } from './feature.ts';
import { environmentView, rulesByEnvironment, servingEnvironments } from './scope.ts';

/** Which environments a change of a feature touches, and what of the feature it changes. */
export interface Footprint {
  /** Something beside descriptions, owner and tags differs: the change reaches SDKs, or may. */
  readonly reachesSdks: boolean;
  readonly archives: boolean;
  /** Environments whose payload the change may alter; empty: it is bound to none. */
  readonly environments: readonly string[];
}

export function footprint(
  before: FeatureContent,
  after: FeatureContent,
  environments: readonly LiveEnvironment[],
): Footprint {
  const changed = changedFields(before, after);
  const serving = union(servingEnvironments(before, environments), servingEnvironments(after, environments));
  const archives = !before.archived && after.archived;
  const touched = union(
    changed.some(reachesAllServed) ? serving : [],
    changed.includes('rules') ? ruleFootprint(before, after, environments, serving) : [],
    changed.includes('environments') ? switched(before, after, environments) : [],
  );
  const felt = changed.some((field) => reachesSdks(field) && !(field === 'archived' && archives));
  return { reachesSdks: felt, archives, environments: inOrder(touched, environments) };
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
  const [old, fresh] = [rulesByEnvironment(before, environments), rulesByEnvironment(after, environments)];
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
