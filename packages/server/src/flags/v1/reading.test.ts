import {
  deleteFeatureV1,
  getFeature,
  getFeatureKeysV1,
  getFeatureV1,
  listFeatures,
  listFeaturesV1,
  postFeatureV1,
  postProject,
  toggleFeatureV1,
  updateFeatureV1,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forceV1, listed, newFeatureV1 } from '../../../testing/flags/v1.ts';
import { newConnection, newEnvironment } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

describe('reading, switching and deleting features through v1', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await newEnvironment(service.admin, 'dev');
  });
  afterAll(() => service.stop());

  const idsOf = ({ features }: { features: { id: string }[] }) => features.map(({ id }) => id);

  test('the list has archived features too, oldest first, and the keys have not [flags M15]', async () => {
    const organization = await service.newOrganization('Lists');
    const { admin } = organization;
    const hidden = await newFeatureV1(organization, { archived: true });
    const shown = await newFeatureV1(organization);
    expect(idsOf(await admin.call(listFeaturesV1))).toEqual([hidden.id, shown.id]);
    expect(idsOf(await admin.call(listFeatures))).toEqual([shown.id]);
    expect(await admin.call(getFeatureKeysV1)).toEqual([shown.id]);
    await admin.refused(400, listFeaturesV1, { query: { archived: 'true' } });
  });

  test('the list comes in pages, and finds by project and by client key', async () => {
    const organization = await service.newOrganization('Filters');
    const { admin } = organization;
    const { project } = await admin.call(postProject, { body: { name: 'Own' } });
    const own = await newFeatureV1(organization, { project: project.id });
    const targeted = await newFeatureV1(organization, { targetingProjects: [project.id] });
    const archived = await newFeatureV1(organization, { project: project.id, archived: true });
    const list = (query: Record<string, string | number>) => admin.call(listFeaturesV1, { query });
    expect(await list({ limit: 2, offset: 1 })).toMatchObject({ count: 2, total: 3, hasMore: false, nextOffset: null });
    expect(idsOf(await list({ limit: 2, offset: 1 }))).toEqual([targeted.id, archived.id]);
    expect(idsOf(await list({ projectId: project.id }))).toEqual([own.id, targeted.id, archived.id]);
    expect(await list({ projectId: 'prj_missing' })).toMatchObject({ features: [], total: 0 });
    expect(await admin.call(getFeatureKeysV1, { query: { projectId: project.id } })).toEqual([own.id, targeted.id]);
    const { key } = await newConnection(admin, { projects: [project.id] });
    expect(idsOf(await list({ clientKey: key }))).toEqual([own.id, targeted.id]);
    await admin.refused(400, listFeaturesV1, { query: { clientKey: 'sdk-missing' } });
    for (const query of [{ limit: 0 }, { limit: 101 }, { offset: -1 }, { skipPagination: 'true' }]) {
      await admin.refused(400, listFeaturesV1, { query });
    }
  });

  test('all can be asked for at once where the server allows it', async () => {
    const other = await service.another({ API_ALLOW_SKIP_PAGINATION: 'true' });
    const { total } = await service.admin.call(listFeaturesV1);
    const all = await other.admin.call(listFeaturesV1, { query: { skipPagination: '1' } });
    expect(all).toMatchObject({ limit: total, count: total });
  });

  test('one feature is the same in both versions, but for its rules and for people', async () => {
    const { id } = await newFeatureV1(service, { environments: listed({ production: [forceV1('a')] }) });
    const { feature: v1 } = await service.admin.call(getFeatureV1, { params: { id } });
    const { feature: v2 } = await service.admin.call(getFeature, { params: { id } });
    const { environments, revision, ...same } = v1;
    const { rules: _rules, environments: environments2, revision: revision2, ...rest } = v2;
    expect(same).toEqual(rest);
    expect(Object.keys(environments)).toEqual(Object.keys(environments2));
    expect({ ...revision, createdBy: revision2.createdBy, publishedBy: revision2.publishedBy }).toEqual(revision2);
    expect([revision.createdBy, revision.publishedBy]).toEqual(['API', 'API']);
    await service.admin.refused(404, getFeatureV1, { params: { id: 'missing' } });
  });

  test('revisions come along on request, in the shape of v1', async () => {
    const { id } = await newFeatureV1(service, { environments: listed({ production: [forceV1('a')] }) });
    const read = async (wanted: string) =>
      (await service.admin.call(getFeatureV1, { params: { id }, query: { withRevisions: wanted } })).feature.revisions;
    expect(await read('none')).toBeUndefined();
    expect(await read('drafts')).toEqual([]);
    expect(await read('published')).toMatchObject([
      {
        featureId: id,
        version: 1,
        status: 'published',
        createdBy: 'API',
        publishedBy: 'API',
        rules: { production: [{ id: 'a', type: 'force', value: 'true' }], dev: [] },
        prerequisites: [],
      },
    ]);
    await service.admin.refused(400, getFeatureV1, { params: { id }, query: { withRevisions: 'some' } });
  });

  test('a switch goes on and off in each environment that is named', async () => {
    const { id, environments } = await newFeatureV1(service, {
      environments: listed({ production: [forceV1('a')], dev: [] }),
    });
    const toggle = (body: object) => service.admin.request(toggleFeatureV1, { params: { id }, body });
    const { feature } = await service.admin.call(toggleFeatureV1, {
      params: { id },
      body: { reason: 'Incident', environments: { production: '0', dev: 1 } },
    });
    expect(feature.environments.production).toMatchObject({ enabled: false, rules: environments.production?.rules });
    expect(feature.environments.dev?.enabled).toBe(true);
    for (const environmentsAsked of [{ dev: 'on' }, { dev: false, mars: true }]) {
      expect((await toggle({ environments: environmentsAsked })).status).toBe(400);
    }
    expect((await toggle({ environments: { dev: true } })).status).toBe(200);
    const { feature: after } = await service.admin.call(getFeatureV1, { params: { id } });
    expect(after).toEqual(feature);
    await service.admin.refused(404, toggleFeatureV1, { params: { id: 'missing' }, body: { environments: {} } });
  });

  test('an archived feature can be deleted, a live one cannot', async () => {
    const { id } = await newFeatureV1(service);
    expect((await service.admin.refused(403, deleteFeatureV1, { params: { id } })).message).toContain('Archive it');
    await service.admin.call(updateFeatureV1, { params: { id }, body: { archived: true } });
    const reader = await service.withKey({ role: 'readonly' });
    await reader.refused(403, deleteFeatureV1, { params: { id } });
    expect(await service.admin.call(deleteFeatureV1, { params: { id } })).toEqual({ deletedId: id });
    await service.admin.refused(404, deleteFeatureV1, { params: { id } });
    await service.admin.refused(404, getFeatureV1, { params: { id } });
  });

  test('every answer says that these routes are deprecated, refusals too; those of v2 do not [flags M18]', async () => {
    const { id } = await newFeatureV1(service);
    const readonly = await service.withKey({ role: 'readonly' });
    const params = { id };
    const answers = [
      [200, await service.admin.request(listFeaturesV1)],
      [200, await service.admin.request(getFeatureV1, { params })],
      [200, await service.admin.request(getFeatureKeysV1)],
      [200, await service.admin.request(updateFeatureV1, { params, body: {} })],
      [200, await service.admin.request(toggleFeatureV1, { params, body: { environments: { dev: true } } })],
      [400, await service.admin.request(postFeatureV1, { body: {} })],
      [401, await service.anonymous.request(getFeatureKeysV1)],
      [403, await readonly.request(deleteFeatureV1, { params })],
      [404, await service.admin.request(getFeatureV1, { params: { id: 'missing' } })],
      [413, await service.admin.request(postFeatureV1, { body: { description: 'x'.repeat(3_000_000) } })],
    ] as const;
    expect(answers.map(([status]) => status)).toEqual(answers.map(([, response]) => response.status));
    for (const [, response] of answers) expect(response.headers.get('deprecation')).toBe('true');
    for (const response of [
      await service.admin.request(listFeatures),
      await service.admin.request(getFeature, { params }),
      await service.admin.request(getFeature, { params: { id: 'missing' } }),
    ]) {
      expect(response.headers.has('deprecation')).toBe(false);
    }
  });
});
