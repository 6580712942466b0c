import { sql } from 'kysely';
import type { OrganizationService } from '../organization/index.ts';
import type { Clock, Db, NewId } from '../platform/index.ts';
import type { Actor } from '../record/index.ts';
import { addMember } from './add-member.ts';

/** Whom the deployment names as its first admin. */
export interface FirstAdmin {
  readonly email: string;
  readonly name: string;
}

export type FirstStart = 'not first' | 'nobody named' | { readonly organization: string; readonly email: string };

const actor: Actor = { type: 'system', subtype: 'first-start' };

/** Any number will do, as long as nothing else locks it. */
const firstStartLock = 4_810_001;

/**
 * Makes the first admin and, where the operator has made none yet, the first organization, while there are no people.
 * Processes that start at the same time take turns: one makes them, the others find them.
 *
 * @param admin null: the deployment names nobody
 */
export async function firstStart(
  tools: { db: Db; clock: Clock; newId: NewId; organizations: OrganizationService },
  admin: FirstAdmin | null,
): Promise<FirstStart> {
  return tools.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${firstStartLock})`.execute(tx);
    const person = await tx.selectFrom('person').select('id').limit(1).executeTakeFirst();
    if (person !== undefined) return 'not first';
    if (admin === null) return 'nobody named';

    const made = await tx.selectFrom('organization').select('id').orderBy('date_created').limit(2).execute();
    const [only] = made.length === 1 ? made : [];
    const organization =
      only?.id ??
      (await tools.organizations.create(tx, { name: 'My Organization', ownerEmail: admin.email }, actor)).id;
    await addMember(tx, tools, organization, { ...admin, role: 'admin', superAdmin: true }, actor);
    return { organization, email: admin.email };
  });
}
