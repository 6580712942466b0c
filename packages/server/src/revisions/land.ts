import type { Requester } from '../http/index.ts';
import type { Db, NewId, Tx } from '../platform/index.ts';
import type {
  Actor,
  ConfigurationVersion,
  EventDraft,
  Publication,
  Recorder,
  StateChange,
  StateReader,
} from '../record/index.ts';

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
  /** The state that goes live. */
  readonly state: (revision: LiveRevision) => StateChange;
}

/** What lands together. */
interface Landing<Content> extends Omit<Publication, 'changes' | 'events'> {
  readonly revised: readonly RevisedChange<Content>[];
  readonly events?: (landed: Landed) => readonly EventDraft[];
}

/** What came about: the version, and the live revision of each object that landed, by its id. */
export interface Landed extends ConfigurationVersion {
  readonly revisions: ReadonlyMap<string, LiveRevision>;
}

/** Decides what lands (null: nothing); like every judge, it may be asked again and does nothing but decide. */
type LandingJudge<Content, Result> = (
  states: StateReader,
) => Promise<{ landing: Landing<Content> | null; result: Result }>;

export interface Revisions {
  /**
   * The one way in which a revisioned object changes: create, update, toggle, archive, publish, revert and what time does
   * all come through here, and become true together or not at all.
   */
  land<Content, Result>(
    by: Pick<Requester, 'organization' | 'actor'>,
    judge: LandingJudge<Content, Result>,
  ): Promise<{ landed: Landed | null; result: Result }>;
  /** The same as part of a larger publication: of a project's deletion, say. */
  asPublication<Content>(organization: string, actor: Actor, landing: Landing<Content>): Promise<Publication>;
  /** The revisions of an object, newest first. */
  list<Content>(organization: string, kind: RevisionKind, id: string): Promise<Revision<Content>[]>;
  /** Removes the revisions of an object that is deleted. */
  forget(tx: Tx, organization: string, kind: RevisionKind, id: string): Promise<void>;
}

export function revisionEngine(tools: { db: Db; newId: NewId; recorder: Recorder }): Revisions {
  const { db, newId, recorder } = tools;

  /** Version numbers rise by one and are never used twice, also where drafts have taken some. */
  const nextVersion = async (organization: string, kind: RevisionKind, id: string): Promise<number> => {
    const { highest } = await db
      .selectFrom('revision')
      .select((eb) => eb.fn.max('version').as('highest'))
      .where('organization', '=', organization)
      .where('kind', '=', kind.name)
      .where('entity', '=', id)
      .executeTakeFirstOrThrow();
    return Number(highest ?? 0) + 1;
  };

  const numbered = async <Content>(organization: string, actor: Actor, { revised }: Landing<Content>) => {
    const revisions = new Map<string, LiveRevision>();
    for (const { kind, id, comment } of revised) {
      const version = await nextVersion(organization, kind, id);
      revisions.set(id, { id: newId(kind.idPrefix), version, comment, createdBy: actor, publishedBy: actor });
    }
    return revisions;
  };

  const publicationOf = <Content>(
    organization: string,
    { revised, audit, events, also }: Landing<Content>,
    revisions: ReadonlyMap<string, LiveRevision>,
  ): Publication => ({
    changes: revised.map((change) => change.state(liveRevision(revisions, change.id))),
    audit,
    ...(events === undefined ? {} : { events: (at) => events({ ...at, revisions }) }),
    also: async (tx, at) => {
      for (const change of revised) {
        await insertLanded(tx, organization, change, liveRevision(revisions, change.id), at.instant);
      }
      await also?.(tx, at);
    },
  });

  return {
    async land(by, judge) {
      const { landed, result } = await recorder.publish(by.organization, by.actor, async (states) => {
        const judged = await judge(states);
        if (judged.landing === null) return { publication: null, result: { ...judged, revisions: new Map() } };
        const revisions = await numbered(by.organization, by.actor, judged.landing);
        const publication = publicationOf(by.organization, judged.landing, revisions);
        return { publication, result: { ...judged, revisions } };
      });
      return { landed: landed === null ? null : { ...landed, revisions: result.revisions }, result: result.result };
    },

    async asPublication(organization, actor, landing) {
      return publicationOf(organization, landing, await numbered(organization, actor, landing));
    },

    async list<Content>(organization: string, kind: RevisionKind, id: string) {
      const rows = await db
        .selectFrom('revision')
        .selectAll()
        .where('organization', '=', organization)
        .where('kind', '=', kind.name)
        .where('entity', '=', id)
        .orderBy('version', 'desc')
        .execute();
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

/** The live revision that a landing gave an object. */
export function liveRevision(revisions: Landed['revisions'], id: string): LiveRevision {
  const revision = revisions.get(id);
  if (revision === undefined) throw new Error(`The landing holds no revision of ${id}.`);
  return revision;
}

async function insertLanded<Content>(
  tx: Tx,
  organization: string,
  { kind, id, baseVersion, content }: RevisedChange<Content>,
  revision: LiveRevision,
  instant: Date,
): Promise<void> {
  await tx
    .insertInto('revision')
    .values({
      organization,
      kind: kind.name,
      entity: id,
      version: revision.version,
      id: revision.id,
      status: kind.landed,
      base_version: baseVersion,
      content: JSON.stringify(content),
      comment: revision.comment,
      created_by: JSON.stringify(revision.createdBy),
      published_by: JSON.stringify(revision.publishedBy),
      date_created: instant,
      date_updated: instant,
      date_published: instant,
    })
    .execute();
}
