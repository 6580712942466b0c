import { demand, type Requester } from '../requester/index.ts';

/** Where a feature is delivered beside its own project. */
export interface ProjectTargeting {
  readonly targetingAllProjects: boolean;
  readonly targetingProjects: readonly string[];
}

/** Every project makes a list needless; blanks, repetitions and the feature's own project are dropped from it. */
export function effectiveTargeting(
  project: string,
  wanted: { readonly [Key in keyof ProjectTargeting]?: ProjectTargeting[Key] | undefined },
): ProjectTargeting {
  if (wanted.targetingAllProjects === true) return { targetingAllProjects: true, targetingProjects: [] };
  const listed = (wanted.targetingProjects ?? []).filter((id) => id.trim() !== '' && id !== project);
  return { targetingAllProjects: false, targetingProjects: [...new Set(listed)] };
}

/** Delivering a feature to further projects needs the right to target there; to leave some needs nothing. */
export function checkTargeting(requester: Requester, after: ProjectTargeting, before: ProjectTargeting | null): void {
  if (after.targetingAllProjects && before?.targetingAllProjects !== true)
    demand(requester, 'targetFeatures', { projects: [] });
  for (const project of after.targetingProjects) {
    const known = before !== null && (before.targetingAllProjects || before.targetingProjects.includes(project));
    if (!known) demand(requester, 'targetFeatures', { projects: [project] });
  }
}
