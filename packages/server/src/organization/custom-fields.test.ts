import {
  type BodyInputOf,
  type CustomField,
  createCustomField,
  deleteCustomField,
  deleteProject,
  getCustomField,
  listCustomFields,
  postProject,
  updateCustomField,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../testing/client.ts';
import { startService, type TestService } from '../../testing/service.ts';

type Body = BodyInputOf<typeof createCustomField>;

const body = (more: Partial<Body> = {}): Body => ({
  id: 'team',
  name: `Team ${more.id ?? ''}`,
  type: 'text',
  required: false,
  sections: ['feature'],
  ...more,
});

const newField = async (admin: Client, more: Partial<Body> = {}): Promise<CustomField> =>
  (await admin.call(createCustomField, { body: body(more) })).customField;

describe('custom fields', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const list = (query: Record<string, string> = {}) => service.admin.call(listCustomFields, { query });
  const ids = async (admin: Client, query: Record<string, string> = {}) =>
    (await admin.call(listCustomFields, { query })).map(({ id }) => id);
  const update = async (id: string, patch: BodyInputOf<typeof updateCustomField>): Promise<CustomField> =>
    (await service.admin.call(updateCustomField, { params: { id }, body: patch })).customField;

  test('one is created, read, changed and deleted, and the audit log tells of each', async () => {
    const { admin } = service;
    const input = body({
      id: 'colour',
      name: 'Colour',
      description: 'Which',
      placeholder: 'Choose',
      defaultValue: ['red'],
      type: 'multiselect',
      values: 'red,green',
      sections: ['feature', 'experiment', 'feature'],
    });
    const field = await newField(admin, input);
    const date = expect.stringMatching(/Z$/);
    expect(field).toEqual({
      ...input,
      sections: ['feature', 'experiment'],
      active: true,
      dateCreated: date,
      dateUpdated: date,
    });
    const params = { id: 'colour' };
    expect(await admin.call(getCustomField, { params })).toEqual({ customField: field });
    service.clock.advance(1_000);
    const changed = await update('colour', { values: 'red,green,blue', required: true });
    expect(changed).toEqual({
      ...field,
      values: 'red,green,blue',
      required: true,
      dateUpdated: changed.dateUpdated,
    });
    expect(changed.dateUpdated > field.dateUpdated).toBe(true);
    expect(await admin.call(deleteCustomField, { params })).toEqual({ deletedId: 'colour' });
    for (const operation of [getCustomField, deleteCustomField]) await admin.refused(404, operation, { params });
    await admin.refused(404, updateCustomField, { params, body: {} });
    const { audits } = await service.history('colour');
    expect(audits.map(({ event, entity_name }) => [event, entity_name])).toEqual([
      ['customField.create', 'Colour'],
      ['customField.update', 'Colour'],
      ['customField.delete', 'Colour'],
    ]);
  });

  test('the list is bare and in order of creation; one that is inactive is in it, but neither in that of a project nor found by id [tenancy M83]', async () => {
    const { admin } = await service.newOrganization('Listed');
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const { project: other } = await admin.call(postProject, { body: { name: 'Other' } });
    for (const id of ['zebra', 'ape', 'bear']) await newField(admin, { id });
    await newField(admin, { id: 'in_one', projects: [project.id] });
    await newField(admin, { id: 'of_experiments', sections: ['experiment'], projects: [project.id] });
    const params = { id: 'ape' };
    const { customField } = await admin.call(updateCustomField, { params, body: { active: false } });
    expect(customField.active).toBe(false);
    const answer = await (await admin.request(listCustomFields)).json();
    expect(Array.isArray(answer)).toBe(true);
    expect(await ids(admin)).toEqual(['zebra', 'ape', 'bear', 'in_one', 'of_experiments']);
    expect(await ids(admin, { projectId: project.id })).toEqual(['zebra', 'bear', 'in_one', 'of_experiments']);
    expect(await ids(admin, { projectId: other.id })).toEqual(['zebra', 'bear']);
    expect(await ids(admin, { projectId: 'prj_unknown' })).toEqual([]);
    await admin.refused(404, getCustomField, { params });
    await admin.call(updateCustomField, { params, body: { active: true } });
    expect((await admin.call(getCustomField, { params })).customField.id).toBe('ape');
    expect(await ids(admin, { projectId: other.id })).toEqual(['zebra', 'ape', 'bear']);
  });

  test('an inactive one can be changed and deleted', async () => {
    await newField(service.admin, { id: 'resting' });
    await update('resting', { active: false });
    expect(await update('resting', { description: 'Later' })).toMatchObject({ active: false, description: 'Later' });
    await service.admin.call(deleteCustomField, { params: { id: 'resting' } });
  });

  test.each<[string, object, string]>([
    ['no id', { id: undefined }, 'id'],
    ['an empty id', { id: '' }, 'id'],
    ['capitals in the id', { id: 'Team' }, 'lower-case'],
    ['a dot in the id', { id: 'a.b' }, 'id'],
    ['an id that cannot be a key of JSON', { id: '__proto__' }, '__proto__'],
    ['an id that is taken', { id: 'taken' }, 'taken'],
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: ' ' }, 'name'],
    ['the name of an active one with a section in common', { name: 'Taken' }, 'taken'],
    ['no type', { type: undefined }, 'type'],
    ['an unknown type', { type: 'colour' }, 'type'],
    ['no word on whether it is required', { required: undefined }, 'required'],
    ['no sections', { sections: undefined }, 'sections'],
    ['an unknown section', { sections: ['config'] }, 'sections'],
    ['an enum without choices', { type: 'enum' }, 'values'],
    ['a multiselect whose choices are blank', { type: 'multiselect', values: ' , ' }, 'values'],
    ['an unknown project', { projects: ['prj_x'] }, 'prj_x'],
    ['a default value that is an object', { defaultValue: {} }, 'defaultValue'],
    ['a default value of mixed items', { defaultValue: ['a', 1] }, 'defaultValue'],
    ['a long description', { description: 'x'.repeat(10_001) }, 'description'],
    ['an active that creation does not know', { active: false }, 'active'],
    ['an unknown key', { colour: 'red' }, 'colour'],
  ])('creating one with %s is 400 and nothing is stored', async (_, more, named) => {
    await service.admin.request(createCustomField, { body: body({ id: 'taken', name: 'Taken' }) });
    const before = await list();
    const { message } = await service.admin.refused(400, createCustomField, { body: { ...body(), ...more } });
    expect(message).toContain(named);
    expect(await list()).toEqual(before);
  });

  test.each<[string, object, string]>([
    ['its id', { id: 'other' }, 'id'],
    ['its type', { type: 'number' }, 'type'],
    ['its creator', { creator: 'u_x' }, 'creator'],
    ['its choices to none', { values: '' }, 'values'],
    ['its name to that of another', { name: 'Team other' }, 'other'],
    ['its projects to an unknown one', { projects: ['prj_x'] }, 'prj_x'],
  ])('changing %s is 400 and nothing is stored', async (_, patch, named) => {
    const { admin } = service;
    await admin.request(createCustomField, { body: body({ id: 'kept', type: 'enum', values: 'a,b' }) });
    await admin.request(createCustomField, { body: body({ id: 'other' }) });
    const before = await list();
    const { message } = await admin.refused(400, updateCustomField, { params: { id: 'kept' }, body: patch });
    expect(message).toContain(named);
    expect(await list()).toEqual(before);
  });

  test('a name may be that of one that is inactive, or of another section', async () => {
    const { admin } = service;
    await newField(admin, { id: 'first', name: 'Owner' });
    await newField(admin, { id: 'for_experiments', name: 'Owner', sections: ['experiment'] });
    await update('first', { active: false });
    await newField(admin, { id: 'second', name: 'Owner' });
    const { message } = await admin.refused(400, updateCustomField, {
      params: { id: 'first' },
      body: { active: true },
    });
    expect(message).toContain('second');
    const both = { params: { id: 'second' }, body: { sections: ['feature', 'experiment'] } };
    expect((await admin.refused(400, updateCustomField, both)).message).toContain('for_experiments');
    expect((await update('first', { name: 'Owner of old', active: true })).active).toBe(true);
  });

  test('choices stay only with the types that have some', async () => {
    expect(await newField(service.admin, { id: 'plain', values: 'a,b' })).not.toHaveProperty('values');
  });

  test('the same content changes nothing', async () => {
    const field = await newField(service.admin, { id: 'same' });
    const version = await service.version();
    expect(await update('same', { name: field.name, sections: ['feature'], active: true })).toEqual(field);
    expect(await update('same', {})).toEqual(field);
    expect(await service.version()).toBe(version);
    expect((await service.history('same')).audits).toHaveLength(1);
  });

  test('the index of a deletion is a whole number of at least 0', async () => {
    const { admin } = service;
    const params = { id: 'indexed' };
    await newField(admin, params);
    for (const index of ['-1', '1.5', 'x', '']) {
      expect((await admin.refused(400, deleteCustomField, { params, query: { index } })).message).toContain('index');
    }
    await admin.call(getCustomField, { params });
    expect(await admin.call(deleteCustomField, { params, query: { index: 0 } })).toEqual({ deletedId: 'indexed' });
    await newField(admin, params);
    await admin.call(deleteCustomField, { params, query: { index: 7 } });
  });

  test('who made it is told, where it was a person', async () => {
    expect(await newField(service.admin, { id: 'by_a_key' })).not.toHaveProperty('creator');
    const dana = await service.newMember('dana@example.com');
    const key = await service.withKey({ requesterHeader: 'optional', requesterPermissions: 'assume' });
    const { customField } = await key.call(createCustomField, {
      body: body({ id: 'by_dana' }),
      headers: { 'X-Service-Requested-By': dana },
    });
    expect(customField.creator).toBe(dana);
  });

  test('two that create different ones at once both survive, of the same id or name only one', async () => {
    const { admin } = await service.newOrganization('Race');
    const create = (more: Partial<Body>) => admin.request(createCustomField, { body: body(more) });
    const all = await Promise.all([
      create({ id: 'a' }),
      create({ id: 'b' }),
      create({ id: 'c' }),
      create({ id: 'c' }),
      create({ id: 'd', name: 'Same' }),
      create({ id: 'e', name: 'Same' }),
    ]);
    const statuses = all.map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    expect(statuses.slice(2, 4).sort()).toEqual([200, 400]);
    expect(statuses.slice(4).sort()).toEqual([200, 400]);
    expect(await ids(admin)).toHaveLength(4);
  });

  test('twenty that are created at once are all there', async () => {
    const { admin } = await service.newOrganization('Crowd');
    await Promise.all(Array.from({ length: 20 }, (_, index) => newField(admin, { id: `field_${index}` })));
    expect(await ids(admin)).toHaveLength(20);
  });

  test('one of a single project applies nowhere once that is deleted, and never everywhere', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Gone' } });
    const { project: left } = await admin.call(postProject, { body: { name: 'Left' } });
    await newField(admin, { id: 'of_one', projects: [project.id] });
    await newField(admin, { id: 'of_two', projects: [project.id, left.id] });
    await admin.call(deleteProject, { params: { id: project.id } });
    const projectsOf = async (id: string) =>
      (await admin.call(getCustomField, { params: { id } })).customField.projects;
    expect(await projectsOf('of_one')).toEqual([project.id]);
    expect(await projectsOf('of_two')).toEqual([left.id]);
    expect(await ids(admin, { projectId: left.id })).not.toContain('of_one');
    expect(await update('of_one', { description: 'Still editable' })).toMatchObject({ projects: [project.id] });
  });

  test('a reader may look but not write; it takes the right for all projects', async () => {
    const { admin } = service;
    await newField(admin, { id: 'looked_at' });
    const { project } = await admin.call(postProject, { body: { name: 'Own' } });
    const own = { project: project.id, role: 'admin', limitAccessByEnvironment: false, environments: [] };
    for (const key of [
      await service.withKey({ role: 'readonly' }),
      await service.withKey({ role: 'readonly', projectRoles: [own] }),
    ]) {
      const params = { id: 'looked_at' };
      expect(await ids(key)).toContain('looked_at');
      await key.call(getCustomField, { params });
      await key.refused(403, createCustomField, { body: body({ id: 'x', projects: [project.id] }) });
      await key.refused(403, updateCustomField, { params, body: {} });
      await key.refused(403, deleteCustomField, { params });
    }
  });
});

describe('custom fields where they are switched off', () => {
  test('no new ones are made, and those there are may be changed but not get to more objects', async () => {
    const service = await startService({ ENTITLEMENTS: 'releases' });
    const { admin } = service;
    const { details } = await admin.refused(403, createCustomField, { body: body() });
    expect(details).toMatchObject({ entitlement: 'custom-metadata' });
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const state = { name: 'Team', type: 'text', required: false, sections: ['feature'], projects: [project.id] };
    await service.recorder.publish(service.id, { type: 'system' }, () => ({
      publication: { changes: [{ kind: { name: 'custom-field', label: '' }, id: 'team', state }], audit: [] },
      result: null,
    }));
    const params = { id: 'team' };
    for (const patch of [{ sections: ['feature', 'experiment'] }, { projects: [] }]) {
      await admin.refused(403, updateCustomField, { params, body: patch });
    }
    await admin.call(updateCustomField, { params, body: { name: 'Crew', required: true } });
    await admin.call(updateCustomField, { params, body: { active: false, projects: [] } });
    await admin.refused(403, updateCustomField, { params, body: { active: true } });
    expect(await admin.call(listCustomFields)).toHaveLength(1);
    await admin.call(deleteCustomField, { params });
    await service.stop();
  });
});
