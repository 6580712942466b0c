import { type Kysely, sql } from 'kysely';

/** Ids and keys compare as plain strings on every server, whatever its locale. */
const statements = [
  `create table installation (
     name text collate "C" primary key,
     value text not null
   )`,

  `create table organization (
     id text collate "C" primary key,
     name text not null,
     owner_email text not null,
     external_id text,
     suspended boolean not null default false,
     members_version bigint not null default 0,
     date_created timestamptz not null
   )`,
  `create unique index organization_external_id on organization (external_id) where external_id <> ''`,

  `create table person (
     id text collate "C" primary key,
     email text not null,
     name text not null,
     super_admin boolean not null default false,
     email_verified boolean not null default false,
     date_created timestamptz not null
   )`,
  `create unique index person_email on person (lower(email))`,

  `create table member (
     organization text collate "C" not null references organization on delete cascade,
     person text collate "C" not null references person,
     role text not null,
     limit_access_by_environment boolean not null default false,
     environments text[] not null default '{}',
     additional_roles json not null default '[]',
     project_roles json not null default '[]',
     managed_by_idp boolean not null default false,
     date_created timestamptz not null,
     date_updated timestamptz not null,
     last_login timestamptz,
     primary key (organization, person)
   )`,
  `create index member_person on member (person)`,

  // Processes keep the e-mails of members in memory for as long as this version stays: no write may forget to raise it.
  `create function member_changed() returns trigger language plpgsql as $$
   begin
     update organization set members_version = members_version + 1 where id in (old.organization, new.organization);
     return null;
   end $$`,
  `create trigger member_changed after insert or update or delete on member
   for each row execute function member_changed()`,
  `create function person_changed() returns trigger language plpgsql as $$
   begin
     update organization set members_version = members_version + 1
     where id in (select organization from member where person = new.id);
     return null;
   end $$`,
  `create trigger person_changed after update on person for each row execute function person_changed()`,

  `create table api_key (
     id text collate "C" primary key,
     organization text collate "C" not null references organization on delete cascade,
     hash bytea not null unique,
     preview text not null,
     description text not null,
     role text not null,
     limit_access_by_environment boolean not null default false,
     environments text[] not null default '{}',
     additional_roles json not null default '[]',
     project_roles json not null default '[]',
     requester_header text not null default 'optional' check (requester_header in ('optional', 'required', 'rejected')),
     requester_permissions text not null default 'assume' check (requester_permissions in ('assume', 'key')),
     disabled boolean not null default false,
     expires_at timestamptz,
     last_used timestamptz,
     created_by text not null,
     date_created timestamptz not null
   )`,
  `create index api_key_organization on api_key (organization, id)`,

  // One row an organization, rewritten by every landing: room beside it keeps the updates on the same page.
  `create table current_version (
     organization text collate "C" primary key references organization on delete cascade,
     version bigint not null,
     instant timestamptz not null
   ) with (fillfactor = 10)`,
  `create table configuration_version (
     organization text collate "C" not null references organization on delete cascade,
     version bigint not null,
     instant timestamptz not null,
     primary key (organization, version)
   )`,
  `create sequence published_state_ordinal`,
  `create table published_state (
     organization text collate "C" not null references organization on delete cascade,
     kind text collate "C" not null,
     id text collate "C" not null,
     version bigint not null,
     ordinal bigint not null,
     state json,
     date_created timestamptz not null,
     date_updated timestamptz not null,
     primary key (organization, kind, id, version)
   )`,
  `create index published_state_version on published_state (organization, version)`,
  `create table live_state (
     organization text collate "C" not null references organization on delete cascade,
     kind text collate "C" not null,
     id text collate "C" not null,
     version bigint not null,
     primary key (organization, kind, id)
   )`,

  `create table revision (
     organization text collate "C" not null references organization on delete cascade,
     kind text collate "C" not null,
     entity text collate "C" not null,
     version bigint not null,
     id text collate "C" not null unique,
     status text not null,
     base_version bigint not null,
     content json not null,
     comment text not null,
     created_by json not null,
     published_by json,
     date_created timestamptz not null,
     date_updated timestamptz not null,
     date_published timestamptz,
     primary key (organization, kind, entity, version)
   )`,

  `create table tag (
     organization text collate "C" not null references organization on delete cascade,
     id text collate "C" not null,
     primary key (organization, id)
   )`,

  `create table audit (
     id text collate "C" primary key,
     organization text collate "C" not null references organization on delete cascade,
     actor json not null,
     event text not null,
     entity_kind text collate "C" not null,
     entity_id text collate "C" not null,
     entity_name text,
     reason text,
     details text,
     date_created timestamptz not null
   )`,
  `create index audit_entity on audit (organization, entity_kind, entity_id, date_created)`,

  `create table event (
     id text collate "C" primary key,
     position bigint generated always as identity,
     organization text collate "C" not null references organization on delete cascade,
     event text collate "C" not null,
     object text collate "C" not null,
     object_id text collate "C" not null,
     data json not null,
     date_created timestamptz not null
   )`,
  `create index event_date on event (organization, date_created)`,
  `create table outbox (
     position bigint generated always as identity primary key,
     event text collate "C" not null references event on delete cascade
   )`,
  `create index outbox_event on outbox (event)`,

  `create table payload_change (
     organization text collate "C" not null references organization on delete cascade,
     connection text collate "C" not null,
     version bigint not null,
     instant timestamptz not null,
     hash text not null,
     ciphertexts json,
     primary key (organization, connection)
   )`,

  `create table connection_use (
     organization text collate "C" not null references organization on delete cascade,
     connection text collate "C" not null,
     first_used timestamptz not null,
     primary key (organization, connection)
   )`,

  `create unlogged table request_count (
     key text collate "C" not null,
     minute bigint not null,
     requests bigint not null,
     primary key (key, minute)
   )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
