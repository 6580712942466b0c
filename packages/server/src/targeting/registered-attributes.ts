import { settingsOf } from '../organization/index.ts';
import { invalid, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import { attributeKind } from './attributes.ts';

/**
 * Where the organization asks for it, everything that targets or buckets must name declared attributes.
 *
 * @param project project of the object that names them, `""` for none
 * @throws Refusal (invalid) listing the attributes that are not declared, archived, or of other projects only
 */
export function requireRegistered(states: StateReader, attributes: Iterable<string>, project: string): void {
  const unregistered = unregisteredOf(states, attributes, [project]);
  if (unregistered.length > 0) throw invalid(notRegistered(unregistered));
}

/**
 * Those of the attributes that an object must not name.
 *
 * @param projects the object's own; of one in none, none
 */
export function unregisteredOf(
  states: StateReader,
  attributes: Iterable<string>,
  projects: readonly string[],
): string[] {
  const { isOn, requireProjectScoping } = settingsOf(states).requireRegisteredAttributes;
  if (!isOn) return [];
  return [...new Set(attributes)].filter((property) => {
    const state = states.get(attributeKind, property)?.state;
    if (state === undefined || state.archived === true) return true;
    const { projects: of = [] } = state;
    if (!requireProjectScoping || of.length === 0) return false;
    return projects.length === 0 || !projects.every((project) => of.includes(project));
  });
}

export const notRegistered = (attributes: readonly string[]): string =>
  `Not among the registered attributes: ${quotedList(attributes)}. Declare them with POST /v1/attributes, or use registered ones.`;
