import { environmentKind, projectKind, settingsKind } from '../../organization/index.ts';
import type { LiveChange, StateReader } from '../../record/index.ts';
import { attributeKind, type NamespaceState, namespaceKind } from '../../targeting/index.ts';
import { type FeatureState, featureKind } from '../feature.ts';
import { namespacesOf } from '../namespaces.ts';
import { requirementsOf } from '../prerequisites.ts';

/** Features whose definitions may differ since the last compilation; `all`: anything may. */
export type Affected = ReadonlySet<string> | 'all';

/** Kinds of which the definition of any feature may read any part. A test holds them against what the compiler reads. */
const readByAll: ReadonlySet<string> = new Set(
  [environmentKind, projectKind, settingsKind, attributeKind].map(({ name }) => name),
);

/**
 * Which features' definitions can differ after something has changed: those of features that changed themselves, of whatever
 * requires them, directly or through others, of those whose schedule has reached a boundary, and of those with rules in a
 * namespace that divides users differently now.
 */
export class AffectedFeatures {
  readonly #dependents = new Map<string, Set<string>>();
  readonly #boundaries = new Map<string, number>();
  readonly #inNamespace = new Map<string, Set<string>>();

  constructor(states: StateReader) {
    for (const { id, state } of states.all(featureKind)) this.#add(id, state);
  }

  /** Takes in what a version changed, and tells what can differ since the version before. */
  after(changes: readonly LiveChange[], instant: Date): Affected {
    const changed: string[] = [];
    for (const { kind, id, before, after } of changes) {
      if (kind !== featureKind.name) continue;
      changed.push(id);
      if (before !== null) this.#remove(id, before.state as FeatureState);
      if (after !== null) this.#add(id, after.state as FeatureState);
    }
    if (changes.some(({ kind }) => readByAll.has(kind))) return 'all';
    const divided = changes.filter(dividesDifferently).flatMap(({ id }) => [...(this.#inNamespace.get(id) ?? [])]);
    return this.#withDependents([...changed, ...this.#crossed(instant), ...divided]);
  }

  /** The given features and everything that requires them. */
  #withDependents(ids: Iterable<string>): Set<string> {
    const all = new Set(ids);
    for (const id of all) for (const dependent of this.#dependents.get(id) ?? []) all.add(dependent);
    return all;
  }

  /** The features with a rule whose schedule has a boundary that no landing of their own has passed yet. */
  #crossed(instant: Date): string[] {
    return [...this.#boundaries].filter(([, boundary]) => boundary <= instant.getTime()).map(([id]) => id);
  }

  #add(id: string, state: FeatureState): void {
    for (const required of requiredBy(state)) addTo(this.#dependents, required, id);
    for (const namespace of namespacesOf(state)) addTo(this.#inNamespace, namespace, id);
    if (state.nextScheduledUpdate !== null) this.#boundaries.set(id, Date.parse(state.nextScheduledUpdate));
  }

  #remove(id: string, state: FeatureState): void {
    for (const required of requiredBy(state)) this.#dependents.get(required)?.delete(id);
    for (const namespace of namespacesOf(state)) this.#inNamespace.get(namespace)?.delete(id);
    this.#boundaries.delete(id);
  }
}

/** Also by rules that are switched off: what is compiled once too often comes out the same. */
const requiredBy = (state: FeatureState): string[] => requirementsOf(state, () => true);

/** What of a namespace rules are compiled with; how people call it is not part of that. */
function dividesDifferently({ kind, before, after }: LiveChange): boolean {
  if (kind !== namespaceKind.name) return false;
  const [old, fresh] = [before?.state, after?.state] as (NamespaceState | undefined)[];
  return old?.format !== fresh?.format || old?.seed !== fresh?.seed || old?.hashAttribute !== fresh?.hashAttribute;
}

const addTo = (sets: Map<string, Set<string>>, key: string, id: string): void => {
  sets.set(key, (sets.get(key) ?? new Set()).add(id));
};
