import type { Actor, StateReader } from '../record/index.ts';
import type { Beside } from '../resources/index.ts';

/**
 * Who refers to projects and environments. Every module whose objects name them fills this port, so that deleting one
 * leaves no reference that would mean something else than before.
 */
export interface References {
  /** What must change along with the deletion of a project. */
  withoutProject(states: StateReader, project: string, actor: Actor): Beside | Promise<Beside>;
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

/** Several parts of a publication as one. */
export function together(parts: readonly Beside[]): Beside {
  return {
    changes: parts.flatMap((part) => part.changes ?? []),
    audit: parts.flatMap((part) => part.audit ?? []),
    events: (landed) => parts.flatMap((part) => part.events?.(landed) ?? []),
    also: async (tx, landed) => {
      for (const part of parts) await part.also?.(tx, landed);
    },
  };
}
