import type { ColumnType } from 'kysely';

/**
 * The tables, as data: the types of every query come from here, and a test holds it against the migrated database.
 * What a column stores beyond its SQL type (the shape of JSON) is a type argument.
 */
interface Column<Read, Write> {
  readonly sql: string;
  readonly nullable: boolean;
  readonly filled: boolean;
  /** Carries the types only. */
  readonly types?: ColumnType<Read, Write, Write>;
}

const column = <Read, Write = Read>(sql: string): Column<Read, Write> => ({ sql, nullable: false, filled: false });
const nullable = <Read, Write>(of: Column<Read, Write>): Column<Read | null, Write | null | undefined> => ({
  sql: of.sql,
  nullable: true,
  filled: of.filled,
});
/** The database fills it in where a row leaves it out. */
const filled = <Read, Write>(of: Column<Read, Write>): Column<Read, Write | undefined> => ({
  sql: of.sql,
  nullable: of.nullable,
  filled: true,
});

const text = column<string>('text');
const flag = column<boolean>('bool');
const whole = column<number>('int8');
const instant = column<Date>('timestamptz');
const texts = column<string[]>('_text');
const bytes = column<Buffer>('bytea');
/** Kept as written: key order survives, and so does text that `jsonb` refuses. Written as JSON text. */
const json = <Shape>() => column<Shape, string>('json');

/** A place in source code that names a feature, with what the tool that uploaded it knows it by. */
interface CodeReference {
  readonly filePath: string;
  readonly startingLineNumber: number;
  readonly lines: string;
  readonly flagKey: string;
  readonly contentHash: string;
}

/** Columns that say what a principal (member or key) may do. */
const roleColumns = {
  role: text,
  limit_access_by_environment: filled(flag),
  environments: filled(texts),
  additional_roles: filled(json<unknown>()),
  project_roles: filled(json<unknown>()),
};

export const tables = {
  /** Facts of this installation, such as fingerprints of its secrets. */
  installation: { name: text, value: text },

  organization: {
    id: text,
    name: text,
    owner_email: text,
    external_id: nullable(text),
    suspended: filled(flag),
    /** Rises with every change of its members or their e-mails. */
    members_version: filled(whole),
    date_created: instant,
  },

  person: {
    id: text,
    email: text,
    name: text,
    super_admin: filled(flag),
    email_verified: filled(flag),
    date_created: instant,
  },
  member: {
    organization: text,
    person: text,
    ...roleColumns,
    managed_by_idp: filled(flag),
    date_created: instant,
    date_updated: instant,
    last_login: nullable(instant),
  },
  api_key: {
    id: text,
    organization: text,
    hash: bytes,
    preview: text,
    description: text,
    ...roleColumns,
    requester_header: filled(column<'optional' | 'required' | 'rejected'>('text')),
    requester_permissions: filled(column<'assume' | 'key'>('text')),
    disabled: filled(flag),
    expires_at: nullable(instant),
    last_used: nullable(instant),
    created_by: text,
    date_created: instant,
  },

  /** The configuration version that each organization stands at; its row is locked by every write. */
  current_version: { organization: text, version: whole, instant },
  /** The instant of every version there was. */
  configuration_version: { organization: text, version: whole, instant },
  /** Every state that a payload reads, append-only: a landing adds a row for each object it changes. */
  published_state: {
    organization: text,
    kind: text,
    id: text,
    version: whole,
    /** Place among the objects of its kind, in the order of creation; the same in all rows of an object. */
    ordinal: whole,
    /** Null: deleted by this version. */
    state: nullable(json<unknown>()),
    date_created: instant,
    date_updated: instant,
  },
  /** Which row of `published_state` is an object's newest; no row: it does not exist (any more). */
  live_state: { organization: text, kind: text, id: text, version: whole },

  /** Drafts and landed revisions of every revisioned kind. */
  revision: {
    organization: text,
    kind: text,
    entity: text,
    version: whole,
    id: text,
    status: text,
    base_version: whole,
    content: json<unknown>(),
    comment: text,
    created_by: json<unknown>(),
    published_by: nullable(json<unknown>()),
    date_created: instant,
    date_updated: instant,
    date_published: nullable(instant),
    /** The id of the revision whose content this one restores. */
    reverted_from: nullable(text),
  },

  tag: { organization: text, id: text },

  audit: {
    id: text,
    organization: text,
    actor: json<unknown>(),
    event: text,
    entity_kind: text,
    entity_id: text,
    entity_name: nullable(text),
    reason: nullable(text),
    details: nullable(text),
    date_created: instant,
  },
  event: {
    id: text,
    /** Rises in the order in which events were written. */
    position: filled(whole),
    organization: text,
    event: text,
    object: text,
    object_id: text,
    data: json<unknown>(),
    date_created: instant,
  },
  /** Events whose delivery has not been arranged yet. */
  outbox: { position: filled(whole), event: text },

  /** The last version that changed the payload of a connection, settled once for all processes. */
  payload_change: {
    organization: text,
    connection: text,
    version: whole,
    instant,
    hash: text,
    ciphertexts: nullable(json<Readonly<Record<string, string>>>()),
  },

  /** Objects that no payload reads, as they are now; what was before is in the audit log. */
  plain_object: {
    organization: text,
    kind: text,
    id: text,
    state: json<unknown>(),
    date_created: instant,
    date_updated: instant,
  },

  /** Where features are named in source code: everything of one feature in one branch of a repository. */
  code_reference: {
    organization: text,
    repo: text,
    branch: text,
    feature: text,
    refs: json<readonly CodeReference[]>(),
    date_updated: instant,
  },

  /** What is to be done later or again, by whichever process comes first. */
  queued_work: {
    queue: text,
    /** What is asked for twice under one key is done once. */
    key: text,
    position: filled(whole),
    /** Work of one lane waits for each other, and holds up no other lane. */
    lane: text,
    organization: text,
    data: json<unknown>(),
    /** Attempts that have failed. */
    attempt: filled(whole),
    due: instant,
    /** It was asked for again since the last attempt began. */
    again: filled(flag),
    claimed_by: nullable(text),
    claimed_until: nullable(instant),
  },

  /** How the last attempt to reach a webhook went. */
  webhook_run: {
    organization: text,
    webhook: text,
    last_run: instant,
    succeeded: flag,
    response_body: text,
    last_success: nullable(instant),
    consecutive_failures: filled(whole),
  },
  /** The last attempts to reach a webhook. */
  webhook_log: {
    id: text,
    organization: text,
    webhook: text,
    /** What it was about: the name of an event, or a connection. */
    subject: text,
    url: text,
    method: text,
    succeeded: flag,
    response_code: nullable(whole),
    response_body: text,
    payload: nullable(text),
    date_created: instant,
  },

  /** How the proxies of connections are. */
  proxy_health: {
    organization: text,
    connection: text,
    /** False: too many failures in a row; nothing is pushed to it until it answers again. */
    enabled: flag,
    /** The address that this is about. */
    host: text,
    connected: flag,
    version: nullable(text),
    last_error: nullable(text),
    /** Failures in a row. */
    errors: whole,
    checked_at: instant,
  },

  /** Which connections have been asked for their payload, and since when. */
  connection_use: { organization: text, connection: text, first_used: instant },

  /** Requests counted by key and minute, summed over the processes. Unlogged: it may be lost. */
  request_count: { key: text, minute: whole, requests: whole },
} as const;

type TypesOf<C> = C extends Column<infer Read, infer Write> ? ColumnType<Read, Write, Write> : never;

/** What Kysely knows of the database. */
export type Database = {
  [Table in keyof typeof tables]: { [Name in keyof (typeof tables)[Table]]: TypesOf<(typeof tables)[Table][Name]> };
};
