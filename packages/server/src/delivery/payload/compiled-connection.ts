import { type Affected, featureKind, type PayloadOptions, payloadCompiler, type RuleKinds } from '../../flags/index.ts';
import { type OrganizationStates, readerOf } from '../../record/index.ts';
import type { PayloadText } from '../serving/index.ts';

/**
 * The payload of one connection, feature by feature, so that a change of one compiles that one and what depends on it.
 * What comes out is the same as compiling everything: a test holds the two against each other.
 */
export class CompiledConnection {
  readonly #options: PayloadOptions;
  readonly #kinds: RuleKinds;
  /** `"id":{…}` of each feature that is in the payload. */
  readonly #definitions = new Map<string, string>();
  #text: PayloadText | null = null;

  constructor(options: PayloadOptions, kinds: RuleKinds) {
    this.#options = options;
    this.#kinds = kinds;
  }

  /** @returns the very same object as before where nothing came out differently */
  compile(states: OrganizationStates, affected: Affected): PayloadText {
    const compiler = payloadCompiler(readerOf(states), this.#kinds, this.#options);
    const features = states.kinds.get(featureKind.name);
    if (affected === 'all') {
      this.#definitions.clear();
      this.#text = null;
    }
    for (const id of affected === 'all' ? (features?.keys() ?? []) : affected) {
      const definition = compiler.feature(id);
      this.#put(id, definition === null ? undefined : `${JSON.stringify(id)}:${JSON.stringify(definition)}`);
    }
    this.#text ??= compiler.servesAnything
      ? {
          features: `{${this.#inOrder(features?.keys() ?? []).join(',')}}`,
          experiments: this.#options.includeAutoExperiments ? '[]' : undefined,
          savedGroups: this.#options.savedGroupReferences ? '{}' : undefined,
        }
      : { features: '{}', experiments: '[]', savedGroups: '{}' };
    return this.#text;
  }

  /** The ids of the features that are in the payload. */
  ids(): ReadonlySet<string> {
    return new Set(this.#definitions.keys());
  }

  #put(id: string, definition: string | undefined): void {
    if (this.#definitions.get(id) === definition) return;
    this.#text = null;
    if (definition === undefined) this.#definitions.delete(id);
    else this.#definitions.set(id, definition);
  }

  /** In the order of creation, which is the same in every process. */
  #inOrder(ids: Iterable<string>): string[] {
    const texts: string[] = [];
    for (const id of ids) {
      const text = this.#definitions.get(id);
      if (text !== undefined) texts.push(text);
    }
    return texts;
  }
}
