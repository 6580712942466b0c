import { isDeepStrictEqual } from 'node:util';
import { customFieldKind, environmentKind, projectKind, settingsKind } from '../../organization/index.ts';
import type { Grouping, LiveChange, StateReader } from '../../record/index.ts';
import {
  attributeKind,
  byNamedGroup,
  type NamespaceState,
  namespaceKind,
  type SavedGroupState,
  savedGroupKind,
} from '../../targeting/index.ts';
import { type FeatureState, featureKind } from '../feature.ts';
import { byNamespace } from '../namespaces.ts';
import { byRequirement } from '../prerequisites.ts';
import { byGroup } from '../saved-groups.ts';
import { withBoundaryBy } from '../scheduled-changes.ts';

/** Features whose definitions may differ since the last compilation; `all`: anything may. */
export type Affected = ReadonlySet<string> | 'all';

/** Kinds of which the definition of any feature may read any part. A test holds them against what the compiler reads. */
const readByAll: ReadonlySet<string> = new Set(
  [environmentKind, projectKind, settingsKind, attributeKind].map(({ name }) => name),
);

const byCustomField: Grouping<FeatureState> = {
  kind: featureKind,
  groupsOf: ({ customFields = {} }) => Object.keys(customFields),
};

/** Of the other kinds that definitions read: which features read an object. */
const readers: ReadonlyMap<string, Grouping<FeatureState>> = new Map([
  [featureKind.name, byRequirement],
  [savedGroupKind.name, byGroup],
  [namespaceKind.name, byNamespace],
  [customFieldKind.name, byCustomField],
]);

/**
 * Which features' definitions can differ after something has changed: those of features that changed themselves, of whatever
 * reads what has changed, directly or through other features and saved groups, and of those whose schedule has reached a
 * boundary that no landing of their own has passed yet.
 *
 * @param states as they are once it has changed
 */
export function affectedFeatures(states: StateReader, changes: readonly LiveChange[]): Affected {
  if (changes.some(({ kind }) => readByAll.has(kind))) return 'all';
  const affected = new Set(withBoundaryBy(states.at.instant, states).map(({ id }) => id));
  for (const { kind, id } of changes) if (kind === featureKind.name) affected.add(id);
  for (const { kind, id } of withNesting(changes.filter(isFelt), states)) {
    const grouping = readers.get(kind);
    if (grouping !== undefined) for (const feature of states.group(grouping, id)) affected.add(feature.id);
  }
  for (const id of affected) for (const dependent of states.group(byRequirement, id)) affected.add(dependent.id);
  return affected;
}

/** Works out who reads what, so that the first change need not wait for it. */
export function prepareAffected(states: StateReader): void {
  for (const grouping of readers.values()) states.groups(grouping);
  states.groups(byNamedGroup);
}

/** What has changed, and the saved groups that nest what has. */
function withNesting(
  changes: readonly LiveChange[],
  states: StateReader,
): readonly { readonly kind: string; readonly id: string }[] {
  const groups = new Set(changes.flatMap(({ kind, id }) => (kind === savedGroupKind.name ? id : [])));
  for (const id of groups) for (const nesting of states.group(byNamedGroup, id)) groups.add(nesting.id);
  return [
    ...changes.filter(({ kind }) => kind !== savedGroupKind.name),
    ...[...groups].map((id) => ({ kind: savedGroupKind.name, id })),
  ];
}

/** Of some objects not everything is compiled: how people call a namespace or a saved group, for one, is not. */
function isFelt({ kind, before, after }: LiveChange): boolean {
  if (kind === namespaceKind.name) {
    const [old, fresh] = [before?.state, after?.state] as (NamespaceState | undefined)[];
    return old?.format !== fresh?.format || old?.seed !== fresh?.seed || old?.hashAttribute !== fresh?.hashAttribute;
  }
  if (kind === savedGroupKind.name) {
    const [old, fresh] = [before?.state, after?.state] as (SavedGroupState | undefined)[];
    return !isDeepStrictEqual(compiledOf(old), compiledOf(fresh));
  }
  return true;
}

const compiledOf = (group: SavedGroupState | undefined) =>
  group && [group.type, group.condition, group.attributeKey, group.values, group.useEmptyListGroup];
