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
  const { isOn, requireProjectScoping } = settingsOf(states).requireRegisteredAttributes;
  if (!isOn) return;
  const unregistered = [...new Set(attributes)].filter((property) => {
    const state = states.get(attributeKind, property)?.state;
    if (state === undefined || state.archived === true) return true;
    const { projects = [] } = state;
    return requireProjectScoping && projects.length > 0 && !projects.includes(project);
  });
  if (unregistered.length > 0) {
    throw invalid(
      `Not among the registered attributes: ${quotedList(unregistered)}. Declare them with POST /v1/attributes, or use registered ones.`,
    );
  }
}
