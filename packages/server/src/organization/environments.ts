import type { BodyOf, Environment, postEnvironment, putEnvironment } from '@halyard/contract';
import { invalid, quoted, quotedList } from '../platform/index.ts';
import { type Live, type StateReader, stateKind, together, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Resource, type ResourceKit, type ResourceService, sent } from '../resources/index.ts';
import type { Entitlements } from './entitlements.ts';
import { requireProjects, seenInProjects } from './projects.ts';
import { listsWithout, type References } from './references.ts';

export interface EnvironmentState {
  readonly description: string;
  /** Shown with a switch on lists. */
  readonly toggleOnList: boolean;
  /** What a new feature gets here when its creation does not say. */
  readonly defaultState: boolean;
  /** Projects whose features can be on here; none: all. */
  readonly projects: readonly string[];
  /** The environment that features follow here until they are first changed here. */
  readonly parent?: string;
}

export const environmentKind = stateKind<EnvironmentState>('environment');

const environmentResource: Resource<EnvironmentState> = { kind: environmentKind, auditName: 'environment' };

export type LiveEnvironment = Live<EnvironmentState>;

/** The environments in the order of the organization. */
export const environmentsOf = (states: StateReader): readonly LiveEnvironment[] => states.all(environmentKind);

/**
 * @param before those that were named already, and are not asked about again, since they may have been deleted meanwhile
 * @throws Refusal (invalid) listing those of the ids that name no environment
 */
export function requireEnvironments(states: StateReader, ids: readonly string[], before: readonly string[] = []): void {
  const unknown = ids.filter((id) => !before.includes(id) && states.get(environmentKind, id) === null);
  if (unknown.length > 0)
    throw invalid(`Unknown environment: ${quotedList(unknown)}. Use the ids that GET /v1/environments lists.`);
}

export interface EnvironmentService {
  list(requester: Requester): Environment[];
  create(requester: Requester, input: BodyOf<typeof postEnvironment>): Promise<Written<Environment>>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putEnvironment>): Promise<Written<Environment>>;
  delete(requester: Requester, id: string): Promise<Written<null>>;
}

export function environmentService(
  kit: ResourceKit,
  granted: Entitlements,
  references: () => readonly References[],
): EnvironmentService {
  const environments: ResourceService<EnvironmentState, Environment> = kit({
    ...environmentResource,
    seenIn: ({ state }) => seenInProjects(state.projects),
    show: ({ id, state }) => ({ id, ...state, projects: [...state.projects] }),
  });
  const demandManaging = (requester: Requester, id: string, projects: readonly string[]) =>
    demand(requester, 'manageEnvironments', { projects, environments: [id] });

  return {
    list: (requester) => environments.visible(requester).map((live) => environments.show(requester, live)),
    create: (requester, input) =>
      environments.create(requester, (states) => {
        const { id, parent, ...fields } = input;
        const projects = fields.projects ?? [];
        if (parent !== undefined) granted.require('environment-inheritance');
        demandManaging(requester, id, projects);
        if (states.get(environmentKind, id) !== null) throw invalid(`There is an environment ${quoted(id)} already.`);
        requireProjects(requester, states, projects);
        if (parent !== undefined && states.get(environmentKind, parent) === null) {
          throw invalid(`Unknown parent environment ${quoted(parent)}.`);
        }
        const standard = { description: '', toggleOnList: false, defaultState: false, projects: [] };
        const beside = references().map((holder) => holder.changesOnEnvironmentCreation?.(states, id, requester) ?? {});
        return { id, state: { ...standard, ...sent({ ...fields, parent }) }, beside: together(beside) };
      }),
    update: (requester, wanted, patch) =>
      environments.change(requester, wanted, ({ id, state }, states) => {
        const changed = { ...state, ...sent(patch) };
        demandManaging(requester, id, state.projects);
        demandManaging(requester, id, changed.projects);
        requireProjects(requester, states, changed.projects, state.projects);
        return changed;
      }),
    delete: (requester, id) =>
      environments.remove(requester, id, ({ state }, states) => {
        demandManaging(requester, id, state.projects);
        const why = whyItStays(states, id) ?? firstReason(references(), states, id);
        if (why !== null) throw invalid(`The environment ${quoted(id)} cannot be deleted: ${why}.`);
        return together(
          references().map((holder) => holder.changesOnEnvironmentDeletion?.(states, id, requester) ?? {}),
        );
      }),
  };
}

function whyItStays(states: StateReader, id: string): string | null {
  const others = environmentsOf(states).filter((environment) => environment.id !== id);
  if (others.length === 0) return 'it is the last one of the organization';
  const children = others.filter(({ state }) => state.parent === id).map((child) => child.id);
  return children.length === 0 ? null : `it is the parent of ${children.join(', ')}`;
}

function firstReason(references: readonly References[], states: StateReader, id: string): string | null {
  for (const holder of references) {
    const why = holder.whyEnvironmentStays?.(states, id) ?? null;
    if (why !== null) return why;
  }
  return null;
}

/** Environments name projects. */
export const environmentReferences: References = {
  changesOnProjectDeletion: (states, project) => listsWithout(states, environmentResource, project),
};
