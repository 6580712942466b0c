import {
  deleteEnvironment,
  deleteProject,
  getFeature,
  listEnvironments,
  postEnvironment,
  postProject,
  putEnvironment,
  toggleFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('environments', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const list = async () => (await service.admin.call(listEnvironments)).environments;

  test('a new organization has production alone, on by default [tenancy M80]', async () => {
    const { admin } = await service.newOrganization('Fresh');
    expect((await admin.call(listEnvironments)).environments).toEqual([
      { id: 'production', description: '', toggleOnList: true, defaultState: true, projects: [] },
    ]);
  });

  test('an environment is created at the end, changed and deleted', async () => {
    const { admin } = service;
    const { environment } = await admin.call(postEnvironment, { body: { id: 'dev', description: 'Ours' } });
    expect(environment).toEqual({
      id: 'dev',
      description: 'Ours',
      toggleOnList: false,
      defaultState: false,
      projects: [],
    });
    await admin.call(postEnvironment, { body: { id: 'a-first', parent: 'dev' } });
    expect((await list()).map(({ id }) => id)).toEqual(['production', 'dev', 'a-first']);
    expect((await list())[2]).toMatchObject({ parent: 'dev' });
    const changed = await admin.call(putEnvironment, { params: { id: 'dev' }, body: { defaultState: true } });
    expect(changed.environment).toEqual({ ...environment, defaultState: true });
    expect((await list()).map(({ id }) => id)).toEqual(['production', 'dev', 'a-first']);
    expect((await admin.refused(400, deleteEnvironment, { params: { id: 'dev' } })).message).toContain('a-first');
    await admin.call(deleteEnvironment, { params: { id: 'a-first' } });
    expect(await admin.call(deleteEnvironment, { params: { id: 'dev' } })).toEqual({ deletedId: 'dev' });
    await admin.refused(404, deleteEnvironment, { params: { id: 'dev' } });
    await admin.refused(404, putEnvironment, { params: { id: 'dev' }, body: {} });
  });

  test.each([
    ['an id that is taken', { id: 'production' }, 'production'],
    ['no id', {}, 'id'],
    ['an empty id', { id: '' }, 'id'],
    ['a slash in the id', { id: 'a/b' }, 'id'],
    ['an id that cannot be a key of JSON', { id: '__proto__' }, 'id'],
    ['65 characters', { id: 'x'.repeat(65) }, 'id'],
    ['an unknown parent', { id: 'x', parent: 'mars' }, 'mars'],
    ['an unknown project', { id: 'x', projects: ['prj_x'] }, 'prj_x'],
  ])('%s is 400 and nothing is stored', async (_, body, named) => {
    const before = await list();
    expect((await service.admin.refused(400, postEnvironment, { body })).message).toContain(named);
    expect(await list()).toEqual(before);
  });

  test('id and parent cannot be changed', async () => {
    for (const body of [{ id: 'other' }, { parent: 'production' }]) {
      await service.admin.refused(400, putEnvironment, { params: { id: 'production' }, body });
    }
  });

  test('an id that every object has as a member is an id like another', async () => {
    const { admin } = await service.newOrganization('Names');
    for (const id of ['constructor', 'toString', 'hasOwnProperty']) {
      await admin.refused(404, putEnvironment, { params: { id }, body: {} });
      await admin.call(postEnvironment, { body: { id } });
      await admin.call(deleteEnvironment, { params: { id } });
    }
  });

  test('the last one stays', async () => {
    const { admin } = await service.newOrganization('One');
    expect((await admin.refused(400, deleteEnvironment, { params: { id: 'production' } })).message).toContain('last');
  });

  test('two that create different ones at once both survive, of the same only one', async () => {
    const { admin } = await service.newOrganization('Race');
    const create = (id: string) => admin.request(postEnvironment, { body: { id } });
    const statuses = (await Promise.all(['a', 'b', 'c', 'c'].map(create))).map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    expect(statuses.slice(2).sort()).toEqual([200, 400]);
    const { environments } = await admin.call(listEnvironments);
    expect(environments.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'production']);
  });

  test('what is scoped to a deleted one is served nowhere, and never everywhere', async () => {
    const { admin } = service;
    await admin.call(postEnvironment, { body: { id: 'short-lived' } });
    const { key } = await newConnection(admin);
    const { id } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', environments: ['short-lived'] }],
    });
    const { version } = await admin.answer(deleteEnvironment, { params: { id: 'short-lived' } });
    expect((await payloadOf(service.url, key, version)).features[id]).toEqual({ defaultValue: false });
  });

  test('a change of its projects reaches the payloads of its connections', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Only' } });
    await admin.call(postEnvironment, { body: { id: 'limited', defaultState: true } });
    const { key } = await newConnection(admin, { environment: 'limited' });
    const inside = await newFeature(service, { project: project.id });
    const outside = await newFeature(service);
    const features = async (version: number) => Object.keys((await payloadOf(service.url, key, version)).features);
    expect(await features(await service.version())).toEqual(expect.arrayContaining([inside.id, outside.id]));
    const { version } = await admin.answer(putEnvironment, {
      params: { id: 'limited' },
      body: { projects: [project.id] },
    });
    expect(await features(version)).toEqual([inside.id]);
    const { version: after } = await admin.answer(deleteProject, { params: { id: project.id } });
    expect(await features(after)).toEqual([]);
  });

  test('one that is called like a deleted one begins without what that one has left in features', async () => {
    const { admin } = service;
    await admin.call(postEnvironment, { body: { id: 'again', defaultState: true } });
    const rules = [
      { type: 'force' as const, value: 'true', environments: ['again'] },
      { type: 'force' as const, value: 'true', environments: ['again', 'production'] },
      { type: 'force' as const, value: 'true' },
    ];
    const { id } = await newFeature(service, { rules });
    const get = async () => (await admin.call(getFeature, { params: { id } })).feature;
    await admin.call(deleteEnvironment, { params: { id: 'again' } });
    const orphaned = await get();
    expect(orphaned.rules.map(({ environments }) => environments)).toEqual([
      ['again'],
      ['again', 'production'],
      undefined,
    ]);
    expect(orphaned.revision.version).toBe(1);

    const { version } = await admin.answer(postEnvironment, { body: { id: 'again' } });
    const fresh = await get();
    expect(fresh.environments['again']).toMatchObject({ enabled: false });
    expect(fresh.rules.map(({ environments }) => environments)).toEqual([[], ['production'], undefined]);
    expect(fresh.revision).toMatchObject({ version: 2, comment: 'The environment again was created anew' });
    const { key } = await newConnection(admin, { environment: 'again' });
    expect((await payloadOf(service.url, key, version)).features).not.toHaveProperty(id);
    await admin.call(toggleFeature, { params: { id }, body: { environments: { again: true } } });
    expect((await payloadOf(service.url, key, await service.version())).features[id]?.rules).toEqual([{ force: true }]);
  });

  test('are seen by who may read in one of their projects, and written by who may in all', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Theirs' } });
    await admin.call(postEnvironment, { body: { id: 'theirs', projects: [project.id] } });
    const nobody = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [nobody] });
    expect((await key.call(listEnvironments)).environments.map(({ id }) => id)).not.toContain('theirs');
    await key.refused(404, putEnvironment, { params: { id: 'theirs' }, body: {} });
    const readonly = await service.withKey({ role: 'readonly' });
    await readonly.refused(403, postEnvironment, { body: { id: 'x' } });
    await readonly.refused(403, putEnvironment, { params: { id: 'theirs' }, body: {} });
    await readonly.refused(403, deleteEnvironment, { params: { id: 'theirs' } });
  });
});

describe('inheritance where it is switched off', () => {
  test('a new environment has no parent', async () => {
    const service = await startService({ ENTITLEMENTS: 'releases' });
    const { details } = await service.admin.refused(403, postEnvironment, { body: { id: 'x', parent: 'production' } });
    expect(details).toMatchObject({ entitlement: 'environment-inheritance' });
    await service.stop();
  });
});
