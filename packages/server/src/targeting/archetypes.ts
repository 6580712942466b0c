import type { Archetype, BodyOf, postArchetype, putArchetype } from '@halyard/contract';
import { ownerEmail } from '../access/index.ts';
import {
  type Entitlements,
  listWithout,
  type References,
  requireEnvironments,
  requireProjects,
  seenInProjects,
} from '../organization/index.ts';
import { invalid, type NewId, notFound } from '../platform/index.ts';
import { type Plain, personOf, plainKind } from '../record/index.ts';
import { demand, type Requester, visible } from '../requester/index.ts';
import { type PlainKit, plainChanges, type Resource, sent } from '../resources/index.ts';

/** A made-up user to try features out with. */
interface ArchetypeState {
  readonly name: string;
  readonly description?: string;
  /** The member who made it; `""` where a key did so in its own name. */
  readonly owner: string;
  /** False: its owner alone sees it. */
  readonly isPublic: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly projects?: readonly string[];
  readonly environments?: readonly string[];
}

type StoredArchetype = Plain<ArchetypeState>;

const archetypeKind = plainKind<ArchetypeState>('archetype', 'archetype');

const archetypeResource: Resource<ArchetypeState> = {
  kind: archetypeKind,
  auditName: 'archetype',
  auditsInPast: true,
  name: (state) => state.name,
};

export interface ArchetypeService {
  /** Oldest first. */
  list(requester: Requester): Promise<Archetype[]>;
  get(requester: Requester, id: string): Promise<Archetype>;
  /** @throws Refusal (notFound) when there is none, or the requester may not see it */
  find(requester: Requester, id: string): Promise<StoredArchetype>;
  create(requester: Requester, input: BodyOf<typeof postArchetype>): Promise<Archetype>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putArchetype>): Promise<Archetype>;
  delete(requester: Requester, id: string): Promise<void>;
}

export function archetypeService(
  kit: PlainKit,
  { newId, entitlements }: { newId: NewId; entitlements: Entitlements },
): ArchetypeService {
  const archetypes = kit({ ...archetypeResource, kind: archetypeKind });
  const demandManaging = (requester: Requester, projects: readonly string[] = []) =>
    demand(requester, 'manageArchetype', { projects });

  const find = async (requester: Requester, id: string): Promise<StoredArchetype> =>
    seen(requester, await archetypes.find(requester.organization, id));

  return {
    find,

    async list(requester) {
      const all = await archetypes.all(requester.organization);
      return visible(requester, all, ({ state }) => seenInProjects(state.projects))
        .filter((archetype) => isShared(archetype, requester))
        .map((archetype) => show(archetype, requester));
    },

    get: async (requester, id) => show(await find(requester, id), requester),

    async create(requester, input) {
      entitlements.require('archetypes');
      demandManaging(requester, input.projects);
      const state = { attributes: {}, ...sent(input), owner: personOf(requester.actor)?.id ?? '' };
      check(state, null, requester);
      if (!state.isPublic && state.owner === '') {
        throw invalid('A private archetype needs an owner, and a secret key is none. Send "isPublic": true.');
      }
      return show(await archetypes.create(requester, () => ({ id: newId('sam_'), state })), requester);
    },

    async update(requester, wanted, patch) {
      const changed = await archetypes.change(requester, wanted, (before) => {
        const { state } = seen(requester, before);
        const after = { ...state, ...sent(patch) };
        demandManaging(requester, state.projects);
        demandManaging(requester, after.projects);
        check(after, state, requester);
        if (!after.isPublic && !isOwner(state, requester)) {
          throw invalid('An archetype that becomes private is seen by its owner alone: only the owner can do that.');
        }
        return after;
      });
      return show(changed, requester);
    },

    delete: (requester, id) =>
      archetypes.remove(requester, id, (archetype) =>
        demandManaging(requester, seen(requester, archetype).state.projects),
      ),
  };
}

const isOwner = ({ owner }: ArchetypeState, { actor }: Requester): boolean =>
  owner !== '' && personOf(actor)?.id === owner;

const isShared = ({ state }: StoredArchetype, requester: Requester): boolean =>
  state.isPublic || isOwner(state, requester);

/** @throws Refusal (notFound) when the requester may not see it */
function seen(requester: Requester, archetype: StoredArchetype): StoredArchetype {
  if (requester.maySee(seenInProjects(archetype.state.projects)) && isShared(archetype, requester)) return archetype;
  throw notFound(archetypeKind.label, archetype.id);
}

/** @throws Refusal (invalid) where it names what does not exist, unless it did so before */
function check(after: ArchetypeState, before: ArchetypeState | null, requester: Requester): void {
  const { states } = requester;
  requireProjects(requester, states, after.projects ?? [], before?.projects);
  requireEnvironments(states, after.environments ?? [], before?.environments);
}

function show({ id, state, dateCreated, dateUpdated }: StoredArchetype, { members }: Requester): Archetype {
  const { projects, environments, ...fields } = state;
  return {
    id,
    dateCreated: dateCreated.toISOString(),
    dateUpdated: dateUpdated.toISOString(),
    ...fields,
    ...ownerEmail(members, state.owner),
    ...(projects === undefined ? {} : { projects: [...projects] }),
    ...(environments === undefined ? {} : { environments: [...environments] }),
  };
}

/** Archetypes name projects and environments. */
export const archetypeReferences = (newId: NewId): References => ({
  changesOnProjectDeletion: (_states, project, by) =>
    plainChanges(archetypeResource, by, newId, (state) => without('projects', project, state)),
  changesOnEnvironmentDeletion: (_states, environment, by) =>
    plainChanges(archetypeResource, by, newId, (state) => without('environments', environment, state)),
});

/** The last id stays and matches nothing: nobody gets to see it who could not before. */
function without(list: 'projects' | 'environments', deleted: string, archetype: ArchetypeState): ArchetypeState {
  const named = archetype[list];
  return named === undefined ? archetype : { ...archetype, [list]: listWithout(named, deleted) };
}
