import type {
  BodyOf,
  CustomField,
  createCustomField,
  listCustomFields,
  QueryOf,
  updateCustomField,
} from '@halyard/contract';
import { invalid, notFound, quoted } from '../platform/index.ts';
import { personOf, type StateReader, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Resource, type ResourceKit, type ResourceService, sent } from '../resources/index.ts';
import { type CustomFieldState, choicesOf, customFieldKind, isActive, isOf, isOfAllProjects } from './custom-field.ts';
import type { Entitlements } from './entitlements.ts';
import { requireProjects, seesProject } from './projects.ts';
import { listsWithout, type References } from './references.ts';

const customFieldResource: Resource<CustomFieldState> = {
  kind: customFieldKind,
  auditName: 'customField',
  name: (state) => state.name,
};

export interface CustomFieldService {
  /** In display order; of a project, those that are in use there. */
  list(requester: Requester, query: QueryOf<typeof listCustomFields>): CustomField[];
  /** @throws Refusal (notFound) also where it is switched off */
  get(requester: Requester, id: string): CustomField;
  create(requester: Requester, input: BodyOf<typeof createCustomField>): Promise<Written<CustomField>>;
  update(requester: Requester, id: string, patch: BodyOf<typeof updateCustomField>): Promise<Written<CustomField>>;
  delete(requester: Requester, id: string): Promise<Written<null>>;
}

export function customFieldService(kit: ResourceKit, granted: Entitlements): CustomFieldService {
  const fields: ResourceService<CustomFieldState, CustomField> = kit({
    ...customFieldResource,
    // Whoever edits a feature must know them, and they say nothing of a project but its id.
    seenIn: () => null,
    show: ({ id, dateCreated, dateUpdated, state }) => ({
      id,
      dateCreated: dateCreated.toISOString(),
      dateUpdated: dateUpdated.toISOString(),
      ...state,
    }),
  });
  const demandManaging = (requester: Requester) => demand(requester, 'manageCustomFields', { projects: [] });

  return {
    list(requester, { projectId }) {
      const all = fields.visible(requester);
      const known = projectId === undefined || seesProject(requester, projectId);
      return all
        .filter(({ state }) => known && (projectId === undefined || isOf(state, projectId)))
        .map((live) => fields.show(requester, live));
    },

    get(requester, id) {
      const live = fields.find(requester, id);
      if (!isActive(live.state)) throw notFound(customFieldKind.label, id);
      return fields.show(requester, live);
    },

    create: (requester, { id, ...input }) =>
      fields.create(requester, (states) => {
        granted.require('custom-metadata');
        demandManaging(requester);
        if (states.get(customFieldKind, id) !== null) throw invalid(`There is a custom field ${quoted(id)} already.`);
        const creator = personOf(requester.actor)?.id;
        const state = judged({ ...(sent({ ...input, creator }) as CustomFieldState), active: true }, id, states);
        requireProjects(requester, states, state.projects ?? []);
        return { id, state };
      }),

    update: (requester, wanted, patch) =>
      fields.change(requester, wanted, ({ id, state: before }, states) => {
        const changed = { ...before, ...sent(patch) } as CustomFieldState;
        if (enlarges(changed, before)) granted.require('custom-metadata');
        demandManaging(requester);
        requireProjects(requester, states, changed.projects ?? [], before.projects);
        return judged(changed, id, states);
      }),

    delete: (requester, id) =>
      fields.remove(requester, id, () => {
        demandManaging(requester);
        return {};
      }),
  };
}

/** Whether a change brings the field to objects that did not have it. */
function enlarges(after: CustomFieldState, before: CustomFieldState): boolean {
  if (!isActive(after)) return false;
  if (!isActive(before)) return true;
  if (after.sections.some((section) => !before.sections.includes(section))) return true;
  if (isOfAllProjects(before)) return false;
  return isOfAllProjects(after) || after.projects?.some((id) => before.projects?.includes(id) !== true) === true;
}

const withChoices = new Set<CustomFieldState['type']>(['enum', 'multiselect']);

/**
 * A field as it is stored: with choices where they go with its type.
 *
 * @throws Refusal (invalid) where choices are missing, or people could not tell it from another one
 */
function judged({ values, ...field }: CustomFieldState, id: string, states: StateReader): CustomFieldState {
  const state = {
    ...field,
    ...(values !== undefined && withChoices.has(field.type) ? { values } : {}),
    sections: [...new Set(field.sections)],
  };
  if (withChoices.has(state.type) && choicesOf(state).length === 0) {
    throw invalid(`A custom field of the type ${state.type} needs "values": the choices, separated by commas.`);
  }
  const namesake = isActive(state) ? namesakeOf(state, id, states) : undefined;
  if (namesake !== undefined) {
    throw invalid(
      `The active custom field ${quoted(namesake.id)} is called ${quoted(state.name)} as well, and shares a section with this one.`,
    );
  }
  return state;
}

const namesakeOf = ({ name, sections }: CustomFieldState, id: string, states: StateReader) =>
  states
    .all(customFieldKind)
    .find(
      (other) =>
        other.id !== id &&
        isActive(other.state) &&
        other.state.name === name &&
        other.state.sections.some((section) => sections.includes(section)),
    );

/** Custom fields name projects. */
export const customFieldReferences: References = {
  changesOnProjectDeletion: (states, project) => listsWithout(states, customFieldResource, project),
};
