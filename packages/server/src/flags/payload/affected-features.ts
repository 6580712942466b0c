import { isDeepStrictEqual } from 'node:util';
import { customFieldKind, environmentKind, projectKind, settingsKind } from '../../organization/index.ts';
import type { LiveChange, StateReader } from '../../record/index.ts';
import {
  attributeKind,
  groupsNamedIn,
  type NamespaceState,
  namespaceKind,
  type SavedGroupState,
  savedGroupKind,
} from '../../targeting/index.ts';
import { type FeatureState, featureKind } from '../feature.ts';
import { namespacesOf } from '../namespaces.ts';
import { requirementsOf } from '../prerequisites.ts';
import { groupsOf } from '../saved-groups.ts';

/** Features whose definitions may differ since the last compilation; `all`: anything may. */
export type Affected = ReadonlySet<string> | 'all';

/** Kinds of which the definition of any feature may read any part. A test holds them against what the compiler reads. */
const readByAll: ReadonlySet<string> = new Set(
  [environmentKind, projectKind, settingsKind, attributeKind].map(({ name }) => name),
);

/** An object among all objects of an organization. */
const nameOf = (kind: { readonly name: string }, id: string): string => `${kind.name} ${id}`;

/** What the definition of a feature reads beside the feature, one by one. */
const readBy = (state: FeatureState): string[] => [
  // Also by rules that are switched off: what is compiled once too often comes out the same.
  ...requirementsOf(state, () => true).map((id) => nameOf(featureKind, id)),
  ...namespacesOf(state).map((id) => nameOf(namespaceKind, id)),
  ...groupsOf(state).map((id) => nameOf(savedGroupKind, id)),
  ...Object.keys(state.customFields ?? {}).map((id) => nameOf(customFieldKind, id)),
];

/**
 * Which features' definitions can differ after something has changed: those of features that changed themselves, of whatever
 * reads what has changed, directly or through other features and saved groups, and of those whose schedule has reached a
 * boundary.
 */
export class AffectedFeatures {
  /** Ids of the features that read an object. */
  readonly #readers = new Map<string, Set<string>>();
  /** Ids of the saved groups that nest one. */
  readonly #nesting = new Map<string, Set<string>>();
  readonly #boundaries = new Map<string, number>();

  constructor(states: StateReader) {
    for (const { id, state } of states.all(featureKind)) this.#add(id, state);
    for (const { id, state } of states.all(savedGroupKind)) link(this.#nesting, groupsNamedIn(state.condition), id);
  }

  /** Takes in what a version changed, and tells what can differ since the version before. */
  after(changes: readonly LiveChange[], instant: Date): Affected {
    const changed: string[] = [];
    for (const { kind, id, before, after } of changes) {
      if (kind === savedGroupKind.name) this.#nest(id, before?.state, after?.state);
      if (kind !== featureKind.name) continue;
      changed.push(id);
      if (before !== null) this.#remove(id, before.state as FeatureState);
      if (after !== null) this.#add(id, after.state as FeatureState);
    }
    if (changes.some(({ kind }) => readByAll.has(kind))) return 'all';
    const felt = changes.filter(isFelt);
    const groups = felt.filter(({ kind }) => kind === savedGroupKind.name).map(({ id }) => id);
    const reading = [
      ...felt.flatMap(({ kind, id }) => [...this.#readersOf({ name: kind }, id)]),
      ...[...this.#withNesting(groups)].flatMap((id) => [...this.#readersOf(savedGroupKind, id)]),
    ];
    return this.#withDependents([...changed, ...reading, ...this.#crossed(instant)]);
  }

  #readersOf(kind: { readonly name: string }, id: string): ReadonlySet<string> {
    return this.#readers.get(nameOf(kind, id)) ?? new Set();
  }

  /** The given features and everything that requires them. */
  #withDependents(ids: Iterable<string>): Set<string> {
    const all = new Set(ids);
    for (const id of all) for (const dependent of this.#readersOf(featureKind, id)) all.add(dependent);
    return all;
  }

  /** The given saved groups and everything that nests them. */
  #withNesting(ids: Iterable<string>): Set<string> {
    const all = new Set(ids);
    for (const id of all) for (const nesting of this.#nesting.get(id) ?? []) all.add(nesting);
    return all;
  }

  #nest(id: string, before: unknown, after: unknown): void {
    const [old, fresh] = [before, after] as (SavedGroupState | undefined)[];
    unlink(this.#nesting, groupsNamedIn(old?.condition ?? ''), id);
    link(this.#nesting, groupsNamedIn(fresh?.condition ?? ''), id);
  }

  /** The features with a rule whose schedule has a boundary that no landing of their own has passed yet. */
  #crossed(instant: Date): string[] {
    return [...this.#boundaries].filter(([, boundary]) => boundary <= instant.getTime()).map(([id]) => id);
  }

  #add(id: string, state: FeatureState): void {
    link(this.#readers, readBy(state), id);
    if (state.nextScheduledUpdate !== null) this.#boundaries.set(id, Date.parse(state.nextScheduledUpdate));
  }

  #remove(id: string, state: FeatureState): void {
    unlink(this.#readers, readBy(state), id);
    this.#boundaries.delete(id);
  }
}

function link(links: Map<string, Set<string>>, from: Iterable<string>, to: string): void {
  for (const name of from) links.set(name, (links.get(name) ?? new Set()).add(to));
}

function unlink(links: Map<string, Set<string>>, from: Iterable<string>, to: string): void {
  for (const name of from) {
    const linked = links.get(name);
    linked?.delete(to);
    if (linked?.size === 0) links.delete(name);
  }
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
