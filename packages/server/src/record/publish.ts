import { sql } from 'kysely';
import { announce, type Clock, conflict, type Db, inParts, type NewId, type Tx, turns } from '../platform/index.ts';
import type { Actor } from './actor.ts';
import { type AuditEntry, writeAudit } from './audit.ts';
import { type EventDraft, writeEvents } from './events.ts';
import type { LiveStates } from './live-states.ts';
import { changesOf } from './parts.ts';
import { type RecordingReader, recordingReader } from './recording-reader.ts';
import { type ConfigurationVersion, readerOf, type StateKind, type StateReader } from './states.ts';

/** One object goes from the state that was read to another. */
export interface StateChange<State = unknown> {
  readonly kind: StateKind<State>;
  readonly id: string;
  /** Null: it is deleted. */
  readonly state: State | null;
  /** False: nobody edited it, so its `dateUpdated` stays (a boundary of its schedule passed, say). */
  readonly edited?: boolean;
}

/** What one transaction makes true, all of it or nothing. */
export interface Publication {
  /**
   * Where a part of the states can be known only under the lock, such as a number that nobody else may take, a function that
   * is called there. Null: no state changes, so there is no new version; the lock is held all the same, for what is judged and
   * written together.
   */
  readonly changes:
    | readonly StateChange[]
    | ((tx: Tx, landed: ConfigurationVersion) => Promise<readonly StateChange[]>)
    | null;
  readonly audit: readonly AuditEntry[];
  /** Made once the version is known, since events carry its instant; without a new one, the version that stays. */
  readonly events?: (landed: ConfigurationVersion) => readonly EventDraft[];
  /** Further rows of the same transaction. */
  readonly also?: (tx: Tx, landed: ConfigurationVersion) => Promise<void>;
}

/** What a judge decided. */
interface Judgement<Result> {
  /** Null: nothing is to be done. */
  readonly publication: Publication | null;
  /** What the judge wants to hand on, such as what it read. */
  readonly result: Result;
}

/** What a write of rows that no payload reads leaves behind beside them. */
interface Trace<Result> {
  readonly audit: readonly AuditEntry[];
  readonly events?: readonly EventDraft[];
  readonly result: Result;
}

/**
 * Decides what is to be published, from the states it reads. It is asked again when something it read has changed before its
 * decision could land, so it must do nothing but decide.
 */
export type Judge<Result> = (states: StateReader) => Promise<Judgement<Result>> | Judgement<Result>;

/** What a write came to. */
export interface Written<Result> {
  /** The version it made; null: it changed nothing that is published. */
  readonly landed: ConfigurationVersion | null;
  readonly result: Result;
}

export interface Recorder {
  /**
   * Publishes what the judge decides, under the next configuration version.
   *
   * @returns the judge's result, and the version
   * @throws Refusal (conflict) when an object that the decision changes was changed by somebody else meanwhile
   */
  publish<Result>(organization: string, actor: Actor, judge: Judge<Result>): Promise<Written<Result>>;
  /**
   * Writes rows that no payload reads, with what they leave behind: in one transaction, and without a new version of the
   * configuration.
   */
  write<Result>(
    organization: string,
    actor: Actor,
    change: (tx: Tx, instant: Date) => Promise<Trace<Result>>,
  ): Promise<Result>;
  /** Publishes the first version of an organization that is made in the same transaction. */
  publishFirst(tx: Tx, organization: string, actor: Actor, publication: Publication): Promise<ConfigurationVersion>;
}

const mostJudgements = 5;

export function createRecorder(tools: { db: Db; clock: Clock; newId: NewId; live: LiveStates }): Recorder {
  const { db, live } = tools;
  const inTurn = turns();

  /** @returns null when what was judged is no longer so */
  const attempt = async <Result>(
    organization: string,
    actor: Actor,
    judge: Judge<Result>,
  ): Promise<Written<Result> | null> => {
    const { version } = await db
      .selectFrom('current_version')
      .select('version')
      .where('organization', '=', organization)
      .executeTakeFirstOrThrow();
    const states = recordingReader(await live.at(organization, version));
    const { publication, result } = await judge(states);
    if (publication === null) return { landed: null, result };
    const committed = await db
      .transaction()
      .execute((tx) => commit(tx, { ...tools, organization, actor, states, publication }));
    if (committed === null) return null;
    const { landed } = committed;
    if (landed !== null) await live.at(organization, landed.version);
    return { landed, result };
  };

  return {
    async publish(organization, actor, judge) {
      const first = await attempt(organization, actor, judge);
      if (first !== null) return first;
      // Those who were overtaken go on one after the other: at once they would overtake each other again and again.
      return inTurn(organization, async () => {
        for (let judgement = 2; judgement <= mostJudgements; judgement++) {
          const written = await attempt(organization, actor, judge);
          if (written !== null) return written;
        }
        throw conflict('Too many changes were made at the same time. Try again.');
      });
    },

    write: (organization, actor, change) =>
      db.transaction().execute(async (tx) => {
        const instant = tools.clock.now();
        const { audit, events = [], result } = await change(tx, instant);
        await writeAudit(tx, tools.newId, organization, actor, instant, audit);
        await writeEvents(tx, organization, actor, instant, events);
        return result;
      }),

    async publishFirst(tx, organization, actor, publication) {
      const at = { version: 0, instant: new Date(0) };
      await tx
        .insertInto('current_version')
        .values({ organization, ...at })
        .execute();
      const states = recordingReader(readerOf({ organization, at, kinds: new Map() }));
      const committed = await commit(tx, { ...tools, organization, actor, states, publication });
      if (committed === null) throw new Error('Nobody else can have changed an organization that does not exist yet.');
      return committed.landed ?? at;
    },
  };
}

interface Commit {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly organization: string;
  readonly actor: Actor;
  readonly states: RecordingReader;
  readonly publication: Publication;
}

/** @returns the version that came about, if one did; null when what was judged is no longer so */
async function commit(tx: Tx, what: Commit): Promise<{ landed: ConfigurationVersion | null } | null> {
  const { clock, newId, organization, actor, states, publication } = what;
  // From here on the writes of one organization are serial; nothing else is locked, so nothing can deadlock.
  const last = await tx
    .selectFrom('current_version')
    .select(['version', 'instant'])
    .where('organization', '=', organization)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const silent = publication.changes === null;
  const version = silent ? last.version : last.version + 1;
  const instant = silent ? clock.now() : new Date(Math.max(clock.now().getTime(), last.instant.getTime() + 1));
  const landed = { version, instant };
  const changes = await changesOf(publication, tx, landed);
  if (last.version !== states.at.version && (await readingsMoved(tx, what, changes))) return null;

  if (!silent) {
    await writeStates(tx, organization, landed, states, changes);
    await tx.updateTable('current_version').set(landed).where('organization', '=', organization).execute();
    await tx
      .insertInto('configuration_version')
      .values({ organization, ...landed })
      .execute();
    await announce(tx, { topic: 'configuration', organization, version });
  }
  await publication.also?.(tx, landed);
  await writeAudit(tx, newId, organization, actor, instant, publication.audit);
  await writeEvents(tx, organization, actor, instant, publication.events?.(landed) ?? []);
  return { landed: silent ? null : landed };
}

/**
 * Whether something that the judge read is different now.
 *
 * @throws Refusal (conflict) when it is one of the objects to be changed
 */
async function readingsMoved(
  tx: Tx,
  { organization, states }: Commit,
  changes: readonly StateChange[],
): Promise<boolean> {
  const moved = await tx
    .selectFrom('published_state')
    .distinctOn(['kind', 'id'])
    .select(['kind', 'id', 'version', 'state'])
    .where('organization', '=', organization)
    .where('version', '>', states.at.version)
    .orderBy('kind')
    .orderBy('id')
    .orderBy('version', 'desc')
    .execute();
  const different = moved.filter((object) => states.wouldReadOtherwise(object));
  for (const { kind, id } of different) {
    const target = changes.find((change) => change.kind.name === kind && change.id === id);
    if (target !== undefined && !states.readAsAbsent(kind, id)) {
      throw conflict(
        `The ${target.kind.label} "${id}" was changed by somebody else at the same moment. Load it again, then repeat your change.`,
      );
    }
  }
  return different.length > 0;
}

async function writeStates(
  tx: Tx,
  organization: string,
  { version, instant }: ConfigurationVersion,
  states: StateReader,
  changes: readonly StateChange[],
): Promise<void> {
  const rows = changes.map(({ kind, id, state, edited = true }) => {
    const before = states.get(kind, id);
    return {
      organization,
      kind: kind.name,
      id,
      version,
      ordinal: before?.ordinal ?? sql<number>`nextval('published_state_ordinal')`,
      state: state === null ? null : JSON.stringify(state),
      date_created: before?.dateCreated ?? instant,
      date_updated: edited || before === null ? instant : before.dateUpdated,
    };
  });
  for (const some of inParts(rows)) {
    await tx.insertInto('published_state').values(some).execute();
    const living = some
      .filter((row) => row.state !== null)
      .map(({ kind, id }) => ({ organization, kind, id, version }));
    if (living.length > 0) {
      await tx
        .insertInto('live_state')
        .values(living)
        .onConflict((on) => on.columns(['organization', 'kind', 'id']).doUpdateSet({ version }))
        .execute();
    }
    for (const { kind, id } of some.filter((row) => row.state === null)) {
      await tx
        .deleteFrom('live_state')
        .where('organization', '=', organization)
        .where('kind', '=', kind)
        .where('id', '=', id)
        .execute();
    }
  }
}
