import { environmentKind, projectKind } from '../../organization/index.ts';
import type { StateReader } from '../../record/index.ts';
import type { PayloadOptions } from './options.ts';

/** Project ids; null: every project, and what is in none. */
export type Projects = ReadonlySet<string> | null;

/** What a list of ids reaches. The id of a deleted project may have stayed in it, and reaches nothing. */
export const existing = (states: StateReader, projects: readonly string[]): ReadonlySet<string> =>
  new Set(projects.filter((project) => states.get(projectKind, project) !== null));

/**
 * The projects a connection serves: its own, within those of its environment. An empty list is no restriction; one whose
 * projects are all deleted lets nothing in.
 *
 * @returns an empty set when the environment lets none of the connection's projects in: nothing at all is served then
 */
export function servedProjects(states: StateReader, { environment, projects }: PayloadOptions): Projects {
  if (projects === null) return null;
  const allowed = states.get(environmentKind, environment)?.state.projects ?? [];
  return common(...[projects, allowed].map((list) => (list.length === 0 ? null : existing(states, list))));
}

/** What is in all of the given scopes. */
export function common(...scopes: readonly Projects[]): Projects {
  return scopes.reduce((met, scope) => {
    if (met === null) return scope;
    if (scope === null) return met;
    return new Set([...met].filter((project) => scope.has(project)));
  }, null);
}

/** Whether a scope reaches anything. */
export const reaches = (scope: Projects): boolean => scope === null || scope.size > 0;
