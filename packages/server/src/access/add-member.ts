import { sql } from 'kysely';
import { type Clock, invalid, isEmailAddress, type NewId, quoted, type Tx } from '../platform/index.ts';
import { type Actor, writeAudit } from '../record/index.ts';

export interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly superAdmin?: boolean;
}

/** Makes a person a member of an organization; the person is made as well where nobody has that e-mail. */
export async function addMember(
  tx: Tx,
  { newId, clock }: { newId: NewId; clock: Clock },
  organization: string,
  { email, name, role, superAdmin = false }: NewMember,
  actor: Actor,
): Promise<string> {
  if (!isEmailAddress(email)) throw invalid(`${quoted(email)} is no e-mail address.`);
  const now = clock.now();
  const address = email.toLowerCase();
  const known = await tx.selectFrom('person').select('id').where(sql`lower(email)`, '=', address).executeTakeFirst();
  const id = known?.id ?? newId('u_');
  if (known === undefined) {
    await tx
      .insertInto('person')
      .values({ id, email: address, name, super_admin: superAdmin, date_created: now })
      .execute();
  }
  await tx
    .insertInto('member')
    .values({ organization, person: id, role, date_created: now, date_updated: now })
    .execute();
  await writeAudit(tx, newId, organization, actor, now, [
    { event: 'user.create', entity: { object: 'user', id, name }, post: { email: address, role } },
  ]);
  return id;
}
