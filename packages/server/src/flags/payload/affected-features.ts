import { customFieldKind, environmentKind, projectKind, settingsKind } from '../../organization/index.ts';
import type { LiveChange, StateReader } from '../../record/index.ts';
import { attributeKind } from '../../targeting/index.ts';
import { type FeatureState, featureKind } from '../feature.ts';
import { requirementsOf } from '../prerequisites.ts';

/** Features whose definitions may differ since the last compilation; `all`: anything may. */
export type Affected = ReadonlySet<string> | 'all';

/** Kinds of which the definition of any feature may read any part. A test holds them against what the compiler reads. */
const readByAll: ReadonlySet<string> = new Set(
  [environmentKind, projectKind, settingsKind, attributeKind].map(({ name }) => name),
);

/**
 * Which features' definitions can differ after something has changed: those of features that changed themselves, of whatever
 * requires them, directly or through others, of those that have a value in a custom field, and of those whose schedule has
 * reached a boundary.
 */
export class AffectedFeatures {
  readonly #dependents = new Map<string, Set<string>>();
  /** Ids of the features that have a value in a custom field, by the field's id. */
  readonly #withValue = new Map<string, Set<string>>();
  readonly #boundaries = new Map<string, number>();

  constructor(states: StateReader) {
    for (const { id, state } of states.all(featureKind)) this.#add(id, state);
  }

  /** Takes in what a version changed, and tells what can differ since the version before. */
  after(changes: readonly LiveChange[], instant: Date): Affected {
    const changed: string[] = [];
    for (const { kind, id, before, after } of changes) {
      if (kind === customFieldKind.name) for (const feature of this.#withValue.get(id) ?? []) changed.push(feature);
      if (kind !== featureKind.name) continue;
      changed.push(id);
      if (before !== null) this.#remove(id, before.state as FeatureState);
      if (after !== null) this.#add(id, after.state as FeatureState);
    }
    if (changes.some(({ kind }) => readByAll.has(kind))) return 'all';
    return this.#withDependents([...changed, ...this.#crossed(instant)]);
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
    for (const required of requiredBy(state)) {
      const dependents = this.#dependents.get(required) ?? new Set();
      this.#dependents.set(required, dependents.add(id));
    }
    for (const field of Object.keys(state.customFields ?? {})) {
      const features = this.#withValue.get(field) ?? new Set();
      this.#withValue.set(field, features.add(id));
    }
    if (state.nextScheduledUpdate !== null) this.#boundaries.set(id, Date.parse(state.nextScheduledUpdate));
  }

  #remove(id: string, state: FeatureState): void {
    for (const required of requiredBy(state)) this.#dependents.get(required)?.delete(id);
    for (const field of Object.keys(state.customFields ?? {})) this.#withValue.get(field)?.delete(id);
    this.#boundaries.delete(id);
  }
}

/** Also by rules that are switched off: what is compiled once too often comes out the same. */
const requiredBy = (state: FeatureState): string[] => requirementsOf(state, () => true);
