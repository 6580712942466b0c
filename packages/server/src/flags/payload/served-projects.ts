import { environmentKind } from '../../organization/index.ts';
import type { StateReader } from '../../record/index.ts';
import type { PayloadOptions } from './options.ts';

/** Project ids; null: every project, and what is in none. */
export type Projects = ReadonlySet<string> | null;

/**
 * The projects a connection serves: its own, within those of its environment.
 *
 * @returns an empty set when the environment lets none of the connection's projects in: nothing at all is served then
 */
export function servedProjects(states: StateReader, { environment, projects }: PayloadOptions): Projects {
  if (projects === null) return null;
  const allowed = states.get(environmentKind, environment)?.state.projects ?? [];
  if (projects.length === 0) return allowed.length === 0 ? null : new Set(allowed);
  if (allowed.length === 0) return new Set(projects);
  return new Set(projects.filter((project) => allowed.includes(project)));
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
