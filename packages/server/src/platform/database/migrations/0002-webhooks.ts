import { type Kysely, sql } from 'kysely';

const statements = [
  // Objects that no payload reads: they have no versions, only what they are now.
  `create table plain_object (
     organization text collate "C" not null references organization on delete cascade,
     kind text collate "C" not null,
     id text collate "C" not null,
     state json not null,
     date_created timestamptz not null,
     date_updated timestamptz not null,
     primary key (organization, kind, id)
   )`,

  `create table queued_work (
     queue text collate "C" not null,
     key text collate "C" not null,
     position bigint generated always as identity,
     lane text collate "C" not null,
     organization text collate "C" not null references organization on delete cascade,
     data json not null,
     attempt bigint not null default 0,
     due timestamptz not null,
     again boolean not null default false,
     claimed_by text,
     claimed_until timestamptz,
     primary key (queue, key)
   )`,
  `create index queued_work_due on queued_work (due)`,

  `create table webhook_run (
     organization text collate "C" not null references organization on delete cascade,
     webhook text collate "C" not null,
     last_run timestamptz not null,
     succeeded boolean not null,
     response_body text not null,
     last_success timestamptz,
     consecutive_failures bigint not null default 0,
     primary key (organization, webhook)
   )`,
  `create table webhook_log (
     id text collate "C" primary key,
     organization text collate "C" not null references organization on delete cascade,
     webhook text collate "C" not null,
     subject text not null,
     url text not null,
     method text not null,
     succeeded boolean not null,
     response_code bigint,
     response_body text not null,
     payload text,
     date_created timestamptz not null
   )`,
  `create index webhook_log_webhook on webhook_log (organization, webhook, date_created)`,

  `create table proxy_health (
     organization text collate "C" not null references organization on delete cascade,
     connection text collate "C" not null,
     enabled boolean not null,
     host text not null,
     connected boolean not null,
     version text,
     last_error text,
     errors bigint not null,
     checked_at timestamptz not null,
     primary key (organization, connection)
   )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
