import {
  type Archetype,
  type BodyInputOf,
  deleteArchetype,
  deleteEnvironment,
  deleteProject,
  getArchetype,
  listArchetypes,
  postArchetype,
  postProject,
  putArchetype,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../testing/client.ts';
import { newEnvironment } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

type Body = BodyInputOf<typeof postArchetype>;

describe('archetypes', () => {
  let service: TestService;
  let people: Client;
  let dana: string;
  let eve: string;
  beforeAll(async () => {
    service = await startService();
    people = await service.withKey({ requesterHeader: 'optional', requesterPermissions: 'assume' });
    dana = await service.newMember('dana@example.com');
    eve = await service.newMember('eve@example.com');
  });
  afterAll(() => service.stop());

  const as = (member: string) => ({ headers: { 'X-Service-Requested-By': member } });
  const create = async (more: Partial<Body> = {}, member = dana): Promise<Archetype> => {
    const body = { name: 'Someone', isPublic: true, ...more };
    return (await people.call(postArchetype, { body, ...as(member) })).archetype;
  };
  const ids = async (client: Client, member?: string) =>
    (await client.call(listArchetypes, member === undefined ? {} : as(member))).archetypes.map(({ id }) => id);

  test('one is created, read, changed and deleted, and the audit log tells of each', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const input = {
      name: 'German beta user',
      description: 'Early',
      isPublic: true,
      attributes: { country: 'DE', beta: true, age: 0, tags: [], address: { zip: '10115' } },
      projects: [project.id],
      environments: ['production'],
    };
    const archetype = await create(input);
    const date = expect.stringMatching(/Z$/);
    expect(archetype).toEqual({
      ...input,
      id: expect.stringMatching(/^sam_[A-Za-z0-9]+$/),
      owner: dana,
      ownerEmail: 'dana@example.com',
      dateCreated: date,
      dateUpdated: date,
    });
    const params = { id: archetype.id };
    expect(await admin.call(getArchetype, { params })).toEqual({ archetype });
    expect(await ids(admin)).toContain(archetype.id);
    service.clock.advance(1_000);
    const changed = (await people.call(putArchetype, { params, body: { attributes: { country: 'AT' } }, ...as(eve) }))
      .archetype;
    expect(changed).toEqual({ ...archetype, attributes: { country: 'AT' }, dateUpdated: changed.dateUpdated });
    expect(changed.dateUpdated > archetype.dateUpdated).toBe(true);
    expect(await admin.call(deleteArchetype, { params })).toEqual({ deletedId: archetype.id });
    for (const operation of [getArchetype, deleteArchetype]) await admin.refused(404, operation, { params });
    await admin.refused(404, putArchetype, { params, body: {} });
    const { audits } = await service.history(archetype.id);
    expect(audits.map(({ event, entity_name }) => [event, entity_name])).toEqual([
      ['archetype.created', input.name],
      ['archetype.updated', input.name],
      ['archetype.deleted', input.name],
    ]);
  });

  test('a private one is there for its owner alone', async () => {
    const { id } = await create({ isPublic: false });
    const params = { id };
    expect(await ids(people, dana)).toContain(id);
    expect((await people.call(getArchetype, { params, ...as(dana) })).archetype.isPublic).toBe(false);
    for (const [client, more] of [
      [people, as(eve)],
      [people, {}],
      [service.admin, {}],
    ] as const) {
      expect((await client.call(listArchetypes, more)).archetypes.map((one) => one.id)).not.toContain(id);
      await client.refused(404, getArchetype, { params, ...more });
      await client.refused(404, putArchetype, { params, body: { name: 'Taken' }, ...more });
      await client.refused(404, deleteArchetype, { params, ...more });
    }
    await people.call(putArchetype, { params, body: { isPublic: true }, ...as(dana) });
    expect(await ids(service.admin)).toContain(id);
    await people.call(putArchetype, { params, body: { isPublic: false }, ...as(dana) });
    await people.call(deleteArchetype, { params, ...as(dana) });
  });

  test('a member who is only named for the record is no owner', async () => {
    const key = await service.withKey({ requesterHeader: 'optional', requesterPermissions: 'key' });
    const { archetype } = await key.call(postArchetype, { body: { name: 'x', isPublic: true }, ...as(dana) });
    expect(archetype.owner).toBe('');
    await key.refused(400, postArchetype, { body: { name: 'x', isPublic: false }, ...as(dana) });
  });

  test('a key in its own name makes public ones, which belong to nobody and stay public', async () => {
    const { admin } = service;
    const { message } = await admin.refused(400, postArchetype, { body: { name: 'Mine', isPublic: false } });
    expect(message).toContain('isPublic');
    const { archetype } = await admin.call(postArchetype, { body: { name: 'Ours', isPublic: true } });
    expect(archetype).toMatchObject({ owner: '', attributes: {} });
    expect(archetype).not.toHaveProperty('ownerEmail');
    const hide = { params: { id: archetype.id }, body: { isPublic: false } };
    await admin.refused(400, putArchetype, hide);
    await people.refused(400, putArchetype, { ...hide, ...as(dana) });
  });

  test('nobody takes one away from the others by making it private but its owner', async () => {
    const { id } = await create();
    const hide = { params: { id }, body: { isPublic: false } };
    expect((await people.refused(400, putArchetype, { ...hide, ...as(eve) })).message).toContain('owner');
    expect(await ids(people, eve)).toContain(id);
    await people.call(putArchetype, { ...hide, ...as(dana) });
    expect(await ids(people, eve)).not.toContain(id);
  });

  const wrong: [string, object, string][] = [
    ['a blank name', { name: ' ' }, 'name'],
    ['a text for that', { isPublic: 'yes' }, 'isPublic'],
    ['a list of attributes', { attributes: ['country'] }, 'attributes'],
    ['a text of attributes', { attributes: 'country' }, 'attributes'],
    ['null for attributes', { attributes: null }, 'attributes'],
    [
      'too many attributes',
      { attributes: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 1])) },
      '1000',
    ],
    ['too large attributes', { attributes: { text: 'x'.repeat(100_001) } }, '100000'],
    ['a long description', { description: 'x'.repeat(10_001) }, 'description'],
    ['an unknown project', { projects: ['prj_x'] }, 'prj_x'],
    ['an unknown environment', { environments: ['production', 'mars'] }, 'mars'],
    ['an owner', { owner: 'u_x' }, 'owner'],
    ['an unknown key', { colour: 'red' }, 'colour'],
  ];

  test.each([
    ...wrong,
    ['no name', { name: undefined }, 'name'],
    ['no word on whether it is public', { isPublic: undefined }, 'isPublic'],
  ])('creating one with %s is 400 and nothing is stored', async (_, more, named) => {
    const before = await ids(people, dana);
    const body = { name: 'Refused', isPublic: true, ...more };
    expect((await people.refused(400, postArchetype, { body, ...as(dana) })).message).toContain(named);
    expect(await ids(people, dana)).toEqual(before);
  });

  test.each(wrong)('changing one to %s is 400 and nothing is stored', async (_, body, named) => {
    const archetype = await create();
    const params = { id: archetype.id };
    expect((await people.refused(400, putArchetype, { params, body, ...as(dana) })).message).toContain(named);
    expect(await people.call(getArchetype, { params, ...as(dana) })).toEqual({ archetype });
  });

  test('the same content changes nothing', async () => {
    const archetype = await create({ attributes: { a: 1 } });
    const same = await people.call(putArchetype, {
      params: { id: archetype.id },
      body: { name: archetype.name, attributes: { a: 1 } },
      ...as(dana),
    });
    expect(same.archetype).toEqual(archetype);
    expect((await service.history(archetype.id)).audits).toHaveLength(1);
  });

  test('changes that are made at once are all made', async () => {
    const { id } = await create();
    const patches: object[] = [{ name: 'New' }, { description: 'New' }, { attributes: { is: 'new' } }];
    await Promise.all(patches.map((body) => people.call(putArchetype, { params: { id }, body, ...as(dana) })));
    const { archetype } = await people.call(getArchetype, { params: { id }, ...as(dana) });
    expect(archetype).toMatchObject(Object.assign({}, ...patches));
    const deleted = await Promise.all(
      [1, 2].map(() => people.request(deleteArchetype, { params: { id }, ...as(dana) })),
    );
    expect(deleted.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test('a deleted project or environment leaves its lists, where it is not the last one', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Gone' } });
    const { project: left } = await admin.call(postProject, { body: { name: 'Left' } });
    await newEnvironment(admin, 'gone');
    const one = await create({ projects: [project.id], environments: ['gone'] });
    const two = await create({ projects: [project.id, left.id], environments: ['gone', 'production'] });
    await admin.call(deleteProject, { params: { id: project.id } });
    await admin.call(deleteEnvironment, { params: { id: 'gone' } });
    const shown = async ({ id }: Archetype) => (await admin.call(getArchetype, { params: { id } })).archetype;
    expect(await shown(one)).toMatchObject({ projects: [project.id], environments: ['gone'] });
    expect(await shown(two)).toMatchObject({ projects: [left.id], environments: ['production'] });
    expect((await service.history(two.id)).audits.map(({ event }) => event)).toEqual([
      'archetype.created',
      'archetype.updated',
      'archetype.updated',
    ]);
    await people.call(putArchetype, {
      params: { id: one.id },
      body: { projects: [project.id], environments: ['gone', 'production'] },
      ...as(dana),
    });
  });

  test('are seen by who may read in one of their projects, and written by who may in all, old and new', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Theirs' } });
    const { project: own } = await admin.call(postProject, { body: { name: 'Own' } });
    const theirs = await create({ projects: [project.id] });
    const ours = await create({ projects: [own.id] });
    const both = await create({ projects: [project.id, own.id] });
    const role = (id: string, name: string) => ({
      project: id,
      role: name,
      limitAccessByEnvironment: false,
      environments: [],
    });
    const key = await service.withKey({
      role: 'readonly',
      projectRoles: [role(project.id, 'nobody'), role(own.id, 'admin')],
    });
    const seen = await ids(key);
    expect(seen).toEqual(expect.arrayContaining([ours.id, both.id]));
    expect(seen).not.toContain(theirs.id);
    await key.refused(404, getArchetype, { params: { id: theirs.id } });
    await key.refused(404, putArchetype, { params: { id: theirs.id }, body: {} });
    await key.refused(404, deleteArchetype, { params: { id: theirs.id } });
    await key.refused(403, putArchetype, { params: { id: both.id }, body: { projects: [own.id] } });
    await key.refused(403, deleteArchetype, { params: { id: both.id } });
    await key.refused(403, putArchetype, { params: { id: ours.id }, body: { projects: [project.id] } });
    await key.refused(403, putArchetype, { params: { id: ours.id }, body: { projects: [] } });
    await key.refused(403, postArchetype, { body: { name: 'x', isPublic: true } });
    await key.call(putArchetype, { params: { id: ours.id }, body: { name: 'Renamed' } });
    const { archetype } = await key.call(postArchetype, { body: { name: 'x', isPublic: true, projects: [own.id] } });
    await key.call(deleteArchetype, { params: { id: archetype.id } });
  });
});

describe('archetypes where they are switched off', () => {
  test('no new ones are made; those there are can be read, changed and deleted', async () => {
    const service = await startService();
    const { archetype } = await service.admin.call(postArchetype, { body: { name: 'Old', isPublic: true } });
    const { admin } = await service.another({ ENTITLEMENTS: 'releases' });
    const { details } = await admin.refused(403, postArchetype, { body: { name: 'New', isPublic: true } });
    expect(details).toMatchObject({ entitlement: 'archetypes' });
    const params = { id: archetype.id };
    await admin.call(getArchetype, { params });
    await admin.call(putArchetype, { params, body: { name: 'Renamed' } });
    await admin.call(deleteArchetype, { params });
    await service.stop();
  });
});
