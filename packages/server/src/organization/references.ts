import type { PublicationPart, StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { auditEntry, type Resource } from '../resources/index.ts';

/**
 * Who refers to projects and environments. Every module whose objects name them fills this port, so that deleting one
 * leaves no reference that would mean something else than before.
 */
export interface References {
  /** What must change along with the deletion of a project, by whom it is asked. */
  changesOnProjectDeletion(states: StateReader, project: string, by: Requester): PublicationPart;
  /** What must change along with the creation of an environment: what a deleted one of that id has left behind. */
  changesOnEnvironmentCreation?(states: StateReader, environment: string, by: Requester): PublicationPart;
  /** What must change along with the deletion of an environment, by whom it is asked. */
  changesOnEnvironmentDeletion?(states: StateReader, environment: string, by: Requester): PublicationPart;
  /** Why an environment cannot be deleted, in words that name no object; null: nothing keeps it. */
  whyEnvironmentStays?(states: StateReader, environment: string): string | null;
}

/**
 * A list of projects (or environments) without one that is deleted. The last id stays: it matches nothing any more, whereas an empty list would
 * mean every project.
 */
export function listWithout(projects: readonly string[], deleted: string): readonly string[] {
  if (!projects.includes(deleted)) return projects;
  const left = projects.filter((project) => project !== deleted);
  return left.length === 0 ? projects : left;
}

/** What must change of plain resources that are seen in projects: each drops the deleted one from its list. */
export function listsWithout<State extends { readonly projects?: readonly string[] | undefined }>(
  states: StateReader,
  resource: Resource<State>,
  deleted: string,
): PublicationPart {
  const updates = states.all(resource.kind).flatMap(({ id, state }) => {
    const before = state.projects ?? [];
    const projects = listWithout(before, deleted);
    return projects === before ? [] : [{ id, before: state, after: { ...state, projects } }];
  });
  return {
    changes: updates.map(({ id, after }) => ({ kind: resource.kind, id, state: after })),
    audit: updates.map(({ id, before, after }) => auditEntry(resource, 'update', id, before, after)),
  };
}
