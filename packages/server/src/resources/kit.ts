import { isDeepStrictEqual } from 'node:util';
import type { Call, Page, PageQuery, Paginate } from '../http/index.ts';
import { notFound } from '../platform/index.ts';
import {
  type AuditEntry,
  type ConfigurationVersion,
  type Judge,
  type Live,
  type PublicationPart,
  type Recorder,
  type StateKind,
  type StateReader,
  together,
} from '../record/index.ts';

/** A plain resource whose states are published: how it is shown, and in which projects it is seen. */
interface Resource<State, Shown> {
  readonly kind: StateKind<State>;
  /** What the audit log calls it. */
  readonly audited: string;
  /** Its name for the audit log, where it has one beside its id. */
  name?(state: State): string;
  /** Ids of the projects in which it is seen; null: an object of all projects. */
  seenIn(live: Live<State>): readonly string[] | null;
  show(live: Live<State>, organization: string): Shown;
  /** Members of its state that the audit log must not keep. */
  readonly secrets?: readonly (keyof State & string)[];
}

export interface ResourceService<State, Shown> {
  /** The objects the caller may see, oldest first. */
  visible(call: Call): Live<State>[];
  page<Key extends string>(
    call: Call,
    key: Key,
    matching: readonly Live<State>[],
    query: PageQuery,
  ): { [K in Key]: Shown[] } & Page<Shown>['fields'];
  /** @throws Refusal (notFound) when there is none, or the caller may not see it */
  find(call: Call, id: string): Live<State>;
  show(call: Call, live: Live<State>): Shown;
  /** Creates what `decide` says, which checks permission and rules. */
  create(call: Call, decide: (states: StateReader) => { id: string; state: State }): Promise<Shown>;
  /** Changes the object to what `decide` says; when that is what it is already, nothing is written. */
  change(call: Call, id: string, decide: (live: Live<State>, states: StateReader) => State): Promise<Shown>;
  /** Deletes the object once `decide` has agreed; it may name what else must change with it. */
  remove(call: Call, id: string, decide: (live: Live<State>, states: StateReader) => PublicationPart): Promise<void>;
}

/** Makes the services of plain resources: each is a declaration plus its own rules. */
export type ResourceKit = <State extends object, Shown>(
  resource: Resource<State, Shown>,
) => ResourceService<State, Shown>;

export function resourceKit(tools: { recorder: Recorder; paginate: Paginate }): ResourceKit {
  return (resource) => resourceService(resource, tools);
}

function resourceService<State extends object, Shown>(
  resource: Resource<State, Shown>,
  { recorder, paginate }: { recorder: Recorder; paginate: Paginate },
): ResourceService<State, Shown> {
  const { kind } = resource;

  const visibleOne = (call: Call, states: StateReader, id: string): Live<State> => {
    const live = states.get(kind, id);
    if (live === null || !call.sees(resource.seenIn(live))) throw notFound(kind.label, id);
    return live;
  };

  /** Publishes, and shows the object as it stands afterwards. */
  const publish = async (call: Call, judge: Judge<{ id: string; before: Live<State> | null; state: State }>) => {
    const { organization, actor } = call.requester;
    const { landed, result } = await recorder.publish(organization, actor, judge);
    call.landed(landed);
    const { id, before, state } = result;
    return resource.show(
      landed === null && before !== null ? before : written(id, before, state, landed),
      organization,
    );
  };

  const written = (
    id: string,
    before: Live<State> | null,
    state: State,
    at: ConfigurationVersion | null,
  ): Live<State> => {
    if (at === null) throw new Error('What did not exist before cannot stay as it was.');
    return {
      kind: kind.name,
      id,
      version: at.version,
      ordinal: before?.ordinal ?? 0,
      dateCreated: before?.dateCreated ?? at.instant,
      dateUpdated: at.instant,
      state,
    };
  };

  return {
    visible: (call) => call.visible(call.requester.states.all(kind), resource.seenIn),

    page(call, key, matching, query) {
      const { items, fields } = paginate(matching, query);
      const shown = { [key]: items.map((live) => this.show(call, live)) } as { [K in typeof key]: Shown[] };
      return { ...shown, ...fields };
    },

    find: (call, id) => visibleOne(call, call.requester.states, id),

    show: (call, live) => resource.show(live, call.requester.organization),

    create: (call, decide) =>
      publish(call, (states) => {
        const { id, state } = decide(states);
        return {
          publication: { changes: [{ kind, id, state }], audit: [auditEntry(resource, 'create', id, null, state)] },
          result: { id, before: null, state },
        };
      }),

    change: (call, id, decide) =>
      publish(call, (states) => {
        const before = visibleOne(call, states, id);
        const state = decide(before, states);
        const result = { id, before, state };
        if (isDeepStrictEqual(state, before.state)) return { publication: null, result };
        return {
          publication: {
            changes: [{ kind, id, state }],
            audit: [auditEntry(resource, 'update', id, before.state, state)],
          },
          result,
        };
      }),

    async remove(call, id, decide) {
      const { organization, actor } = call.requester;
      const { landed } = await recorder.publish(organization, actor, (states) => {
        const live = visibleOne(call, states, id);
        const beside = decide(live, states);
        const removal = {
          changes: [{ kind, id, state: null }],
          audit: [auditEntry(resource, 'delete', id, live.state, null)],
        };
        return { publication: together([removal, beside]), result: null };
      });
      call.landed(landed);
    },
  };
}

function auditEntry<State extends object>(
  { audited, name, secrets = [] }: Resource<State, unknown>,
  action: 'create' | 'update' | 'delete',
  id: string,
  pre: State | null,
  post: State | null,
): AuditEntry {
  const kept = (state: State): object =>
    Object.fromEntries(Object.entries(state).filter(([key]) => !secrets.some((secret) => secret === key)));
  const named = post ?? pre;
  return {
    event: `${audited}.${action}`,
    entity: { object: audited, id, ...(name === undefined || named === null ? {} : { name: name(named) }) },
    ...(pre === null ? {} : { pre: kept(pre) }),
    ...(post === null ? {} : { post: kept(post) }),
  };
}
