import {
  getProject,
  getVersion,
  listFeatures,
  listProjects,
  postFeature,
  postProject,
  putProject,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshId, newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('who asks', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ APP_ORIGIN: 'https://flags.example.com' });
  });
  afterAll(() => service.stop());

  const ask = (headers: Record<string, string>) => fetch(`${service.url}/v1/version`, { headers });
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  test('a key may be sent as Bearer or as the user name of Basic [tenancy M1]', async () => {
    const { key } = await service.withKey({});
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer   ${key}` },
      basic(`${key}:`),
      basic(key),
      basic(`${key}:ignored`),
    ]) {
      const response = await ask(headers);
      expect([response.status, await response.json()]).toEqual([200, { version: 'test', commit: '', date: '' }]);
    }
  });

  test('missing, malformed, unknown, disabled and expired credentials are 401 with a message [tenancy M2]', async () => {
    const disabled = await service.withKey({});
    await service.db.updateTable('api_key').set({ disabled: true }).where('id', '=', disabled.keyId).execute();
    const expiring = await service.withKey({ expiresAt: new Date(service.clock.now().getTime() + 1_000) });
    service.clock.advance(1_000);
    for (const [headers, said] of [
      [{}, 'secret key'],
      [{ authorization: '' }, 'secret key'],
      [{ authorization: 'Bearer' }, 'no key'],
      [{ authorization: 'Digest abc' }, 'Bearer or Basic'],
      [{ authorization: 'Basic ???' }, 'base64'],
      [{ authorization: 'Basic ' }, 'no key'],
      [{ authorization: 'Bearer nobody' }, 'no such key'],
      [{ authorization: `Bearer ${disabled.key}` }, 'disabled'],
      [{ authorization: `Bearer ${expiring.key}` }, 'https://flags.example.com/settings/keys'],
    ] as const) {
      const response = await ask(headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(((await response.json()) as { message: string }).message).toContain(said);
    }
  });

  test('a key with an expiry tells it on every answer; expiring just now is expired [tenancy M3]', async () => {
    const expiresAt = new Date(service.clock.now().getTime() + 60_000);
    const key = await service.withKey({ role: 'readonly', expiresAt });
    const told = (headers: Headers) => headers.get('x-service-key-expires-at');
    expect(told((await key.answer(getVersion)).headers)).toBe(expiresAt.toISOString());
    expect(told((await key.refused(404, getProject, { params: { id: 'x' } })).headers)).toBe(expiresAt.toISOString());
    expect(told((await key.refused(403, postProject, { body: { name: 'x' } })).headers)).toBe(expiresAt.toISOString());
    expect(told((await key.refused(400, listProjects, { query: { limit: 0 } })).headers)).toBe(expiresAt.toISOString());
    const without = await service.withKey({});
    expect(told((await without.answer(getVersion)).headers)).toBeNull();
    service.clock.advance(expiresAt.getTime() - service.clock.now().getTime());
    expect(told((await key.refused(401, getVersion)).headers)).toBe(expiresAt.toISOString());
  });

  test('the last use is noted, also when the key is refused; a key never used has none [tenancy M4]', async () => {
    const lastUsed = async (id: string) =>
      (await service.db.selectFrom('api_key').select('last_used').where('id', '=', id).executeTakeFirstOrThrow())
        .last_used;
    const unused = await service.withKey({});
    const dead = await service.withKey({});
    await service.db.updateTable('api_key').set({ disabled: true }).where('id', '=', dead.keyId).execute();
    await dead.refused(401, getVersion);
    await expect.poll(() => lastUsed(dead.keyId)).toBeInstanceOf(Date);
    const first = await lastUsed(dead.keyId);
    service.clock.advance(61_000);
    await dead.refused(401, getVersion);
    await expect.poll(() => lastUsed(dead.keyId)).not.toEqual(first);
    expect(await lastUsed(unused.keyId)).toBeNull();
  });

  test('a key whose role is unknown can do nothing, one with a role can do that', async () => {
    const unknown = await service.withKey({});
    await service.db.updateTable('api_key').set({ role: 'wizard' }).where('id', '=', unknown.keyId).execute();
    const { id } = await newFeature(service);
    await unknown.refused(403, postProject, { body: { name: 'x' } });
    expect(await unknown.call(listFeatures)).toMatchObject({ total: 0 });
    const readonly = await service.withKey({ role: 'readonly' });
    expect(
      (await readonly.call(listFeatures, { query: { limit: 100 } })).features.map((feature) => feature.id),
    ).toContain(id);
  });

  test('of a key only a hash is kept, and its text is nowhere else [tenancy M10]', async () => {
    const { key, keyId } = await service.withKey({});
    const row = await service.db.selectFrom('api_key').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();
    expect(row.hash).toHaveLength(32);
    expect(row.preview).toBe(`secret_admin_…${key.slice(-4)}`);
    const { audits } = await service.history(keyId);
    expect(audits.map(({ event }) => event)).toEqual(['apiKey.create']);
    expect(JSON.stringify([row, audits])).not.toContain(key.slice('secret_admin_'.length, -4));
    expect(JSON.stringify(audits)).not.toContain(row.hash.toString('hex'));
    const { message } = (await (await ask({ authorization: `Bearer ${key}x` })).json()) as { message: string };
    expect(message).not.toContain(key);
  });

  test('the client key of an SDK connection is refused on the API [tenancy M11]', async () => {
    const { key } = await newConnection(service.admin);
    const response = await ask({ authorization: `Bearer ${key}` });
    expect(response.status).toBe(401);
    expect(((await response.json()) as { message: string }).message).toContain('secret key');
  });

  test('a key stays within its organization', async () => {
    const stranger = await service.newOrganization('Stranger');
    await service.admin.refused(401, getVersion, { headers: { 'X-Organization': stranger.id } });
    await service.admin.call(getVersion, { headers: { 'X-Organization': service.id } });
  });

  test('every key of a suspended organization is refused, SDKs are still served', async () => {
    const { id, admin } = await service.newOrganization('Suspended');
    const { key } = await newConnection(admin);
    await service.db.updateTable('organization').set({ suspended: true }).where('id', '=', id).execute();
    expect((await admin.refused(403, getVersion)).message).toContain('suspended');
    expect((await fetch(`${service.url}/api/features/${key}`)).status).toBe(200);
  });

  test('a missing credential is told before anything about the request: whether there is such a path, object or field', async () => {
    const json = { 'content-type': 'application/json' };
    for (const [path, init] of [
      ['/v2/features?limit=0', {}],
      ['/v2/features', { method: 'POST' }],
      ['/v2/features', { method: 'POST', headers: json, body: '{"nonsense":1}' }],
      ['/v1/nothing', {}],
      ['/v1/nothing', { method: 'POST', headers: json, body: '{broken' }],
      ['/v1/projects/x', {}],
      ['/v1/projects/x', { method: 'DELETE', headers: json, body: '{broken' }],
    ] as const) {
      expect((await fetch(`${service.url}${path}`, init)).status).toBe(401);
    }
  });

  test('a body that cannot be read is told before a missing credential', async () => {
    const send = (body: string) =>
      fetch(`${service.url}/v1/projects`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect((await send('{"name":')).status).toBe(400);
    expect((await send(' '.repeat(2 * 1024 * 1024 + 1))).status).toBe(413);
    expect((await send('{"name":"x"}')).status).toBe(401);
  });
});

describe('on whose behalf', () => {
  let service: TestService;
  let dana: string;
  beforeAll(async () => {
    service = await startService();
    dana = await service.newMember('dana@example.com', 'readonly');
  });
  afterAll(() => service.stop());

  const by = (value: string) => ({ 'X-Service-Requested-By': value });
  const project = () => ({ body: { name: `P ${freshId()}` } });

  test('a key that requires a name refuses requests without, one that rejects it refuses those with, reads too [tenancy M18]', async () => {
    const required = await service.withKey({ requesterHeader: 'required' });
    await required.refused(400, getVersion);
    await required.refused(400, listProjects, { headers: by('  ') });
    await required.call(getVersion, { headers: by(dana) });
    const rejected = await service.withKey({ requesterHeader: 'rejected' });
    await rejected.call(getVersion);
    await rejected.refused(400, getVersion, { headers: by(dana) });
    await rejected.refused(400, getVersion, { headers: by('nobody') });
  });

  test('members are named by id, or by e-mail in any letter case; nobody else can be named [tenancy M19]', async () => {
    const key = await service.withKey({});
    for (const value of [dana, 'DANA@example.com', ' dana@example.com '])
      await key.call(getVersion, { headers: by(value) });
    await key.call(getVersion, { headers: by('') });
    const outsider = await service.newOrganization('Outsider');
    for (const value of ['nobody', 'u_x', outsider.owner.id, outsider.owner.email]) {
      expect((await key.refused(400, getVersion, { headers: by(value) })).message).toContain('no member');
    }
    const twice = new Headers([
      ['authorization', `Bearer ${key.key}`],
      ['x-service-requested-by', dana],
    ]);
    twice.append('x-service-requested-by', dana);
    expect((await fetch(`${service.url}/v1/version`, { headers: twice })).status).toBe(400);
  });

  test('a key that assumes the member holds only what both hold [tenancy M20]', async () => {
    const admin = await service.newMember('boss@example.com');
    const adminKey = await service.withKey({});
    const { message } = await adminKey.refused(403, postProject, { ...project(), headers: by(dana) });
    // It is Dana who lacks it.
    expect(message).toContain('dana@example.com');
    const readonlyKey = await service.withKey({ role: 'readonly' });
    await readonlyKey.refused(403, postProject, { ...project(), headers: by(admin) });
    await adminKey.call(postProject, { ...project(), headers: by(admin) });

    const { project: hidden } = await service.admin.call(postProject, project());
    const { id } = await newFeature(service, { project: hidden.id });
    const nobody = { project: hidden.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    await service.db
      .updateTable('member')
      .set({ project_roles: JSON.stringify([nobody]) })
      .where('person', '=', dana)
      .execute();
    const seen = async (headers: Record<string, string>) =>
      (await adminKey.call(listFeatures, { headers })).features.map((feature) => feature.id);
    expect(await seen({})).toContain(id);
    expect(await seen(by(dana))).not.toContain(id);
  });

  test('what only one side holds is in neither’s name [tenancy M21]', async () => {
    const { project: a } = await service.admin.call(postProject, project());
    const { project: b } = await service.admin.call(postProject, project());
    const adminIn = (id: string) => ({ project: id, role: 'admin', limitAccessByEnvironment: false, environments: [] });
    const member = await service.newMember('lee@example.com', 'readonly');
    await service.db
      .updateTable('member')
      .set({ project_roles: JSON.stringify([adminIn(a.id)]) })
      .where('person', '=', member)
      .execute();
    const key = await service.withKey({ role: 'readonly', projectRoles: [adminIn(b.id)] });
    for (const id of [a.id, b.id]) {
      await key.refused(403, putProject, { params: { id }, body: { name: 'x' }, headers: by(member) });
    }
    await key.call(putProject, { params: { id: b.id }, body: { name: 'x' } });
  });

  test('a key with its own role acts as itself and records the name', async () => {
    const key = await service.withKey({ requesterPermissions: 'key', description: 'CI' });
    const { feature } = await key.call(postFeature, {
      body: { id: freshId(), defaultValue: 'false', owner: service.owner.id },
      headers: by(dana),
    });
    expect(feature.revision.createdBy).toEqual({
      type: 'api_key',
      id: key.keyId,
      name: 'CI',
      requestedBy: { id: dana, name: '', email: 'dana@example.com' },
    });
    const { audits } = await service.history(feature.id);
    expect(audits[0]?.actor).toEqual({
      type: 'api_key',
      apiKey: key.keyId,
      name: 'CI',
      requestedBy: { id: dana, name: '', email: 'dana@example.com' },
    });
  });
});
