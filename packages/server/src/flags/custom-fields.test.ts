import {
  type BodyInputOf,
  createCustomField,
  deleteCustomField,
  getFeature,
  postFeature,
  postProject,
  putSdkConnection,
  updateCustomField,
  updateFeature,
} from '@halyard/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { freshId, newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestOrganization, type TestService } from '../../testing/service.ts';

describe('features with custom fields', () => {
  let service: TestService;
  let organization: TestOrganization;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    organization = await service.newOrganization(freshId());
  });

  const newField = (id: string, more: Partial<BodyInputOf<typeof createCustomField>> = {}) =>
    organization.admin.call(createCustomField, {
      body: { id, name: id, type: 'text', required: false, sections: ['feature'], ...more },
    });
  const change = (id: string, body: BodyInputOf<typeof updateCustomField>) =>
    organization.admin.answer(updateCustomField, { params: { id }, body });
  const update = async (id: string, body: BodyInputOf<typeof updateFeature>) =>
    (await organization.admin.call(updateFeature, { params: { id }, body })).feature;
  const refused = async (id: string, body: object) =>
    (await organization.admin.refused(400, updateFeature, { params: { id }, body })).message;
  const read = async (id: string) =>
    (await organization.admin.call(getFeature, { params: { id }, query: { withRevisions: 'all' } })).feature;

  test('values come in with the feature, and are shown with it, in its revisions and in events', async () => {
    await newField('team');
    const { id, customFields } = await newFeature(organization, { customFields: { team: 'core' } });
    expect(customFields).toEqual({ team: 'core' });
    expect((await update(id, { customFields: { team: 'web' } })).customFields).toEqual({ team: 'web' });
    const { revisions = [], ...feature } = await read(id);
    expect(feature.customFields).toEqual({ team: 'web' });
    expect(revisions.map(({ metadata }) => metadata?.customFields)).toEqual([{ team: 'web' }, { team: 'core' }]);
    const { events } = await service.history(id);
    expect(events.at(-1)?.data).toMatchObject({
      event: 'feature.updated',
      environments: [],
      data: { object: { customFields: { team: 'web' } }, previous_attributes: { customFields: { team: 'core' } } },
    });
    expect((await update(id, { customFields: {} })).customFields).toEqual({});
  });

  test('a feature with a wrong, unknown or missing value is not created', async () => {
    const { admin, owner } = organization;
    await newField('colour', { type: 'enum', values: 'red,green' });
    await newField('ticket', { required: true });
    const create = async (body: object) =>
      (
        await admin.refused(400, postFeature, {
          body: { id: 'refused', defaultValue: 'false', owner: owner.id, ...body },
        })
      ).message;
    expect(await create({})).toContain('"ticket"');
    expect(await create({ customFields: { ticket: ' ' } })).toContain('"ticket"');
    expect(await create({ customFields: { ticket: 'T-1', team: 'x' } })).toContain('"team"');
    expect(await create({ customFields: { ticket: 'T-1', colour: 'blue' } })).toContain('red, green');
    expect(await create({ customFields: { ticket: 1 } })).toContain('customFields.ticket');
    await admin.refused(404, getFeature, { params: { id: 'refused' } });
    await newFeature(organization, { customFields: { ticket: 'T-1', colour: 'red' } });
  });

  test('a multiselect takes a JSON list and a comma list; an enum takes nothing but its choices [tenancy M85]', async () => {
    await newField('some', { type: 'multiselect', values: 'red,green' });
    await newField('one', { type: 'enum', values: 'red,green' });
    const { id } = await newFeature(organization);
    for (const some of ['["red","green"]', 'red,green', 'green']) {
      expect((await update(id, { customFields: { some, one: 'red' } })).customFields).toEqual({ some, one: 'red' });
    }
    expect(await refused(id, { customFields: { one: 'blue' } })).toContain('red, green');
    expect(await refused(id, { customFields: { some: 'red,blue' } })).toContain('red, green');
  });

  test('blanks and empty lists are no values where one is required, 0 and false are; what touches no custom field passes on a feature of old that lacks one [tenancy M84]', async () => {
    const old = await newFeature(organization);
    await newField('count', { type: 'number', required: true });
    await newField('risky', { type: 'boolean', required: true });
    const values = { count: '0', risky: 'false' };
    expect((await newFeature(organization, { customFields: values })).customFields).toEqual(values);
    for (const blank of ['', '  ', '[]']) {
      expect(await refused(old.id, { customFields: { ...values, count: blank } })).toContain('"count"');
    }
    expect((await update(old.id, { description: 'Edited', defaultValue: 'true' })).description).toBe('Edited');
  });

  test('missing values block only what touches the project or the custom fields [flags M37]', async () => {
    const { admin } = organization;
    const { project } = await admin.call(postProject, { body: { name: 'Strict' } });
    const { project: other } = await admin.call(postProject, { body: { name: 'Other' } });
    await newField('note');
    const free = await newFeature(organization, { customFields: { note: 'x' } });
    const inside = await newFeature(organization, { project: project.id });
    await newField('ticket', { required: true, projects: [project.id] });

    for (const body of [
      { description: 'Edited' },
      { defaultValue: 'true' },
      { rules: [{ type: 'force' as const, value: 'true' }] },
      { environments: { production: { enabled: false } } },
      { customFields: {}, project: project.id },
    ]) {
      await update(inside.id, body);
    }
    expect(await refused(inside.id, { customFields: { note: 'y' } })).toContain('"ticket"');
    expect(await refused(free.id, { project: project.id })).toContain('"ticket"');
    expect((await read(free.id)).project).toBe('');
    expect((await update(inside.id, { project: other.id })).project).toBe(other.id);
    const moved = await update(free.id, { project: project.id, customFields: { note: 'x', ticket: 'T-1' } });
    expect(moved).toMatchObject({ project: project.id, customFields: { note: 'x', ticket: 'T-1' } });
  });

  test('values stay stored when their field is deleted, and go with the next edit of values', async () => {
    await newField('team');
    await newField('note');
    const values = { team: 'core', note: 'x' };
    const { id } = await newFeature(organization, { customFields: values });
    await organization.admin.call(deleteCustomField, { params: { id: 'team' } });
    expect((await update(id, { description: 'Edited' })).customFields).toEqual(values);
    const { revision } = await read(id);
    expect((await update(id, { customFields: values })).revision).toEqual(revision);
    expect(await refused(id, { customFields: { team: 'web' } })).toContain('"team"');
    expect((await update(id, { customFields: { ...values, note: 'y' } })).customFields).toEqual({ note: 'y' });
  });

  test('values are metadata of payloads that ask for them, and follow their fields', async () => {
    const { admin } = organization;
    const { project } = await admin.call(postProject, { body: { name: 'One' } });
    await newField('team');
    await newField('note');
    await newField('tier', { type: 'enum', values: 'gold,silver' });
    const { id } = await newFeature(organization, {
      project: project.id,
      customFields: { tier: 'gold', note: '', team: 'core' },
      tags: ['aa'],
    });
    const plain = await newConnection(admin);
    const { key, id: connection } = await newConnection(admin, {
      includeCustomFieldsInMetadata: true,
      includeTagsInMetadata: true,
      allowedCustomFieldsInMetadata: ['tier', 'team', 'note'],
    });
    const metadata = async (version: number, of = key) =>
      (await payloadOf(service.url, of, version)).features[id]?.metadata;
    const now = () => service.version(organization.id);

    const whole = { customFields: { team: 'core', tier: 'gold' }, tags: ['aa'] };
    expect(JSON.stringify(await metadata(await now()))).toBe(JSON.stringify(whole));
    expect(await metadata(await now(), plain.key)).toBeUndefined();
    const { version: renamed } = await change('team', { name: 'The team' });
    expect(await metadata(renamed)).toEqual(whole);
    const { version: elsewhere } = await change('tier', { sections: ['experiment'] });
    expect(await metadata(elsewhere)).toEqual({ customFields: { team: 'core' }, tags: ['aa'] });
    await change('tier', { sections: ['feature'] });
    const { version: off } = await change('team', { active: false });
    expect(await metadata(off)).toEqual({ customFields: { tier: 'gold' }, tags: ['aa'] });
    const { version: gone } = await admin.answer(deleteCustomField, { params: { id: 'tier' } });
    expect(await metadata(gone)).toEqual({ tags: ['aa'] });
    const { version: on } = await change('team', { active: true });
    expect(await metadata(on)).toEqual({ customFields: { team: 'core' }, tags: ['aa'] });
    await update(id, { customFields: { team: 'web' } });
    expect(await metadata(await now())).toEqual({ customFields: { team: 'web' }, tags: ['aa'] });
    const { version: fewer } = await admin.answer(putSdkConnection, {
      params: { id: connection },
      body: { allowedCustomFieldsInMetadata: [] },
    });
    expect(await metadata(fewer)).toEqual({ tags: ['aa'] });
  });

  test('a connection may name custom fields that exist, and keep those that are gone', async () => {
    const { admin } = organization;
    await newField('team');
    await newField('note');
    const { id } = await newConnection(admin, { allowedCustomFieldsInMetadata: ['team', 'note'] });
    await admin.call(deleteCustomField, { params: { id: 'team' } });
    const put = (body: object) => ({ params: { id }, body });
    await admin.call(putSdkConnection, put({ name: 'Renamed', allowedCustomFieldsInMetadata: ['note', 'team'] }));
    const { message } = await admin.refused(400, putSdkConnection, put({ allowedCustomFieldsInMetadata: ['a'] }));
    expect(message).toContain('"a"');
    await admin.call(putSdkConnection, put({ allowedCustomFieldsInMetadata: ['note'] }));
    await admin.refused(400, putSdkConnection, put({ allowedCustomFieldsInMetadata: ['team'] }));
  });
});
