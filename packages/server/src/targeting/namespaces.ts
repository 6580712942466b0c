import { randomUUID } from 'node:crypto';
import type {
  BodyOf,
  getNamespaceMemberships,
  listNamespaces,
  Namespace,
  NamespaceExperimentMember,
  postNamespace,
  postNamespaceRotateSeed,
  putNamespace,
  QueryOf,
  ResponseOf,
} from '@halyard/contract';
import type { Paginate } from '../http/index.ts';
import { conflict, invalid, type NewId, quoted } from '../platform/index.ts';
import { type StateReader, stateKind, type Written } from '../record/index.ts';
import { demand, type Requester, visible } from '../requester/index.ts';
import { type ResourceKit, type ResourceService, sent } from '../resources/index.ts';

/** A namespace, known by its id, which is also the name in namespace values. */
export type NamespaceState = Omit<Namespace, 'id'>;

export const namespaceKind = stateKind<NamespaceState>('namespace');

/** An experiment whose latest phase is in a namespace. */
export interface NamespaceMember extends NamespaceExperimentMember {
  readonly project: string;
  readonly archived: boolean;
  /** Features, visual changes or redirects go by it. */
  readonly linked: boolean;
  /** It was stopped, and one of its variations is for everyone. */
  readonly released: boolean;
}

/** Who claims parts of namespaces. Areas whose experiments or rules do fill this port. */
export interface NamespaceUsers {
  /** The experiments whose latest phase is in the namespace, whatever their status. */
  members?(states: StateReader, namespace: string): readonly NamespaceMember[];
  /** Why a namespace cannot be deleted, beside its members, in words that name no object; null: nothing keeps it. */
  whyNamespaceStays?(states: StateReader, namespace: string): string | null;
}

export interface NamespaceService {
  /** Ascending by id. */
  list(requester: Requester, query: QueryOf<typeof listNamespaces>): ResponseOf<typeof listNamespaces>;
  get(requester: Requester, id: string): Namespace;
  /** The experiments in it that the requester may see. */
  memberships(
    requester: Requester,
    id: string,
    query: QueryOf<typeof getNamespaceMemberships>,
  ): ResponseOf<typeof getNamespaceMemberships>;
  create(requester: Requester, input: BodyOf<typeof postNamespace>): Promise<Written<Namespace>>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putNamespace>): Promise<Written<Namespace>>;
  rotateSeed(
    requester: Requester,
    id: string,
    input: BodyOf<typeof postNamespaceRotateSeed>,
  ): Promise<Written<Namespace>>;
  delete(requester: Requester, id: string): Promise<Written<null>>;
}

interface NamespaceTools {
  readonly newId: NewId;
  readonly paginate: Paginate;
  readonly users: readonly NamespaceUsers[];
}

export function namespaceService(kit: ResourceKit, { newId, paginate, users }: NamespaceTools): NamespaceService {
  const namespaces: ResourceService<NamespaceState, Namespace> = kit({
    kind: namespaceKind,
    auditName: 'namespace',
    name: ({ displayName }) => displayName,
    seenIn: () => null,
    show: ({ id, state }) => ({ id, ...state }),
  });
  const demandManaging = (requester: Requester) => demand(requester, 'manageNamespaces', { projects: [] });
  const membersOf = (states: StateReader, id: string) => users.flatMap((user) => user.members?.(states, id) ?? []);

  return {
    list(requester, query) {
      const byId = namespaces.visible(requester).sort((a, b) => (a.id < b.id ? -1 : 1));
      return namespaces.page(requester, 'namespaces', byId, query);
    },
    get: (requester, id) => namespaces.show(requester, namespaces.find(requester, id)),

    memberships(requester, wanted, query) {
      const { id } = namespaces.find(requester, wanted);
      const members = visible(requester, membersOf(requester.states, id), ({ project }) => [project]);
      const { items, fields } = paginate(members, query);
      return { experiments: items.map(showMember), ...fields };
    },

    create: (requester, input) =>
      namespaces.create(requester, (states) => {
        demandManaging(requester);
        const { displayName, description = '', status = 'active', format = 'multiRange', hashAttribute } = input;
        refuseTaken(states, displayName, null);
        const common = { displayName, description, status, format };
        if (format === 'legacy') {
          refuseHashAttribute(hashAttribute);
          return { id: newId('ns-'), state: common };
        }
        if (hashAttribute === undefined) {
          throw invalid(
            'A multiRange namespace needs a hashAttribute: name the attribute whose hash decides, as "id".',
          );
        }
        return { id: newId('ns-'), state: { ...common, hashAttribute, seed: randomUUID() } };
      }),

    update: (requester, wanted, patch) =>
      namespaces.change(requester, wanted, ({ id, state }, states) => {
        demandManaging(requester);
        if (state.format === 'legacy') refuseHashAttribute(patch.hashAttribute);
        const changed = { ...state, ...sent(patch) };
        if (changed.displayName !== state.displayName) refuseTaken(states, changed.displayName, id);
        return changed;
      }),

    rotateSeed: (requester, wanted, { seed = randomUUID() }) =>
      namespaces.change(requester, wanted, ({ state }) => {
        demandManaging(requester);
        if (state.format === 'legacy') {
          throw invalid('A legacy namespace is hashed with its own id: it has no seed that could be changed.');
        }
        return { ...state, seed };
      }),

    delete: (requester, wanted) =>
      namespaces.remove(requester, wanted, ({ id }, states) => {
        demandManaging(requester);
        const why = memberReason(membersOf(states, id)) ?? firstReason(users, states, id);
        if (why !== null) throw conflict(`The namespace ${quoted(id)} cannot be deleted: ${why}.`);
        return {};
      }),
  };
}

const showMember = ({ id, name, trackingKey, status, ranges }: NamespaceMember): NamespaceExperimentMember => ({
  id,
  name,
  trackingKey,
  status,
  ranges,
});

/** @param of id of the namespace that may have the name; null: none may */
function refuseTaken(states: StateReader, displayName: string, of: string | null): void {
  const taken = states.all(namespaceKind).some(({ id, state }) => id !== of && state.displayName === displayName);
  if (taken) throw conflict(`Another namespace is called ${quoted(displayName)} already. Choose another displayName.`);
}

function refuseHashAttribute(hashAttribute: string | undefined): void {
  if (hashAttribute !== undefined) {
    throw invalid('A legacy namespace goes by the hashAttribute of each experiment: leave hashAttribute out.');
  }
}

/** Experiments that serve users, or may serve them again, keep their namespace. */
const keepsIt = ({ archived, linked, status, released }: NamespaceMember): boolean =>
  !archived && linked && !(status === 'stopped' && !released);

function memberReason(members: readonly NamespaceMember[]): string | null {
  const count = members.filter(keepsIt).length;
  if (count === 0) return null;
  return `${count === 1 ? 'an experiment is' : `${count} experiments are`} in it; archive them first`;
}

function firstReason(users: readonly NamespaceUsers[], states: StateReader, id: string): string | null {
  for (const user of users) {
    const why = user.whyNamespaceStays?.(states, id) ?? null;
    if (why !== null) return why;
  }
  return null;
}
