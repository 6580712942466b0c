import type { BodyOf, listProjects, Project, postProject, putProject, ResponseOf } from '@halyard/contract';
import type { Call } from '../http/index.ts';
import { invalid, type NewId, quoted, quotedList } from '../platform/index.ts';
import { type StateReader, stateKind, together } from '../record/index.ts';
import { type ResourceKit, sent } from '../resources/index.ts';
import type { References } from './references.ts';

export interface ProjectState {
  readonly name: string;
  readonly description?: string;
  readonly publicId?: string;
  readonly settings?: NonNullable<Project['settings']>;
}

export const projectKind = stateKind<ProjectState>('project');

/** @throws Refusal (invalid) listing those of the ids that name no project */
export function requireProjects(states: StateReader, ids: readonly string[]): void {
  const unknown = ids.filter((id) => states.get(projectKind, id) === null);
  if (unknown.length > 0)
    throw invalid(`Unknown project: ${quotedList(unknown)}. Use the ids that GET /v1/projects lists.`);
}

export interface ProjectService {
  list(call: Call<typeof listProjects>): ResponseOf<typeof listProjects>;
  get(call: Call, id: string): Project;
  create(call: Call<typeof postProject>): Promise<Project>;
  update(call: Call<typeof putProject>): Promise<Project>;
  delete(call: Call, id: string): Promise<void>;
}

export function projectService(
  kit: ResourceKit,
  newId: NewId,
  references: () => readonly References[],
): ProjectService {
  const projects = kit<ProjectState, Project>({
    kind: projectKind,
    audited: 'project',
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
    list: (call) => {
      const byId = projects.visible(call).sort((a, b) => (a.id < b.id ? -1 : 1));
      return projects.page(call, 'projects', byId, call.query);
    },
    get: (call, id) => projects.show(call, projects.find(call, id)),
    create: (call) =>
      projects.create(call, (states) => {
        call.demand('createProjects', { projects: [] });
        const { body } = call;
        const publicId = chosenPublicId(states, body.publicId, null) ?? freePublicId(states, body.name);
        return { id: newId('prj_'), state: sent({ ...body, publicId }) as ProjectState };
      }),
    update: (call) =>
      projects.change(call, call.params.id, ({ id, state }, states) => {
        call.demand('manageProjects', { projects: [id] });
        return updated(state, call.body, chosenPublicId(states, call.body.publicId, id));
      }),
    delete: (call, id) =>
      projects.remove(call, id, (_project, states) => {
        call.demand('deleteProjects', { projects: [id] });
        return together(references().map((holder) => holder.withoutProject(states, id, call.requester)));
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

/** A public id made from the name: a slug, with a number behind it where that is taken; none where nothing is left of it. */
function freePublicId(states: StateReader, name: string): string | undefined {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (slug === '') return undefined;
  const taken = new Set(states.all(projectKind).map(({ state }) => state.publicId));
  if (!taken.has(slug)) return slug;
  for (let suffix = 1; suffix <= mostSuffixes; suffix++) {
    if (!taken.has(`${slug}-${suffix}`)) return `${slug}-${suffix}`;
  }
  throw invalid(`Too many projects are called ${quoted(name)}. Send a publicId of your own.`);
}
