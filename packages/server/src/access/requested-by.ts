import type { Credentials } from '../http/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import type { Actor } from '../record/index.ts';
import type { ApiKey } from './keys.ts';
import type { Member, MemberService } from './members.ts';

const header = 'X-Service-Requested-By';

/**
 * The member whom a request names, as the key's policy allows it; null when it names none.
 *
 * @throws Refusal (invalid) when the header is missing, forbidden or names nobody
 */
export async function nameRequester(
  key: ApiKey,
  values: Credentials['requestedBy'],
  members: MemberService,
): Promise<Member | null> {
  const given = [values ?? []].flat().map((value) => value.trim());
  if (given.length > 1) throw invalid(`${header} is sent twice. Name one member.`);
  const [named = ''] = given;
  if (named === '') {
    if (key.requesterHeader === 'required') {
      throw invalid(`This key needs ${header}: the user id or e-mail of the member on whose behalf it is used.`);
    }
    return null;
  }
  if (key.requesterHeader === 'rejected') throw invalid(`This key does not take ${header}. Leave it out.`);
  const member = await members.find(key.organization, named);
  if (member === null) throw invalid(`${header} names ${quoted(named)}, who is no member of the organization.`);
  return member;
}

/** Who a secret key acts as, and whom it names. */
export function actorOf(key: ApiKey, named: Member | null): Actor {
  const actor = { type: 'api_key', apiKey: key.id, name: key.description } as const;
  if (named === null) return actor;
  const requestedBy = { id: named.id, name: named.name, email: named.email };
  return key.requesterPermissions === 'assume'
    ? { ...actor, requestedBy, assumedRole: true }
    : { ...actor, requestedBy };
}
