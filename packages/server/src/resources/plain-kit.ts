import { isDeepStrictEqual } from 'node:util';
import { type Db, notFound, type Tx } from '../platform/index.ts';
import { type Plain, type PlainKind, type PlainObjects, plainObjects, type Recorder } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { auditEntry, type Resource } from './kit.ts';

/** A resource that no payload reads: how it is called and told of. */
interface PlainResource<State> extends Resource<State> {
  readonly kind: PlainKind<State>;
  /** What else the transaction of every write does. Null: it did not exist before, or does not any more. */
  also?(tx: Tx, organization: string, id: string, before: State | null, after: State | null): Promise<void>;
}

/**
 * Reads and writes resources that no payload reads. Permissions are asked by whoever uses it: in `decide` where they depend
 * on the object. Writes of one kind in an organization are serial, so `decide` may judge an object among the others.
 */
interface PlainService<State> {
  /** Oldest first. */
  all(organization: string): Promise<Plain<State>[]>;
  /** @throws Refusal (notFound) */
  find(organization: string, id: string): Promise<Plain<State>>;
  create(
    requester: Requester,
    decide: (others: readonly Plain<State>[]) => { id: string; state: State },
  ): Promise<Plain<State>>;
  /** Changes the object to what `decide` says; when that is what it is already, nothing is written. */
  change(
    requester: Requester,
    id: string,
    decide: (before: Plain<State>, others: readonly Plain<State>[]) => State,
  ): Promise<Plain<State>>;
  /** Deletes the object once `decide` has agreed. */
  remove(requester: Requester, id: string, decide: (before: Plain<State>) => void): Promise<void>;
}

export type PlainKit = <State extends object>(resource: PlainResource<State>) => PlainService<State>;

export function plainKit(tools: { db: Db; recorder: Recorder }): PlainKit {
  return (resource) => plainService(resource, tools);
}

function plainService<State extends object>(
  resource: PlainResource<State>,
  { db, recorder }: { db: Db; recorder: Recorder },
): PlainService<State> {
  const { kind } = resource;

  const write = <Before extends Plain<State> | null, After extends Plain<State> | null>(
    { organization, actor }: Requester,
    change: (
      objects: PlainObjects<State>,
      instant: Date,
    ) => Promise<{ id: string; before: Before; after: After } | { unchanged: After }>,
  ): Promise<After> =>
    recorder.write(organization, actor, async (tx, instant) => {
      const objects = plainObjects(tx, kind, organization);
      await objects.lock();
      const changed = await change(objects, instant);
      if ('unchanged' in changed) return { audit: [], result: changed.unchanged };
      const { id, before, after } = changed;
      const [pre, post] = [before?.state ?? null, after?.state ?? null];
      if (after === null) await objects.remove(id);
      else await objects.put(after);
      await resource.also?.(tx, organization, id, pre, post);
      const action = before === null ? 'create' : after === null ? 'delete' : 'update';
      return { audit: [auditEntry(resource, action, id, pre, post)], result: after };
    });

  const required = (object: Plain<State> | null | undefined, id: string): Plain<State> => {
    if (object === null || object === undefined) throw notFound(kind.label, id);
    return object;
  };

  return {
    all: (organization) => plainObjects(db, kind, organization).all(),
    find: async (organization, id) => required(await plainObjects(db, kind, organization).find(id), id),

    create: (requester, decide) =>
      write(requester, async (objects, instant) => {
        const { id, state } = decide(await objects.all());
        return { id, before: null, after: { id, state, dateCreated: instant, dateUpdated: instant } };
      }),

    change: (requester, id, decide) =>
      write(requester, async (objects, instant) => {
        const all = await objects.all();
        const before = required(
          all.find((object) => object.id === id),
          id,
        );
        const state = decide(
          before,
          all.filter((object) => object.id !== id),
        );
        if (isDeepStrictEqual(state, before.state)) return { unchanged: before };
        return { id, before, after: { ...before, state, dateUpdated: instant } };
      }),

    async remove(requester, id, decide) {
      await write(requester, async (objects) => {
        const before = required(await objects.find(id), id);
        decide(before);
        return { id, before, after: null };
      });
    },
  };
}
