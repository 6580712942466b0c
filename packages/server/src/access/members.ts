import type { listMembers, QueryOf, Member as ShownMember } from '@halyard/contract';
import { sql } from 'kysely';
import { type Db, invalid, quoted } from '../platform/index.ts';
import type { Directory } from '../requester/index.ts';
import { type RoleInfo, rolesFromRow } from './role-info.ts';

/** A person who belongs to an organization. */
export interface Member {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly roles: RoleInfo;
  readonly managedByIdp: boolean;
  readonly dateCreated: Date;
  readonly dateUpdated: Date;
  readonly lastLogin: Date | null;
}

/** The members of organizations. */
export interface MemberService {
  /** Those that match, by id. */
  list(organization: string, filters: Omit<QueryOf<typeof listMembers>, 'limit' | 'offset'>): Promise<Member[]>;
  /**
   * The directory of an organization, kept in memory for as long as none of its members changes.
   *
   * @param version the members' version now, where the caller has just read it
   */
  directory(organization: string, version?: number): Promise<Directory>;
  /** The member with that id or, in any letter case, that e-mail. */
  find(organization: string, idOrEmail: string): Promise<Member | null>;
}

const idPrefix = 'u_';

/** @param emails of the members, by id */
function directoryOf(emails: ReadonlyMap<string, string>): Directory {
  return {
    emailOf: (member) => emails.get(member),
    idOf(idOrEmail) {
      if (emails.has(idOrEmail)) return idOrEmail;
      if (idOrEmail.startsWith(idPrefix)) return undefined;
      const address = idOrEmail.toLowerCase();
      return [...emails].find(([, email]) => email.toLowerCase() === address)?.[0];
    },
  };
}

/**
 * Resolves the owner that a request names, an id or an e-mail, to the member's id.
 *
 * @throws Refusal (invalid) when it is no member
 */
export function resolveOwner(members: Directory, owner: string): string {
  const id = members.idOf(owner);
  if (id !== undefined) return id;
  throw invalid(
    `The owner ${quoted(owner)} is no member of the organization. Send a member's user id or e-mail, as GET /v1/members lists them.`,
  );
}

/** The e-mail of an owner, where there is one to tell; text of old may be one itself. */
export function ownerEmail(members: Directory, owner: string): { ownerEmail?: string } {
  const email = owner.includes('@') ? owner : members.emailOf(owner);
  return email === undefined ? {} : { ownerEmail: email };
}

export function memberService(db: Db): MemberService {
  const directories = new Map<string, { readonly version: number; readonly directory: Directory }>();
  const versionOf = async (organization: string): Promise<number> => {
    const row = await db
      .selectFrom('organization')
      .select('members_version')
      .where('id', '=', organization)
      .executeTakeFirstOrThrow();
    return row.members_version;
  };
  const membersOf = (organization: string) =>
    db
      .selectFrom('member')
      .innerJoin('person', 'person.id', 'member.person')
      .selectAll('member')
      .select(['person.id', 'person.email', 'person.name'])
      .where('member.organization', '=', organization)
      .orderBy('person.id');
  type Row = Awaited<ReturnType<ReturnType<typeof membersOf>['executeTakeFirstOrThrow']>>;

  const fromRow = (row: Row): Member => ({
    id: row.id,
    email: row.email,
    name: row.name,
    roles: rolesFromRow(row),
    managedByIdp: row.managed_by_idp,
    dateCreated: row.date_created,
    dateUpdated: row.date_updated,
    lastLogin: row.last_login,
  });

  const find = async (organization: string, idOrEmail: string): Promise<Member | null> => {
    const byId = membersOf(organization).where('person.id', '=', idOrEmail);
    const byEmail = membersOf(organization).where(sql`lower(person.email)`, '=', idOrEmail.toLowerCase());
    const row = (await byId.executeTakeFirst()) ?? (await byEmail.executeTakeFirst());
    return row === undefined ? null : fromRow(row);
  };

  return {
    find,
    async list(organization, { userName, userEmail, globalRole }) {
      let query = membersOf(organization);
      if (userName !== undefined) query = query.where('person.name', '=', userName);
      if (userEmail !== undefined) query = query.where('person.email', '=', userEmail);
      if (globalRole !== undefined) query = query.where('member.role', '=', globalRole);
      return (await query.execute()).map(fromRow);
    },
    async directory(organization, version) {
      const current = version ?? (await versionOf(organization));
      const known = directories.get(organization);
      if (known !== undefined && known.version >= current) return known.directory;
      const rows = await db
        .selectFrom('member')
        .innerJoin('person', 'person.id', 'member.person')
        .select(['person.id', 'person.email'])
        .where('member.organization', '=', organization)
        .execute();
      const directory = directoryOf(new Map(rows.map(({ id, email }) => [id, email])));
      directories.set(organization, { version: current, directory });
      return directory;
    },
  };
}

/** A member as the interface shows it. */
export function showMember({ id, email, name, roles, ...rest }: Member): ShownMember {
  return {
    id,
    email,
    name,
    globalRole: roles.role,
    environments: [...roles.environments],
    limitAccessByEnvironment: roles.limitAccessByEnvironment,
    additionalRoles: roles.additionalRoles.map((rule) => ({ ...rule, environments: [...rule.environments] })),
    projectRoles: roles.projectRoles.map(({ additionalRoles, ...rule }) => ({
      ...rule,
      environments: [...rule.environments],
      ...(additionalRoles === undefined
        ? {}
        : { additionalRoles: additionalRoles.map((more) => ({ ...more, environments: [...more.environments] })) }),
    })),
    teams: [],
    managedbyIdp: rest.managedByIdp,
    ...(rest.lastLogin === null ? {} : { lastLoginDate: rest.lastLogin.toISOString() }),
    dateCreated: rest.dateCreated.toISOString(),
    dateUpdated: rest.dateUpdated.toISOString(),
  };
}
