import {
  deleteAttribute,
  type FeatureRuleInput,
  getFeature,
  listAttributes,
  postAttribute,
  postProject,
  putAttribute,
  updateFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('attributes', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const properties = async (query: Record<string, string> = {}) =>
    (await service.admin.call(listAttributes, { query })).attributes.map(({ property }) => property);

  test('a new organization has those that SDKs fill in by themselves', async () => {
    const { admin } = await service.newOrganization('Fresh');
    const { attributes } = await admin.call(listAttributes);
    expect(attributes[0]).toEqual({ property: 'id', datatype: 'string', hashAttribute: true });
    expect(attributes.map(({ property }) => property)).toEqual([
      'id',
      'url',
      'path',
      'host',
      'query',
      'deviceType',
      'browser',
      'utmSource',
      'utmMedium',
      'utmCampaign',
      'utmTerm',
      'utmContent',
    ]);
    expect(attributes.find(({ property }) => property === 'deviceType')).toMatchObject({
      datatype: 'enum',
      enum: 'desktop,mobile',
    });
  });

  test('an attribute is declared, changed, archived and deleted', async () => {
    const { admin } = service;
    const { attribute } = await admin.call(postAttribute, {
      body: {
        property: 'plan',
        datatype: 'enum',
        enum: 'free,pro',
        description: 'What they pay for',
        tags: ['billing'],
      },
    });
    expect(attribute).toEqual({
      property: 'plan',
      datatype: 'enum',
      enum: 'free,pro',
      description: 'What they pay for',
      tags: ['billing'],
    });
    const params = { property: 'plan' };
    const changed = await admin.call(putAttribute, { params, body: { hashAttribute: true } });
    expect(changed.attribute).toEqual({ ...attribute, hashAttribute: true });
    await admin.call(putAttribute, { params, body: { archived: true } });
    expect(await properties()).not.toContain('plan');
    await admin.refused(400, postAttribute, { body: { property: 'plan', datatype: 'string' } });
    expect(await admin.call(deleteAttribute, { params })).toEqual({ deletedProperty: 'plan' });
    await admin.refused(404, deleteAttribute, { params });
    await admin.refused(404, putAttribute, { params, body: {} });
  });

  test('none is called like an operator of conditions: a list of its values would let everybody in', async () => {
    const { message } = await service.admin.refused(400, postAttribute, {
      body: { property: '$or', datatype: 'string' },
    });
    expect(message).toBe('Body: [property] must not begin with "$", as the operators of conditions do');
    await service.admin.call(postAttribute, { body: { property: 'price$', datatype: 'string' } });
  });

  test('the audit log tells what it was and became', async () => {
    const params = { property: 'audited' };
    await service.admin.call(postAttribute, { body: { ...params, datatype: 'string' } });
    await service.admin.call(putAttribute, { params, body: { datatype: 'number' } });
    await service.admin.call(putAttribute, { params, body: { datatype: 'number' } });
    await service.admin.call(deleteAttribute, { params });
    const { audits } = await service.history('audited');
    expect(audits.map(({ event, details }) => [event, JSON.parse(details ?? '')])).toEqual([
      ['attribute.create', { post: { datatype: 'string' } }],
      ['attribute.update', { pre: { datatype: 'string' }, post: { datatype: 'number' } }],
      ['attribute.delete', { pre: { datatype: 'number' } }],
    ]);
  });

  test('its tags are registered, once', async () => {
    const { admin } = service;
    await admin.call(postAttribute, { body: { property: 'tagged', datatype: 'string', tags: ['first tag'] } });
    const body = { tags: ['second tag', 'first tag', 'second tag'] };
    await admin.call(putAttribute, { params: { property: 'tagged' }, body });
    const tags = await service.db.selectFrom('tag').select('id').where('id', 'like', '% tag').orderBy('id').execute();
    expect(tags.map(({ id }) => id)).toEqual(['first tag', 'second tag']);
  });

  test('its property stays what it is, and what goes with another datatype is cleared when that changes', async () => {
    const { admin } = service;
    const params = { property: 'changing' };
    await admin.call(postAttribute, { body: { ...params, datatype: 'enum', enum: 'a,b', projects: [] } });
    await admin.refused(400, putAttribute, { params, body: { property: 'renamed' } });
    const change = async (body: object) => (await admin.call(putAttribute, { params, body })).attribute;
    expect(await change({ datatype: 'string' })).toEqual({ ...params, datatype: 'string', projects: [] });
    expect(await change({ format: 'date' })).toMatchObject({ format: 'date' });
    expect(await change({ datatype: 'boolean' })).toEqual({ ...params, datatype: 'boolean', projects: [] });
    expect(await change({ datatype: 'secureString[]', enum: 'x' })).toMatchObject({ enum: 'x' });
  });

  test('conditions that use one stay as they are when it is deleted or archived, and may be sent back', async () => {
    const { admin } = service;
    await service.setSettings({ requireRegisteredAttributes: true });
    for (const property of ['archivedLater', 'deletedLater']) {
      await admin.call(postAttribute, { body: { property, datatype: 'string' } });
    }
    const condition = '{"archivedLater":"a","deletedLater":"b"}';
    const rollout = { type: 'rollout', value: 'true', coverage: 0.5, hashAttribute: 'archivedLater' } as const;
    const { id, rules } = await newFeature(service, { rules: [{ ...rollout, condition }] });
    await admin.call(putAttribute, { params: { property: 'archivedLater' }, body: { archived: true } });
    await admin.call(deleteAttribute, { params: { property: 'deletedLater' } });
    const { feature } = await admin.call(getFeature, { params: { id } });
    expect(feature.rules).toEqual(rules);
    const sentBack = feature.rules.map((rule) => ({ ...rule, description: 'Sent back' }));
    const changed = await admin.call(updateFeature, {
      params: { id },
      body: { rules: sentBack as FeatureRuleInput[] },
    });
    expect(changed.feature.rules[0]).toMatchObject({ condition, hashAttribute: 'archivedLater' });
    const body = { rules: [{ ...rollout, id: rules[0]?.id, condition: '{"deletedLater":"c","archivedLater":"a"}' }] };
    const { message } = await admin.refused(400, updateFeature, { params: { id }, body });
    for (const name of ['deletedLater', 'archivedLater']) expect(message).toContain(name);
    await service.setSettings({});
  });

  test('choices go with texts to choose from, formats with single texts', async () => {
    const declare = async (property: string, body: object) =>
      (await service.admin.call(postAttribute, { body: { property, datatype: 'string', ...body } })).attribute;
    expect(await declare('n1', { datatype: 'number', enum: 'a', format: 'date' })).toEqual({
      property: 'n1',
      datatype: 'number',
    });
    expect(await declare('n2', { datatype: 'string[]', enum: 'a', format: 'date' })).toEqual({
      property: 'n2',
      datatype: 'string[]',
      enum: 'a',
    });
    expect(await declare('n3', { enum: 'a', format: 'version' })).toEqual({
      property: 'n3',
      datatype: 'string',
      format: 'version',
    });
  });

  test.each([
    ['no property', { datatype: 'string' }],
    ['an empty property', { property: ' ', datatype: 'string' }],
    ['a property that cannot be a key of JSON', { property: '__proto__', datatype: 'string' }],
    ['a property that is a step up in paths', { property: '..', datatype: 'string' }],
    ['a long list of choices', { property: 'x', datatype: 'enum', enum: 'x,'.repeat(5_001) }],
    ['a tag of one character', { property: 'x', datatype: 'string', tags: ['x'] }],
    ['no datatype', { property: 'x' }],
    ['an unknown datatype', { property: 'x', datatype: 'colour' }],
    ['an unknown format', { property: 'x', datatype: 'string', format: 'roman' }],
    ['an unknown project', { property: 'x', datatype: 'string', projects: ['prj_x'] }],
    ['one that exists', { property: 'id', datatype: 'string' }],
  ])('%s is 400', async (_, body) => {
    await service.admin.refused(400, postAttribute, { body });
    expect(await properties()).not.toContain('x');
  });

  test('of a project are listed with the organization-wide ones', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    const { project: other } = await admin.call(postProject, { body: { name: 'Other' } });
    await admin.call(postAttribute, { body: { property: 'inOne', datatype: 'string', projects: [project.id] } });
    expect(await properties({ projectId: project.id })).toEqual(expect.arrayContaining(['id', 'inOne']));
    expect(await properties({ projectId: other.id })).not.toContain('inOne');
    expect(await properties()).toContain('inOne');
    expect(await properties({ projectId: 'prj_unknown' })).toEqual([]);
  });

  test('of a project are for those who may manage them there, before and after', async () => {
    const { admin } = service;
    const newProject = async (name: string) => (await admin.call(postProject, { body: { name } })).project.id;
    const [mine, open, hidden] = [await newProject('Mine'), await newProject('Open'), await newProject('Hidden')];
    const role = { limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({
      role: 'readonly',
      projectRoles: [
        { project: mine, role: 'admin', ...role },
        { project: hidden, role: 'nobody', ...role },
      ],
    });
    const declare = (property: string, projects: string[]) =>
      ({ body: { property, datatype: 'string', projects } }) as const;
    await key.call(postAttribute, declare('ofMine', [mine]));
    await key.refused(403, postAttribute, declare('ofAll', []));
    await key.refused(403, postAttribute, declare('ofBoth', [mine, open]));
    const params = { property: 'ofMine' };
    await key.call(putAttribute, { params, body: { archived: true } });
    await key.refused(403, putAttribute, { params, body: { projects: [open] } });
    await key.refused(403, putAttribute, { params, body: { projects: [] } });
    await admin.call(postAttribute, declare('ofOpen', [open]));
    await key.refused(403, putAttribute, { params: { property: 'ofOpen' }, body: { projects: [mine] } });
    await key.refused(403, deleteAttribute, { params: { property: 'ofOpen' } });
    await key.call(deleteAttribute, { params });
    await admin.call(postAttribute, declare('ofHidden', [hidden]));
    expect((await key.call(listAttributes)).attributes.map(({ property }) => property)).not.toContain('ofHidden');
    expect((await key.call(listAttributes, { query: { projectId: hidden } })).attributes).toEqual([]);
    await key.refused(404, putAttribute, { params: { property: 'ofHidden' }, body: {} });
    await key.refused(404, deleteAttribute, { params: { property: 'ofHidden' } });
  });

  test('a change of the datatype reaches payloads', async () => {
    const { admin, id: organization } = await service.newOrganization('Secure');
    const owner = (
      await service.db
        .selectFrom('member')
        .select('person')
        .where('organization', '=', organization)
        .executeTakeFirstOrThrow()
    ).person;
    await service.setSettings({ secureAttributeSalt: 'salt' }, organization);
    await admin.call(postAttribute, { body: { property: 'email', datatype: 'string' } });
    const { key } = await newConnection(admin, { hashSecureAttributes: true });
    const { id } = await newFeature(
      { admin, owner: { id: owner } },
      { rules: [{ type: 'force', value: 'true', condition: '{"email":"alice@example.com"}' }] },
    );
    const condition = async (version: number) => {
      const [rule] = (await payloadOf(service.url, key, version)).features[id]?.rules ?? [];
      return (rule as { condition?: unknown } | undefined)?.condition;
    };
    expect(await condition(await service.version(organization))).toEqual({ email: 'alice@example.com' });
    const { version } = await admin.answer(putAttribute, {
      params: { property: 'email' },
      body: { datatype: 'secureString' },
    });
    expect(await condition(version)).toEqual({
      email: '109f0b7ded1d94140eda40c1286befd64aec56290dba9e6642f3d096e9fc3b05',
    });
  });

  test('a reader may look but not write', async () => {
    const readonly = await service.withKey({ role: 'readonly' });
    await readonly.call(listAttributes);
    await readonly.refused(403, postAttribute, { body: { property: 'x', datatype: 'string' } });
    await readonly.refused(403, putAttribute, { params: { property: 'id' }, body: {} });
    await readonly.refused(403, deleteAttribute, { params: { property: 'id' } });
  });
});
