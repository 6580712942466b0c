import { randomBytes } from 'node:crypto';
import { type Clock, type Db, digest, invalid, type NewId, notFound, quoted } from '../platform/index.ts';
import { type Actor, type AuditEntry, writeAudit } from '../record/index.ts';
import { type RoleColumns, type RoleInfo, rolesFromRow } from './role-info.ts';
import { roleIds } from './roles.ts';

/** What a key does with the header that names a member. */
interface RequesterPolicy {
  readonly requesterHeader: 'optional' | 'required' | 'rejected';
  readonly requesterPermissions: 'assume' | 'key';
}

/** A secret key of an organization; its text is known only to whoever holds it. */
export interface ApiKey extends RequesterPolicy {
  readonly id: string;
  readonly organization: string;
  /** Prefix and last characters, for people to recognise it. */
  readonly preview: string;
  readonly description: string;
  readonly roles: RoleInfo;
  readonly disabled: boolean;
  readonly expiresAt: Date | null;
  readonly lastUsed: Date | null;
  readonly dateCreated: Date;
}

export interface NewKey {
  readonly role: string;
  readonly description: string;
  readonly expiresAt: Date | null;
  readonly projectRoles?: RoleInfo['projectRoles'];
  readonly requesterHeader?: RequesterPolicy['requesterHeader'];
  readonly requesterPermissions?: RequesterPolicy['requesterPermissions'];
}

/** Secret keys, as the operator and, later, administrators manage them. */
export interface KeyService {
  /** @returns the key's record and, this once, its text */
  create(organization: string, input: NewKey, actor: Actor): Promise<{ apiKey: ApiKey; key: string }>;
  list(organization: string): Promise<ApiKey[]>;
  /** Disabling a disabled key changes nothing. */
  disable(organization: string, id: string, actor: Actor): Promise<ApiKey>;
}

const longestHint = 20;

export function keyService({ db, clock, newId }: { db: Db; clock: Clock; newId: NewId }): KeyService {
  const audit = (action: string, { id, description, roles, ...key }: ApiKey): AuditEntry => ({
    event: `apiKey.${action}`,
    entity: { object: 'apiKey', id, name: description },
    // An allow-list: whatever is added to keys later stays out of the log until it is named here.
    post: {
      description,
      ...roles,
      requesterHeader: key.requesterHeader,
      requesterPermissions: key.requesterPermissions,
      expiresAt: key.expiresAt,
      disabled: key.disabled,
    },
  });

  return {
    async create(organization, input, actor) {
      const now = clock.now();
      if (!roleIds.includes(input.role))
        throw invalid(`Unknown role ${quoted(input.role)}. There are: ${roleIds.join(', ')}.`);
      if (input.expiresAt !== null && input.expiresAt <= now) throw invalid('The expiry lies in the past.');
      const key = keyText(input.role);
      return db.transaction().execute(async (tx) => {
        const row = await tx
          .insertInto('api_key')
          .values({
            id: newId('key_'),
            organization,
            hash: digest(key),
            preview: `${key.slice(0, key.lastIndexOf('_') + 1)}…${key.slice(-4)}`,
            description: input.description,
            role: input.role,
            project_roles: JSON.stringify(input.projectRoles ?? []),
            requester_header: input.requesterHeader ?? 'optional',
            requester_permissions: input.requesterPermissions ?? 'assume',
            expires_at: input.expiresAt,
            created_by: JSON.stringify(actor),
            date_created: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        const apiKey = keyFromRow(row);
        await writeAudit(tx, newId, organization, actor, now, [audit('create', apiKey)]);
        return { apiKey, key };
      });
    },

    async list(organization) {
      const rows = await db
        .selectFrom('api_key')
        .selectAll()
        .where('organization', '=', organization)
        .orderBy('id')
        .execute();
      return rows.map(keyFromRow);
    },

    async disable(organization, id, actor) {
      return db.transaction().execute(async (tx) => {
        const row = await tx
          .selectFrom('api_key')
          .selectAll()
          .where('organization', '=', organization)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) throw notFound('key', id);
        const apiKey = keyFromRow({ ...row, disabled: true });
        if (row.disabled) return apiKey;
        await tx.updateTable('api_key').set({ disabled: true }).where('id', '=', id).execute();
        await writeAudit(tx, newId, organization, actor, clock.now(), [audit('disable', apiKey)]);
        return apiKey;
      });
    },
  };
}

/** The role in the text is a hint for people and never read back. */
const keyText = (role: string): string =>
  `secret_${role.slice(0, longestHint)}_${randomBytes(32).toString('base64').replaceAll(/[/+=]/g, '')}`;

/** The columns of a key's row that its record is made of. */
interface KeyRow extends RoleColumns {
  readonly id: string;
  readonly organization: string;
  readonly preview: string;
  readonly description: string;
  readonly requester_header: RequesterPolicy['requesterHeader'];
  readonly requester_permissions: RequesterPolicy['requesterPermissions'];
  readonly disabled: boolean;
  readonly expires_at: Date | null;
  readonly last_used: Date | null;
  readonly date_created: Date;
}

export const keyFromRow = (row: KeyRow): ApiKey => ({
  id: row.id,
  organization: row.organization,
  preview: row.preview,
  description: row.description,
  roles: rolesFromRow(row),
  requesterHeader: row.requester_header,
  requesterPermissions: row.requester_permissions,
  disabled: row.disabled,
  expiresAt: row.expires_at,
  lastUsed: row.last_used,
  dateCreated: row.date_created,
});
