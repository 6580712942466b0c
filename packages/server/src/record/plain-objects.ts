import { type Db, lockWrites, type Tx } from '../platform/index.ts';

/**
 * A kind of object that no payload reads: it has no versions. The type argument is the shape of its state; states are plain
 * JSON and are never changed in place.
 */
export interface PlainKind<State> {
  readonly name: string;
  /** What people call one of them, in messages. */
  readonly label: string;
  /** Carries the type only. */
  readonly state?: State;
}

export const plainKind = <State>(name: string, label: string): PlainKind<State> => ({ name, label });

/** An object that no payload reads, as it is now. */
export interface Plain<State> {
  readonly id: string;
  readonly dateCreated: Date;
  readonly dateUpdated: Date;
  readonly state: State;
}

/** The plain objects of one kind in an organization. */
export interface PlainObjects<State> {
  /** Oldest first. */
  all(): Promise<Plain<State>[]>;
  find(id: string): Promise<Plain<State> | null>;
  /** From here on, until the transaction ends, nobody else writes objects of this kind: they can be judged together. */
  lock(): Promise<void>;
  put(object: Plain<State>): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Reads and writes plain objects. Writing is for `Recorder.write`, which leaves the trace of it. */
export function plainObjects<State>(db: Db | Tx, kind: PlainKind<State>, organization: string): PlainObjects<State> {
  const rows = () =>
    db
      .selectFrom('plain_object')
      .select(['id', 'state', 'date_created', 'date_updated'])
      .where('organization', '=', organization)
      .where('kind', '=', kind.name);
  const place = { organization, kind: kind.name };

  return {
    all: async () => (await rows().orderBy('date_created').orderBy('id').execute()).map(plainOf<State>),

    async find(id) {
      const row = await rows().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : plainOf<State>(row);
    },

    lock: () => lockWrites(db, kind.name, organization),

    async put({ id, state, dateCreated, dateUpdated }) {
      const written = { state: JSON.stringify(state), date_updated: dateUpdated };
      await db
        .insertInto('plain_object')
        .values({ ...place, id, date_created: dateCreated, ...written })
        .onConflict((on) => on.columns(['organization', 'kind', 'id']).doUpdateSet(written))
        .execute();
    },

    async remove(id) {
      await db
        .deleteFrom('plain_object')
        .where('organization', '=', organization)
        .where('kind', '=', kind.name)
        .where('id', '=', id)
        .execute();
    },
  };
}

interface Row {
  readonly id: string;
  readonly state: unknown;
  readonly date_created: Date;
  readonly date_updated: Date;
}

const plainOf = <State>({ id, state, date_created, date_updated }: Row): Plain<State> => ({
  id,
  state: state as State,
  dateCreated: date_created,
  dateUpdated: date_updated,
});
