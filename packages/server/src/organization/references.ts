import type { PublicationPart, StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';

/**
 * Who refers to projects and environments. Every module whose objects name them fills this port, so that deleting one
 * leaves no reference that would mean something else than before.
 */
export interface References {
  /** What must change along with the deletion of a project, by whom it is asked. */
  withoutProject(states: StateReader, project: string, by: Requester): PublicationPart;
  /** Why an environment cannot be deleted, in words that name no object; null: nothing keeps it. */
  whyEnvironmentStays?(states: StateReader, environment: string): string | null;
}

/**
 * A list of projects without one that is deleted. The last id stays: it matches nothing any more, whereas an empty list would
 * mean every project.
 */
export function withoutProject(projects: readonly string[], deleted: string): readonly string[] {
  if (!projects.includes(deleted)) return projects;
  const left = projects.filter((project) => project !== deleted);
  return left.length === 0 ? projects : left;
}
