import { timingSafeEqual } from 'node:crypto';
import type { Authenticator, Credentials } from '../http/index.ts';
import { environmentsOf } from '../organization/index.ts';
import {
  type Clock,
  type Db,
  digest,
  forbidden,
  type Log,
  type Presence,
  Refusal,
  unavailable,
} from '../platform/index.ts';
import type { LiveStates } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { type ApiKey, keyFromRow } from './keys.ts';
import type { MemberService } from './members.ts';
import { effectivePermissions, isAllowed, isVisible } from './permission-check.ts';
import { actorOf, nameRequester } from './requested-by.ts';

/** The one secret key that the deployment gives, which is not stored. */
export interface DeploymentKey {
  readonly text: string;
  readonly role: string;
}

const deploymentKeyId = 'SECRET_API_KEY';
const minute = 60_000;

const unauthenticated = (message: string, headers: Record<string, string> = {}) =>
  new Refusal('unauthenticated', message, { headers });

/** A key's record with what its organization says at the moment. */
interface Known {
  readonly key: ApiKey;
  readonly suspended: boolean;
  /** The configuration version when the key was looked up: the request sees no older one. */
  readonly version: number;
  readonly membersVersion: number;
}

export function authenticator(tools: {
  db: Db;
  clock: Clock;
  log: Log;
  presence: Presence;
  live: LiveStates;
  members: MemberService;
  appOrigin: string;
  deploymentKey: DeploymentKey | null;
}): Authenticator {
  const { db, clock, live, members } = tools;
  const deploymentDigest = tools.deploymentKey === null ? null : digest(tools.deploymentKey.text);
  const noteUse = useNotes(db, clock, tools.log);

  const lookUp = async (text: string): Promise<Known | null> => {
    const hash = digest(text);
    if (tools.deploymentKey !== null && deploymentDigest !== null && timingSafeEqual(hash, deploymentDigest)) {
      return deploymentKnown(db, tools.deploymentKey);
    }
    const row = await db
      .selectFrom('api_key')
      .innerJoin('organization', 'organization.id', 'api_key.organization')
      .innerJoin('current_version', 'current_version.organization', 'api_key.organization')
      .selectAll('api_key')
      .select(['organization.suspended', 'organization.members_version', 'current_version.version'])
      .where('api_key.hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined) return null;
    const { suspended, version, members_version: membersVersion } = row;
    return { key: keyFromRow(row), suspended, version, membersVersion };
  };

  return {
    async authenticate(credentials) {
      const text = keyText(credentials.authorization);
      // Nobody waits for a database that is known to be away.
      if (!tools.presence.answers) {
        throw unavailable('The database is away. SDKs are served; changes must wait. Try again in some seconds.', 5);
      }
      const known = await lookUp(text);
      if (known === null) throw unauthenticated('There is no such key. Check that it was copied whole.');
      const { key } = known;
      noteUse(key);
      refuseDead(key, clock.now(), tools.appOrigin);
      if (credentials.organization !== undefined && credentials.organization !== key.organization) {
        throw unauthenticated(
          'This key belongs to another organization than X-Organization names. Leave the header out.',
        );
      }
      return { credential: { id: key.id, expiresAt: key.expiresAt }, admit: () => admit(known, credentials) };
    },
  };

  async function admit(known: Known, { requestedBy }: Credentials): Promise<Requester> {
    const { key, suspended, version, membersVersion } = known;
    if (suspended) throw forbidden('The organization is suspended. Ask whoever runs this installation.');
    const states = await live.at(key.organization, version);
    const directory = await members.directory(key.organization, membersVersion);
    const named = await nameRequester(key, requestedBy, members);
    const environments = environmentsOf(states).map(({ id }) => id);
    const assumed = named !== null && key.requesterPermissions === 'assume' ? [named.roles] : [];
    // Whoever acts through a key holds what both hold: each question is asked on every side.
    const sides = [key.roles, ...assumed].map((roles) => effectivePermissions(roles, environments));
    return {
      organization: key.organization,
      actor: actorOf(key, named),
      may: (permission, scope) => sides.every((side) => isAllowed(side, permission, scope)),
      maySee: (projects) => sides.every((side) => isVisible(side, projects)),
      states,
      members: directory,
    };
  }
}

/** The key in an `Authorization` header. */
function keyText(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw unauthenticated('This needs a secret key, sent as "Authorization: Bearer <key>".');
  }
  const [, scheme = '', value = ''] = /^(\S*) *(.*)$/.exec(authorization.trim()) ?? [];
  const text = decode(scheme.toLowerCase(), value.trim());
  if (text === '') throw unauthenticated('The Authorization header holds no key. Send "Authorization: Bearer <key>".');
  if (text.startsWith('sdk-')) {
    throw unauthenticated(
      'This is the client key of an SDK connection, which is not secret. The API needs a secret key.',
    );
  }
  return text;
}

function decode(scheme: string, value: string): string {
  switch (scheme) {
    case 'bearer':
      return value;
    case 'basic': {
      if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw unauthenticated('The Basic credentials are not base64.');
      const [user = ''] = Buffer.from(value, 'base64').toString('utf8').split(':', 1);
      return user;
    }
    default:
      throw unauthenticated('The Authorization header must start with Bearer or Basic.');
  }
}

/** @throws Refusal (unauthenticated) when the key may not be used (any more) */
function refuseDead(key: ApiKey, now: Date, appOrigin: string): void {
  const { expiresAt } = key;
  const headers = expiresAt === null ? undefined : { 'X-Service-Key-Expires-At': expiresAt.toISOString() };
  if (key.disabled) throw unauthenticated('This key is disabled.', headers);
  if (expiresAt !== null && expiresAt <= now) {
    throw unauthenticated(
      `This key expired at ${expiresAt.toISOString()}. Make a new one at ${appOrigin}/settings/keys.`,
      headers,
    );
  }
}

async function deploymentKnown(db: Db, { role }: DeploymentKey): Promise<Known | null> {
  const row = await db
    .selectFrom('organization')
    .innerJoin('current_version', 'current_version.organization', 'organization.id')
    .select(['organization.id', 'organization.suspended', 'organization.members_version', 'organization.date_created'])
    .select('current_version.version')
    .orderBy('organization.date_created')
    .orderBy('organization.id')
    .executeTakeFirst();
  if (row === undefined) return null;
  const key: ApiKey = {
    id: deploymentKeyId,
    organization: row.id,
    preview: deploymentKeyId,
    description: deploymentKeyId,
    roles: { role, limitAccessByEnvironment: false, environments: [], additionalRoles: [], projectRoles: [] },
    requesterHeader: 'optional',
    requesterPermissions: 'assume',
    disabled: false,
    expiresAt: null,
    lastUsed: null,
    dateCreated: row.date_created,
  };
  return { key, suspended: row.suspended, version: row.version, membersVersion: row.members_version };
}

/** Notes beside the request when a key was last presented, at most once a minute; also a dead key's, so that people see it is tried. */
function useNotes(db: Db, clock: Clock, log: Log): (key: ApiKey) => void {
  const noted = new Map<string, number>();
  return ({ id }) => {
    const now = clock.now();
    if (id === deploymentKeyId || now.getTime() - (noted.get(id) ?? 0) < minute) return;
    noted.set(id, now.getTime());
    db.updateTable('api_key')
      .set({ last_used: now })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('last_used', 'is', null), eb('last_used', '<', new Date(now.getTime() - minute))]))
      .execute()
      .catch((error: unknown) => log.warn({ err: error }, 'The last use of a key could not be noted'));
  };
}
