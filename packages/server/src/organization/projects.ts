import type { BodyOf, listProjects, Project, postProject, putProject, QueryOf, ResponseOf } from '@halyard/contract';
import { invalid, type NewId, quoted, quotedList } from '../platform/index.ts';
import { type StateReader, stateKind, together, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type ResourceKit, sent } from '../resources/index.ts';
import type { References } from './references.ts';

export interface ProjectState {
  readonly name: string;
  readonly description?: string;
  readonly publicId?: string;
  readonly settings?: NonNullable<Project['settings']>;
}

export const projectKind = stateKind<ProjectState>('project');

/** Where something is seen that lists projects: in those, or, where it lists none, in all. */
export const seenInProjects = (projects: readonly string[] | undefined): readonly string[] | null =>
  projects === undefined || projects.length === 0 ? null : projects;

/** Whether there is such a project, and the requester may see what is in it. */
export const seesProject = (requester: Requester, id: string): boolean =>
  requester.states.get(projectKind, id) !== null && requester.maySee([id]);

/**
 * @param before those that were named already, and are not asked about again, since they may have been deleted meanwhile
 * @throws Refusal (invalid) listing those of the ids that name no project that the requester may see
 */
export function requireProjects(
  requester: Requester,
  states: StateReader,
  ids: readonly string[],
  before: readonly string[] = [],
): void {
  const unknown = ids.filter(
    (id) => !before.includes(id) && (states.get(projectKind, id) === null || !requester.maySee([id])),
  );
  if (unknown.length > 0)
    throw invalid(`Unknown project: ${quotedList(unknown)}. Use the ids that GET /v1/projects lists.`);
}

export interface ProjectService {
  list(requester: Requester, query: QueryOf<typeof listProjects>): ResponseOf<typeof listProjects>;
  get(requester: Requester, id: string): Project;
  create(requester: Requester, input: BodyOf<typeof postProject>): Promise<Written<Project>>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putProject>): Promise<Written<Project>>;
  delete(requester: Requester, id: string): Promise<Written<null>>;
}

export function projectService(
  kit: ResourceKit,
  newId: NewId,
  references: () => readonly References[],
): ProjectService {
  const projects = kit<ProjectState, Project>({
    kind: projectKind,
    auditName: 'project',
    name: (state) => state.name,
    seenIn: ({ id }) => [id],
    show: ({ id, dateCreated, dateUpdated, state }) => ({
      id,
      dateCreated: dateCreated.toISOString(),
      dateUpdated: dateUpdated.toISOString(),
      ...state,
    }),
  });
  return {
    list: (requester, query) => {
      const byId = projects.visible(requester).sort((a, b) => (a.id < b.id ? -1 : 1));
      return projects.page(requester, 'projects', byId, query);
    },
    get: (requester, id) => projects.show(requester, projects.find(requester, id)),
    create: (requester, input) =>
      projects.create(requester, (states) => {
        demand(requester, 'createProjects', { projects: [] });
        const publicId = chosenPublicId(states, input.publicId, null) ?? freePublicId(states, input.name);
        return { id: newId('prj_'), state: sent({ ...input, publicId }) as ProjectState };
      }),
    update: (requester, wanted, patch) =>
      projects.change(requester, wanted, ({ id, state }, states) => {
        demand(requester, 'manageProjects', { projects: [id] });
        return updated(state, patch, chosenPublicId(states, patch.publicId, id));
      }),
    delete: (requester, id) =>
      projects.remove(requester, id, (_project, states) => {
        demand(requester, 'deleteProjects', { projects: [id] });
        return together(references().map((holder) => holder.changesOnProjectDeletion(states, id, requester)));
      }),
  };
}

function updated(state: ProjectState, patch: BodyOf<typeof putProject>, publicId: string | undefined): ProjectState {
  const settings = { ...state.settings, ...sent(patch.settings ?? {}) };
  return {
    ...state,
    ...sent({ ...patch, publicId }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  } as ProjectState;
}

function chosenPublicId(states: StateReader, publicId: string | undefined, of: string | null): string | undefined {
  if (publicId === undefined) return undefined;
  const taken = states.all(projectKind).some(({ id, state }) => id !== of && state.publicId === publicId);
  if (taken) throw invalid(`Another project has the publicId ${quoted(publicId)} already. Choose another one.`);
  return publicId;
}

const mostSuffixes = 1_000;
/** With its number it is no longer than one that people may choose. */
const longestSlug = 250;

/** A public id made from the name: a slug, with a number behind it where that is taken; none where nothing is left of it. */
function freePublicId(states: StateReader, name: string): string | undefined {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replaceAll(/^-+|-+$/g, '');
  if (slug === '') return undefined;
  const taken = new Set(states.all(projectKind).map(({ state }) => state.publicId));
  if (!taken.has(slug)) return slug;
  for (let suffix = 1; suffix <= mostSuffixes; suffix++) {
    if (!taken.has(`${slug}-${suffix}`)) return `${slug}-${suffix}`;
  }
  throw invalid(`Too many projects are called ${quoted(name)}. Send a publicId of your own.`);
}
