import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addMember, type NewKey } from '../src/access/index.ts';
import { type App, startApp } from '../src/app.ts';
import { operatorServices } from '../src/operator-services.ts';
import { type StoredSettings, settingsId, settingsKind } from '../src/organization/index.ts';
import { createLog, type Db, readSettings } from '../src/platform/index.ts';
import { type Actor, LiveStates, type Recorder } from '../src/record/index.ts';
import { type Client, client } from './client.ts';
import { type TestClock, testClock } from './clock.ts';
import { createDatabase, type TestDatabase } from './database.ts';

const actor: Actor = { type: 'system', subtype: 'test' };

/** An organization of a test, with a key that may do everything in it. */
export interface TestOrganization {
  readonly id: string;
  readonly admin: Client;
  /** A member, for whom features can be made. */
  readonly owner: { readonly id: string; readonly email: string };
}

/** A running service on a database of its own. */
export interface TestService extends TestOrganization {
  readonly app: App;
  readonly url: string;
  readonly db: Db;
  readonly clock: TestClock;
  /** Without a credential. */
  readonly anonymous: Client;
  withKey(
    key: Partial<NewKey>,
    organization?: string,
  ): Promise<Client & { readonly key: string; readonly keyId: string }>;
  newOrganization(name: string): Promise<TestOrganization>;
  newMember(email: string, role?: string): Promise<string>;
  /** Publishes states directly, as parts of the service that are not built yet will. */
  readonly recorder: Recorder;
  /** Publishes the settings of an organization, which have no operation of their own yet; what is left out is as from the start. */
  setSettings(settings: StoredSettings, organization?: string): Promise<void>;
  /** What was recorded of an object, oldest first. */
  history(id: string): Promise<History>;
  /** The organization's configuration version now. */
  version(organization?: string): Promise<number>;
  /** Where its processes keep what they know. */
  readonly dataDirectory: string;
  /** Another process on the same database. */
  another(environment?: Record<string, string>): Promise<{ app: App; url: string; admin: Client }>;
  stop(): Promise<void>;
}

const silent = createLog({ LOG_LEVEL: 'silent' });

/**
 * @param environment settings beside those that every test service has
 * @param network puts something between the service and its database
 */
export async function startService(
  environment: Record<string, string> = {},
  network: (address: TestDatabase['address']) => Promise<TestDatabase['address']> = async (address) => address,
): Promise<TestService> {
  const database = await createDatabase();
  const address = await network(database.address);
  const clock = testClock();
  const secret = `secret_test_${randomBytes(8).toString('hex')}`;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'halyard-test-'));
  const base = {
    PORT: '0',
    HALYARD_DATA_DIR: dataDirectory,
    SECRET_API_KEY: secret,
    HALYARD_ADMIN_EMAIL: 'admin@example.com',
    JWT_SECRET: 'a secret that only tests use, of 32 characters or more',
    DATA_ENCRYPTION_KEY: '00'.repeat(32),
  };
  const running: App[] = [];
  const start = async (more: Record<string, string>): Promise<App> => {
    const settings = readSettings({ ...base, ...environment, ...more });
    const build = { version: 'test', commit: '', date: '' };
    const app = await startApp({ settings, address, build, clock, log: silent });
    running.push(app);
    return app;
  };
  const app = await start({});
  const tools = { clock, ...operatorServices({ db: database.db, clock, live: new LiveStates(database.db, silent) }) };
  const first = await firstOrganization(database.db);
  // Where the deployment's key is ignored, a stored one takes its place.
  const key =
    environment.MULTI_ORGANIZATION === 'true' ? (await tools.keys.create(first.id, adminKey, actor)).key : secret;

  return {
    ...first,
    app,
    url: app.url,
    dataDirectory,
    db: database.db,
    clock,
    recorder: tools.recorder,
    admin: client(app.url, key),
    anonymous: client(app.url, null),
    async withKey(input, organization = first.id) {
      const made = await tools.keys.create(organization, { ...adminKey, ...input }, actor);
      return { ...client(app.url, made.key), key: made.key, keyId: made.apiKey.id };
    },
    async newOrganization(name) {
      const email = `owner@${name.toLowerCase().replaceAll(/\W+/g, '-')}.example.com`;
      const { id, owner } = await database.db.transaction().execute(async (tx) => {
        const organization = await tools.organizations.create(tx, { name, ownerEmail: email }, actor);
        const member = { email, name, role: 'admin' };
        return { id: organization.id, owner: await addMember(tx, tools, organization.id, member, actor) };
      });
      const { key: text } = await tools.keys.create(id, adminKey, actor);
      return { id, admin: client(app.url, text), owner: { id: owner, email } };
    },
    newMember: (email, role = 'admin') =>
      database.db.transaction().execute((tx) => addMember(tx, tools, first.id, { email, name: '', role }, actor)),
    async setSettings(settings, organization = first.id) {
      const changes = [{ kind: settingsKind, id: settingsId, state: settings }];
      await tools.recorder.publish(organization, actor, () => ({ publication: { changes, audit: [] }, result: null }));
    },
    history: (id) => historyOf(database.db, id),
    async version(organization = first.id) {
      const row = await database.db
        .selectFrom('current_version')
        .select('version')
        .where('organization', '=', organization)
        .executeTakeFirstOrThrow();
      return row.version;
    },
    async another(more = {}) {
      const second = await start(more);
      return { app: second, url: second.url, admin: client(second.url, key) };
    },
    async stop() {
      for (const one of running) await one.stop();
      await database.drop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

const adminKey = { role: 'admin', description: 'test', expiresAt: null };

/** What was recorded of the object with an id: rows as they are stored. */
async function historyOf(db: Db, id: string) {
  const [audits, events, revisions] = await Promise.all([
    db.selectFrom('audit').selectAll().where('entity_id', '=', id).orderBy('id').execute(),
    db.selectFrom('event').selectAll().where('object_id', '=', id).orderBy('position').execute(),
    db.selectFrom('revision').selectAll().where('entity', '=', id).orderBy('version').execute(),
  ]);
  return { audits, events, revisions };
}

type History = Awaited<ReturnType<typeof historyOf>>;

async function firstOrganization(db: Db) {
  const organization = await db.selectFrom('organization').select('id').executeTakeFirstOrThrow();
  const person = await db.selectFrom('person').select(['id', 'email']).executeTakeFirstOrThrow();
  return { id: organization.id, owner: person };
}
