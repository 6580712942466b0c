import type { LiveChange, StateReader } from '../../record/index.ts';
import { type FeatureState, featureKind } from '../feature.ts';
import { requirementsOf } from '../prerequisites.ts';

/**
 * Which features' definitions can differ after some features have changed: those themselves, whatever requires them, directly
 * or through others, and those whose schedule has reached a boundary.
 */
export class FeatureDependents {
  readonly #dependents = new Map<string, Set<string>>();
  readonly #boundaries = new Map<string, number>();

  constructor(states: StateReader) {
    for (const { id, state } of states.all(featureKind)) this.#add(id, state);
  }

  /** Takes in what a version changed. */
  apply(changes: readonly LiveChange[]): void {
    for (const { kind, id, before, after } of changes) {
      if (kind !== featureKind.name) continue;
      if (before !== null) this.#remove(id, before.state as FeatureState);
      if (after !== null) this.#add(id, after.state as FeatureState);
    }
  }

  /** The given features and everything that requires them. */
  withDependents(ids: Iterable<string>): Set<string> {
    const all = new Set(ids);
    for (const id of all) for (const dependent of this.#dependents.get(id) ?? []) all.add(dependent);
    return all;
  }

  /** The features with a rule whose schedule has a boundary that no landing of their own has passed yet. */
  crossed(instant: Date): string[] {
    return [...this.#boundaries].filter(([, boundary]) => boundary <= instant.getTime()).map(([id]) => id);
  }

  #add(id: string, state: FeatureState): void {
    for (const required of requiredBy(state)) {
      const dependents = this.#dependents.get(required) ?? new Set();
      this.#dependents.set(required, dependents.add(id));
    }
    if (state.nextScheduledUpdate !== null) this.#boundaries.set(id, Date.parse(state.nextScheduledUpdate));
  }

  #remove(id: string, state: FeatureState): void {
    for (const required of requiredBy(state)) this.#dependents.get(required)?.delete(id);
    this.#boundaries.delete(id);
  }
}

/** Also by rules that are switched off: what is compiled once too often comes out the same. */
const requiredBy = (state: FeatureState): string[] => requirementsOf(state, () => true);
