import { sql } from 'kysely';
import { type Db, inParts, type NewId, type Tx } from '../platform/index.ts';
import type {
  Actor,
  ConfigurationVersion,
  EventDraft,
  Publication,
  Recorder,
  StateChange,
  StateReader,
} from '../record/index.ts';
import type { Requester } from '../requester/index.ts';

/** The comment of revisions that direct writes make, unless they say otherwise. */
export const directWriteComment = 'Created via REST API';

/** A kind of object whose live state changes only by landing a revision. */
export interface RevisionKind {
  readonly name: string;
  /** Prefix of its revisions' ids. */
  readonly idPrefix: string;
  /** The status of a revision that has landed. */
  readonly landed: 'published' | 'merged';
}

/** The revision that a live object stands at; part of its state, so that reading it asks for nothing more. */
export interface LiveRevision {
  readonly id: string;
  readonly version: number;
  readonly comment: string;
  readonly createdBy: Actor;
  readonly publishedBy: Actor;
}

/** One revision of an object, as it is stored. */
export interface Revision<Content> {
  readonly id: string;
  readonly version: number;
  readonly baseVersion: number;
  readonly status: string;
  readonly comment: string;
  readonly content: Content;
  readonly createdBy: Actor;
  readonly publishedBy: Actor | null;
  readonly dateUpdated: Date;
  readonly datePublished: Date | null;
}

/** One object takes on new content: a draft that is made and landed in one go. */
interface RevisedChange<Content> {
  readonly kind: RevisionKind;
  readonly id: string;
  /** Version of the live revision that the content was made from; 0: the object is new. */
  readonly baseVersion: number;
  /** The whole content, of which the revision holds a copy. */
  readonly content: Content;
  readonly comment: string;
  /** The id of the landed revision whose content this restores. */
  readonly revertedFrom?: string | undefined;
  /** The state that goes live. */
  readonly state: (revision: LiveRevision) => StateChange;
}

/**
 * New content of an object that waits as a draft: it is numbered like every revision, and changes nothing that is live. Where
 * the object lands at the same time, the draft is based on what lands.
 */
type DraftedChange<Content> = Omit<RevisedChange<Content>, 'state' | 'revertedFrom'>;

/** What lands together. */
export interface Landing<Content> extends Omit<Publication, 'changes' | 'events'> {
  /** None: drafts are made, and nothing lands. */
  readonly revised: readonly RevisedChange<Content>[];
  readonly drafts?: readonly DraftedChange<Content>[];
  /** @param drafts the draft revisions, in the order in which they were asked for */
  readonly events?: (landed: Landed, drafts: readonly Revision<Content>[]) => readonly EventDraft[];
}

/** What came about: the version, and the live revision of each object that landed. */
export interface Landed extends ConfigurationVersion {
  revision(kind: RevisionKind, id: string): LiveRevision;
}

/** Decides what lands (null: nothing); like every judge, it may be asked again and does nothing but decide. */
type LandingJudge<Content, Result> = (
  states: StateReader,
) => Promise<{ landing: Landing<Content> | null; result: Result }>;

export interface Revisions {
  /**
   * The one way in which a revisioned object changes: create, update, toggle, archive, publish, revert and what time does
   * all come through here, and become true together or not at all. So do drafts, with what they are made from or alone.
   */
  land<Content, Result>(
    by: Pick<Requester, 'organization' | 'actor'>,
    judge: LandingJudge<Content, Result>,
  ): Promise<{ landed: Landed | null; result: Result }>;
  /** The same as part of a larger publication: of a project's deletion, say. */
  asPublication<Content>(organization: string, actor: Actor, landing: Landing<Content>): Publication;
  /** The revisions of an object, newest first. */
  list<Content>(organization: string, kind: RevisionKind, id: string): Promise<Revision<Content>[]>;
  /** The revision of an object that has that number; null: there is none. */
  find<Content>(
    organization: string,
    kind: RevisionKind,
    id: string,
    version: number,
  ): Promise<Revision<Content> | null>;
  /** When the newest open draft of each object was last changed; those without one are not in the answer. */
  newestDrafts(organization: string, kind: RevisionKind, ids: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Removes the revisions of an object that is deleted. */
  forget(tx: Tx, organization: string, kind: RevisionKind, id: string): Promise<void>;
}

/** The statuses of drafts that can still land. An index of the table knows them, too. */
const openStatuses = ['draft', 'pending-review', 'approved', 'changes-requested'];

/** A landing as a publication, whose revisions get their numbers when it lands. */
interface Numbered {
  readonly publication: Publication;
  /** What came about, once it has landed. */
  readonly landedAt: (at: ConfigurationVersion) => Landed;
}

export function revisionEngine(tools: { db: Db; newId: NewId; recorder: Recorder }): Revisions {
  const { db, newId, recorder } = tools;

  const publicationOf = <Content>(organization: string, actor: Actor, landing: Landing<Content>): Numbered => {
    const { revised, drafts = [], audit, events, also } = landing;
    const drafted: Revision<Content>[] = [];
    const revisions = new Map<string, LiveRevision>();
    const landedAt = (at: ConfigurationVersion): Landed => ({
      ...at,
      revision(kind, id) {
        const revision = revisions.get(keyOf(kind.name, id));
        if (revision === undefined) throw new Error(`The landing holds no revision of the ${kind.name} ${id}.`);
        return revision;
      },
    });
    const changes = async (tx: Tx) => {
      const nextVersion = await versionCounter(tx, organization, revised);
      return revised.map(({ kind, id, comment, state }) => {
        const version = nextVersion(kind, id);
        const revision = { id: newId(kind.idPrefix), version, comment, createdBy: actor, publishedBy: actor };
        revisions.set(keyOf(kind.name, id), revision);
        return state(revision);
      });
    };
    /** They are numbered after what lands with them. */
    const insertDrafts = async (tx: Tx, { instant }: ConfigurationVersion): Promise<void> => {
      if (drafts.length === 0) return;
      const nextVersion = await versionCounter(tx, organization, drafts);
      const rows = drafts.map(({ kind, id, baseVersion, content, comment }) => {
        const revision: Revision<Content> = {
          id: newId(kind.idPrefix),
          version: nextVersion(kind, id),
          baseVersion: revisions.get(keyOf(kind.name, id))?.version ?? baseVersion,
          status: 'draft',
          comment,
          content,
          createdBy: actor,
          publishedBy: null,
          dateUpdated: instant,
          datePublished: null,
        };
        drafted.push(revision);
        return rowOf(organization, kind, id, revision);
      });
      await insertRevisions(tx, rows);
    };
    const publication: Publication = {
      changes: revised.length === 0 ? null : changes,
      audit,
      ...(events === undefined ? {} : { events: (at) => events(landedAt(at), drafted) }),
      async also(tx, at) {
        await insertLanded(tx, organization, revised, landedAt(at));
        await insertDrafts(tx, at);
        await also?.(tx, at);
      },
    };
    return { publication, landedAt };
  };

  /** @param version undefined: every one */
  const read = async <Content>(
    organization: string,
    kind: RevisionKind,
    id: string,
    version?: number,
  ): Promise<Revision<Content>[]> => {
    let query = db
      .selectFrom('revision')
      .selectAll()
      .where('organization', '=', organization)
      .where('kind', '=', kind.name)
      .where('entity', '=', id);
    if (version !== undefined) query = query.where('version', '=', version);
    const rows = await query.orderBy('version', 'desc').execute();
    return rows.map((row) => ({
      id: row.id,
      version: row.version,
      baseVersion: row.base_version,
      status: row.status,
      comment: row.comment,
      content: row.content as Content,
      createdBy: row.created_by as Actor,
      publishedBy: row.published_by as Actor | null,
      dateUpdated: row.date_updated,
      datePublished: row.date_published,
    }));
  };

  return {
    async land(by, judge) {
      const { landed, result: judged } = await recorder.publish(by.organization, by.actor, async (states) => {
        const { landing, result } = await judge(states);
        const numbered = landing === null ? null : publicationOf(by.organization, by.actor, landing);
        return { publication: numbered?.publication ?? null, result: { result, numbered } };
      });
      const { result, numbered } = judged;
      return { landed: landed === null || numbered === null ? null : numbered.landedAt(landed), result };
    },

    asPublication: (organization, actor, landing) => publicationOf(organization, actor, landing).publication,

    list: (organization, kind, id) => read(organization, kind, id),

    async find<Content>(organization: string, kind: RevisionKind, id: string, version: number) {
      if (!Number.isSafeInteger(version)) return null;
      const [revision] = await read<Content>(organization, kind, id, version);
      return revision ?? null;
    },

    async newestDrafts(organization, kind, ids) {
      const { rows } = await sql<{ entity: string; newest: Date }>`
        select entity, max(date_updated) as newest
        from revision
        where organization = ${organization} and kind = ${kind.name} and entity = any(${ids}::text[])
          and status in (${sql.raw(openStatuses.map((status) => `'${status}'`).join(', '))})
        group by entity`.execute(db);
      return new Map(rows.map(({ entity, newest }) => [entity, newest]));
    },

    async forget(tx, organization, kind, id) {
      await tx
        .deleteFrom('revision')
        .where('organization', '=', organization)
        .where('kind', '=', kind.name)
        .where('entity', '=', id)
        .execute();
    },
  };
}

const keyOf = (kind: string, id: string): string => `${kind} ${id}`;

/**
 * Counts on from the highest version that a revision of each object has, whatever its status. It is asked under the lock of
 * the organization's version, under which drafts take their numbers too: so versions rise by one and none is used twice.
 */
async function versionCounter(
  tx: Tx,
  organization: string,
  objects: readonly { readonly kind: RevisionKind; readonly id: string }[],
): Promise<(kind: RevisionKind, id: string) => number> {
  const { rows } = await sql<{ kind: string; entity: string; highest: number }>`
    select revision.kind, revision.entity, max(revision.version) as highest
    from revision
    join unnest(${objects.map(({ kind }) => kind.name)}::text[], ${objects.map(({ id }) => id)}::text[]) as wanted (kind, entity)
      on wanted.kind = revision.kind and wanted.entity = revision.entity
    where revision.organization = ${organization}
    group by revision.kind, revision.entity`.execute(tx);
  const highest = new Map(rows.map((row) => [keyOf(row.kind, row.entity), row.highest]));
  return (kind, id) => {
    const version = (highest.get(keyOf(kind.name, id)) ?? 0) + 1;
    highest.set(keyOf(kind.name, id), version);
    return version;
  };
}

async function insertLanded<Content>(
  tx: Tx,
  organization: string,
  revised: readonly RevisedChange<Content>[],
  landed: Landed,
): Promise<void> {
  const { instant } = landed;
  const rows = revised.map(({ kind, id, baseVersion, content, revertedFrom = null }) => ({
    ...rowOf(organization, kind, id, {
      ...landed.revision(kind, id),
      baseVersion,
      status: kind.landed,
      content,
      dateUpdated: instant,
      datePublished: instant,
    }),
    reverted_from: revertedFrom,
  }));
  await insertRevisions(tx, rows);
}

/** A new revision as its row. */
const rowOf = (
  organization: string,
  kind: RevisionKind,
  entity: string,
  { content, ...revision }: Revision<unknown>,
) => ({
  organization,
  kind: kind.name,
  entity,
  version: revision.version,
  id: revision.id,
  status: revision.status,
  base_version: revision.baseVersion,
  content: JSON.stringify(content),
  comment: revision.comment,
  created_by: JSON.stringify(revision.createdBy),
  published_by: revision.publishedBy === null ? null : JSON.stringify(revision.publishedBy),
  date_created: revision.dateUpdated,
  date_updated: revision.dateUpdated,
  date_published: revision.datePublished,
});

async function insertRevisions(tx: Tx, rows: readonly ReturnType<typeof rowOf>[]): Promise<void> {
  for (const some of inParts(rows)) await tx.insertInto('revision').values(some).execute();
}
