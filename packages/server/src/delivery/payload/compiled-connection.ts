import {
  type Affected,
  featureKind,
  listsUsedBy,
  type PayloadCompiler,
  type PayloadOptions,
  payloadCompiler,
  type RuleKinds,
} from '../../flags/index.ts';
import { type OrganizationStates, readerOf } from '../../record/index.ts';
import { savedGroupKind } from '../../targeting/index.ts';
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
  /** The groups that each of them asks for membership in, where the payload holds their values. */
  readonly #groups = new Map<string, ReadonlySet<string>>();
  /** `"id":[…]` of groups, and the states that they were made of. */
  readonly #values = new Map<string, { readonly state: unknown; readonly text: string }>();
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
      this.#groups.clear();
      this.#values.clear();
      this.#text = null;
    }
    for (const id of affected === 'all' ? (features?.keys() ?? []) : affected) {
      const definition = compiler.feature(id);
      this.#put(id, definition === null ? undefined : `${JSON.stringify(id)}:${JSON.stringify(definition)}`);
      const groups = definition === null || !this.#options.savedGroupReferences ? none : listsUsedBy(definition);
      if (groups.size === 0) this.#groups.delete(id);
      else this.#groups.set(id, groups);
    }
    if (!compiler.servesAnything) {
      this.#text ??= { features: '{}', experiments: '[]', savedGroups: '{}' };
      return this.#text;
    }
    const savedGroups = this.#options.savedGroupReferences ? this.#savedGroups(states, compiler) : undefined;
    if (this.#text?.savedGroups !== savedGroups || this.#text === null) {
      this.#text = {
        features: this.#text?.features ?? `{${inOrder(features?.keys() ?? [], this.#definitions).join(',')}}`,
        experiments: this.#options.includeAutoExperiments ? '[]' : undefined,
        savedGroups,
      };
    }
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

  /** The values of the groups that the payload asks for. What has not changed is not written anew. */
  #savedGroups(states: OrganizationStates, compiler: PayloadCompiler): string {
    const used = new Set<string>();
    for (const groups of this.#groups.values()) for (const id of groups) used.add(id);
    const lists = states.kinds.get(savedGroupKind.name);
    const texts = new Map<string, string>();
    for (const id of used) {
      const text = this.#valuesText(id, lists?.get(id)?.state, compiler);
      if (text !== null) texts.set(id, text);
    }
    for (const id of this.#values.keys()) if (!used.has(id)) this.#values.delete(id);
    return `{${inOrder(lists?.keys() ?? [], texts).join(',')}}`;
  }

  #valuesText(id: string, state: unknown, compiler: PayloadCompiler): string | null {
    const known = this.#values.get(id);
    if (known !== undefined && known.state === state) return known.text;
    const values = compiler.groupValues(id);
    if (values === null) return null;
    const text = `${JSON.stringify(id)}:${JSON.stringify(values)}`;
    this.#values.set(id, { state, text });
    return text;
  }
}

const none: ReadonlySet<string> = new Set();

/** In the order of creation, which is the same in every process. */
function inOrder(ids: Iterable<string>, texts: ReadonlyMap<string, string>): string[] {
  const ordered: string[] = [];
  for (const id of ids) {
    const text = texts.get(id);
    if (text !== undefined) ordered.push(text);
  }
  return ordered;
}
