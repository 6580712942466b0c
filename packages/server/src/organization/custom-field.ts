import type { CustomField, CustomFieldSection } from '@halyard/contract';
import { type Live, type StateReader, stateKind } from '../record/index.ts';

/** A field that an organization adds to its features or experiments. */
export type CustomFieldState = Omit<CustomField, 'id' | 'dateCreated' | 'dateUpdated'>;

export const customFieldKind = stateKind<CustomFieldState>('custom-field', 'custom field');

/**
 * The fields that objects of a section have in a project, in display order.
 *
 * @param project `""`: objects that are in none, which have only the fields of all projects
 */
export const customFieldsOf = (
  states: StateReader,
  section: CustomFieldSection,
  project: string,
): Live<CustomFieldState>[] =>
  states.all(customFieldKind).filter(({ state }) => state.sections.includes(section) && isOf(state, project));

export const isActive = ({ active }: CustomFieldState): boolean => active !== false;

/** Whether a field is in use in a project. */
export const isOf = (field: CustomFieldState, project: string): boolean =>
  isActive(field) && (isOfAllProjects(field) || field.projects?.includes(project) === true);

export const isOfAllProjects = ({ projects = [] }: CustomFieldState): boolean => projects.length === 0;

/** The values that a field lets choose from. */
export const choicesOf = ({ values = '' }: Pick<CustomFieldState, 'values'>): string[] =>
  values
    .split(',')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '');
