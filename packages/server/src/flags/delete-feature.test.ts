import { deleteFeature, getFeature, listFeatures, postProject, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payloadOf } from '../../testing/delivery.ts';
import { newConnection, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { openStream } from '../../testing/streams.ts';

describe('deleting a feature', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const archive = (id: string) => service.admin.call(updateFeature, { params: { id }, body: { archived: true } });

  test('a live feature is 403 unless the organization lets the API skip reviews; archived it goes [flags M44]', async () => {
    const { id } = await newFeature(service);
    expect((await service.admin.refused(403, deleteFeature, { params: { id } })).message).toContain('Archive');
    await archive(id);
    expect(await service.admin.call(deleteFeature, { params: { id } })).toEqual({ deletedId: id });
    await service.admin.refused(404, deleteFeature, { params: { id } });
    await service.admin.refused(404, getFeature, { params: { id } });
    expect((await service.history(id)).revisions).toEqual([]);

    const { id: live } = await newFeature(service);
    await service.setSettings({ restApiBypassesReviews: true });
    await service.admin.call(deleteFeature, { params: { id: live } });
  });

  test('one that others require is 400, and what requires it is not named [flags M45]', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Hidden' } });
    const { id } = await newFeature(service);
    const dependent = await newFeature(service, { project: project.id, prerequisites: [id] });
    await archive(id);
    // The caller cannot see into the project of the dependent feature.
    const hidden = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [hidden] });
    await key.refused(404, getFeature, { params: { id: dependent.id } });
    const { message } = await key.refused(400, deleteFeature, { params: { id } });
    expect(message).toContain('another feature');
    expect(message).not.toContain(dependent.id);
  });

  test('deleting the last feature empties the payload and reaches open streams [flags M46]', async () => {
    const organization = await service.newOrganization('Last');
    const { admin } = organization;
    const connection = await newConnection(admin);
    const { id } = await newFeature(organization);
    await payloadOf(service.url, connection.key, await service.version(organization.id));
    const stream = await openStream(service.url, connection.key);
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ features: { [id]: { defaultValue: false } } });
    await service.setSettings({ restApiBypassesReviews: true }, organization.id);
    const { version } = await admin.answer(deleteFeature, { params: { id } });
    expect((await payloadOf(service.url, connection.key, version)).features).toEqual({});
    expect((await admin.call(listFeatures)).total).toBe(0);
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ features: {} });
    stream.close();
  });

  test('an id may be used again once its feature is gone, and begins at version 1', async () => {
    const { id } = await newFeature(service, { archived: true });
    await service.admin.call(deleteFeature, { params: { id } });
    expect((await newFeature(service, { id })).revision.version).toBe(1);
  });
});
