import { isDeepStrictEqual } from 'node:util';
import type { Page, PageQuery, Paginate } from '../http/index.ts';
import { notFound, type Tx } from '../platform/index.ts';
import {
  type AuditEntry,
  type Judge,
  type Live,
  liveAfter,
  type Publication,
  type PublicationPart,
  type Recorder,
  type StateKind,
  type StateReader,
  together,
  type Written,
} from '../record/index.ts';
import { type Requester, visible } from '../requester/index.ts';

/** A plain resource whose states are published, as the audit log knows it. */
export interface Resource<State> {
  readonly kind: StateKind<State>;
  /** What the audit log calls it. */
  readonly auditName: string;
  /** Its entries say `created`, `updated` and `deleted`, as those of some kinds do. */
  readonly auditsInPast?: true;
  /** Its name for the audit log, where it has one beside its id. */
  name?(state: State): string;
  /** Members of its state that the audit log must not keep. */
  readonly secrets?: readonly (keyof State & string)[];
}

/** How a plain resource is shown, and in which projects it is seen. */
interface ShownResource<State, Shown> extends Resource<State> {
  /** Ids of the projects in which it is seen; null: an object of all projects. */
  seenIn(live: Live<State>): readonly string[] | null;
  show(live: Live<State>, organization: string): Shown;
  /** What else the transaction of a creation or a change does. */
  also?(tx: Tx, organization: string, after: State): Promise<void>;
}

export interface ResourceService<State, Shown> {
  /** The objects the requester may see, oldest first. */
  visible(requester: Requester): Live<State>[];
  page<Key extends string>(
    requester: Requester,
    key: Key,
    matching: readonly Live<State>[],
    query: PageQuery,
  ): { [K in Key]: Shown[] } & Page<Shown>['fields'];
  /** @throws Refusal (notFound) when there is none, or the requester may not see it */
  find(requester: Requester, id: string): Live<State>;
  show(requester: Requester, live: Live<State>): Shown;
  /** Creates what `decide` says, which checks permission and rules; it may name what else must change with it. */
  create(
    requester: Requester,
    decide: (states: StateReader) => { id: string; state: State; beside?: PublicationPart },
  ): Promise<Written<Shown>>;
  /** Changes the object to what `decide` says; when that is what it is already, nothing is written. */
  change(
    requester: Requester,
    id: string,
    decide: (live: Live<State>, states: StateReader) => State,
  ): Promise<Written<Shown>>;
  /** Deletes the object once `decide` has agreed; it may name what else must change with it. */
  remove(
    requester: Requester,
    id: string,
    decide: (live: Live<State>, states: StateReader) => PublicationPart,
  ): Promise<Written<null>>;
}

/** Makes the services of plain resources: each is a declaration plus its own rules. */
export type ResourceKit = <State extends object, Shown>(
  resource: ShownResource<State, Shown>,
) => ResourceService<State, Shown>;

export function resourceKit(tools: { recorder: Recorder; paginate: Paginate }): ResourceKit {
  return (resource) => resourceService(resource, tools);
}

function resourceService<State extends object, Shown>(
  resource: ShownResource<State, Shown>,
  { recorder, paginate }: { recorder: Recorder; paginate: Paginate },
): ResourceService<State, Shown> {
  const { kind } = resource;

  const visibleOne = (requester: Requester, states: StateReader, id: string): Live<State> => {
    const live = states.get(kind, id);
    if (live === null || !requester.maySee(resource.seenIn(live))) throw notFound(kind.label, id);
    return live;
  };

  const publicationOf = ({ organization }: Requester, id: string, before: State | null, state: State): Publication => ({
    changes: [{ kind, id, state }],
    audit: [auditEntry(resource, before === null ? 'create' : 'update', id, before, state)],
    also: async (tx) => resource.also?.(tx, organization, state),
  });

  /** Publishes, and shows the object as it stands afterwards. */
  const publish = async (
    { organization, actor }: Requester,
    judge: Judge<{ id: string; before: Live<State> | null; state: State }>,
  ): Promise<Written<Shown>> => {
    const { landed, result } = await recorder.publish(organization, actor, judge);
    const { id, before, state } = result;
    const live = landed === null ? before : liveAfter(kind, id, before, state, landed);
    if (live === null) throw new Error('What did not exist before cannot stay as it was.');
    return { landed, result: resource.show(live, organization) };
  };

  return {
    visible: (requester) => visible(requester, requester.states.all(kind), resource.seenIn),

    page(requester, key, matching, query) {
      const { items, fields } = paginate(matching, query);
      const shown = { [key]: items.map((live) => this.show(requester, live)) } as { [K in typeof key]: Shown[] };
      return { ...shown, ...fields };
    },

    find: (requester, id) => visibleOne(requester, requester.states, id),

    show: ({ organization }, live) => resource.show(live, organization),

    create: (requester, decide) =>
      publish(requester, (states) => {
        const { id, state, beside = {} } = decide(states);
        const publication = together([publicationOf(requester, id, null, state), beside]);
        return { publication, result: { id, before: null, state } };
      }),

    change: (requester, id, decide) =>
      publish(requester, (states) => {
        const before = visibleOne(requester, states, id);
        const state = decide(before, states);
        const result = { id, before, state };
        if (isDeepStrictEqual(state, before.state)) return { publication: null, result };
        return { publication: publicationOf(requester, id, before.state, state), result };
      }),

    remove: (requester, id, decide) =>
      recorder.publish(requester.organization, requester.actor, (states) => {
        const live = visibleOne(requester, states, id);
        const beside = decide(live, states);
        const removal = {
          changes: [{ kind, id, state: null }],
          audit: [auditEntry(resource, 'delete', id, live.state, null)],
        };
        return { publication: together([removal, beside]), result: null };
      }),
  };
}

/** Says in the audit log what became of a plain resource. */
export function auditEntry<State extends object>(
  { auditName, auditsInPast, name, secrets = [] }: Resource<State>,
  action: 'create' | 'update' | 'delete',
  id: string,
  pre: State | null,
  post: State | null,
): AuditEntry {
  const kept = (state: State): object =>
    Object.fromEntries(Object.entries(state).filter(([key]) => !secrets.some((secret) => secret === key)));
  const named = post ?? pre;
  return {
    event: `${auditName}.${action}${auditsInPast === true ? 'd' : ''}`,
    entity: { object: auditName, id, ...(name === undefined || named === null ? {} : { name: name(named) }) },
    ...(pre === null ? {} : { pre: kept(pre) }),
    ...(post === null ? {} : { post: kept(post) }),
  };
}
