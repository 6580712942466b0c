import { getFeature, getFeatureKeys, listFeatures, postProject, toggleFeature, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newConnection, newEnvironment, newFeature } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('reading features', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ API_ALLOW_SKIP_PAGINATION: 'true' });
  });
  afterAll(() => service.stop());

  const idsOf = ({ features }: { features: { id: string }[] }) => features.map(({ id }) => id);

  test('every environment of the organization is listed, also one the feature has no switch for [flags M10]', async () => {
    const { id } = await newFeature(service);
    await newEnvironment(service.admin, 'later', { defaultState: true });
    const { feature } = await service.admin.call(getFeature, { params: { id } });
    expect(feature.environments.later).toEqual({ enabled: false, defaultValue: 'false' });
  });

  test('the definition is text, and absent where nothing is served [flags M11]', async () => {
    const { id, environments } = await newFeature(service, {
      rules: [{ type: 'force', value: 'true', condition: '{"a":1}' }],
    });
    expect(JSON.parse(environments.production?.definition ?? '')).toEqual({
      defaultValue: false,
      rules: [{ condition: { a: 1 }, force: true }],
    });
    const off = await service.admin.call(toggleFeature, {
      params: { id },
      body: { environments: { production: false } },
    });
    expect(off.feature.environments.production).toEqual({ enabled: false, defaultValue: 'false' });
    await service.admin.call(toggleFeature, { params: { id }, body: { environments: { production: true } } });
    const { feature } = await service.admin.call(updateFeature, { params: { id }, body: { archived: true } });
    expect(feature.environments.production).toEqual({ enabled: true, defaultValue: 'false' });
  });

  test('the owner’s e-mail is the one of today, in every process', async () => {
    const second = await service.another();
    const owner = await service.newMember('before@example.com');
    const { id } = await newFeature({ admin: service.admin, owner: { id: owner } });
    const email = async ({ admin }: { admin: TestService['admin'] }) =>
      (await admin.call(getFeature, { params: { id } })).feature.ownerEmail;
    expect([await email(service), await email(second)]).toEqual(['before@example.com', 'before@example.com']);
    await service.db.updateTable('person').set({ email: 'after@example.com' }).where('id', '=', owner).execute();
    expect([await email(service), await email(second)]).toEqual(['after@example.com', 'after@example.com']);
    await service.db.deleteFrom('member').where('person', '=', owner).execute();
    expect([await email(service), await email(second)]).toEqual([undefined, undefined]);
  });

  test('revisions come along on request, newest first; drafts are those in the status draft only [flags M13]', async () => {
    const { id } = await newFeature(service);
    await service.admin.call(updateFeature, { params: { id }, body: { description: 'second' } });
    const columns = { organization: service.id, kind: 'feature', entity: id, base_version: 2, comment: '' };
    const now = new Date();
    const draft = await service.db
      .selectFrom('revision')
      .select('content')
      .where('entity', '=', id)
      .executeTakeFirstOrThrow();
    for (const [index, status] of ['draft', 'pending-review', 'approved', 'discarded'].entries()) {
      await service.db
        .insertInto('revision')
        .values({
          ...columns,
          id: `frev_${status}_${id}`,
          version: 3 + index,
          status,
          content: JSON.stringify(draft.content),
          created_by: JSON.stringify({ type: 'system' }),
          date_created: now,
          date_updated: now,
        })
        .execute();
    }
    const withRevisions = async (wanted?: string) => {
      const query = wanted === undefined ? {} : { withRevisions: wanted };
      return (await service.admin.call(getFeature, { params: { id }, query })).feature;
    };
    expect(await withRevisions()).not.toHaveProperty('revisions');
    expect(await withRevisions('none')).not.toHaveProperty('revisions');
    const versions = async (wanted: string) => (await withRevisions(wanted)).revisions?.map(({ version }) => version);
    expect(await versions('all')).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await versions('drafts')).toEqual([3]);
    expect(await versions('published')).toEqual([2, 1]);
    expect((await withRevisions('published')).revisions?.[0]).toMatchObject({
      featureId: id,
      baseVersion: 1,
      status: 'published',
      comment: 'Created via REST API',
      defaultValue: 'false',
      environmentsEnabled: { production: true },
      metadata: { description: 'second', owner: service.owner.id },
      publishedBy: { type: 'api_key' },
    });
    await service.admin.refused(400, getFeature, { params: { id }, query: { withRevisions: 'some' } });
  });

  test('a new feature’s number comes after every revision there is, drafts included', async () => {
    const { id } = await newFeature(service);
    await service.db.updateTable('revision').set({ version: 7 }).where('entity', '=', id).execute();
    const { feature } = await service.admin.call(updateFeature, { params: { id }, body: { description: 'x' } });
    expect(feature.revision.version).toBe(8);
  });

  test('an unknown or unreadable project finds nothing, and is no error [flags M14]', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Secret' } });
    const { id } = await newFeature(service, { project: project.id });
    expect(idsOf(await service.admin.call(listFeatures, { query: { projectId: project.id } }))).toEqual([id]);
    const nobody = { project: project.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [nobody] });
    for (const [client, projectId] of [
      [key, project.id],
      [service.admin, 'prj_unknown'],
    ] as const) {
      expect(await client.call(listFeatures, { query: { projectId } })).toMatchObject({ features: [], total: 0 });
      expect(await client.call(getFeatureKeys, { query: { projectId } })).toEqual([]);
    }
    expect(idsOf(await key.call(listFeatures, { query: { skipPagination: true } }))).not.toContain(id);
    await key.refused(404, getFeature, { params: { id } });
  });

  test('a project finds its own features, those targeted at it, and those targeted at all', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Targets' } });
    const own = await newFeature(service, { project: project.id });
    const targeted = await newFeature(service, { targetingProjects: [project.id] });
    const everywhere = await newFeature(service, { targetingAllProjects: true });
    await newFeature(service);
    const found = await service.admin.call(listFeatures, { query: { projectId: project.id } });
    expect(idsOf(found)).toEqual([own.id, targeted.id, everywhere.id]);
  });

  test('archived features are hidden from the list unless asked for, and from the keys always [flags M15]', async () => {
    const organization = await service.newOrganization('Archive');
    const shown = await newFeature(organization);
    const hidden = await newFeature(organization, { archived: true });
    const list = (query: object) => organization.admin.call(listFeatures, { query: query as Record<string, string> });
    expect(idsOf(await list({}))).toEqual([shown.id]);
    expect(idsOf(await list({ archived: 'true' }))).toEqual([shown.id, hidden.id]);
    expect(idsOf(await list({ archived: '1' }))).toEqual([shown.id, hidden.id]);
    expect(idsOf(await list({ archived: '0' }))).toEqual([shown.id]);
    await organization.admin.refused(400, listFeatures, { query: { archived: 'yes' } });
    expect(await organization.admin.call(getFeatureKeys)).toEqual([shown.id]);
  });

  test('a client key finds the features of its payload, however that is sent [flags M16]', async () => {
    const organization = await service.newOrganization('Client key');
    const { admin } = organization;
    await newEnvironment(admin, 'dev', { defaultState: true });
    const both = await newFeature(organization);
    await newFeature(organization, { environments: { production: { enabled: false }, dev: { enabled: true } } });
    const connections = [
      await newConnection(admin),
      await newConnection(admin, { encryptPayload: true }),
      await newConnection(admin, { remoteEvalEnabled: true }),
    ];
    for (const { key } of connections) {
      expect(idsOf(await admin.call(listFeatures, { query: { clientKey: key } }))).toEqual([both.id]);
    }
    const foreign = await newConnection(service.admin);
    for (const clientKey of ['sdk-unknown', foreign.key, '']) {
      await admin.refused(400, listFeatures, { query: { clientKey } });
    }
  });

  test('pages are 1 to 100 long; an offset past the end is an empty page [flags M17, tenancy M15]', async () => {
    for (const query of [
      { limit: 0 },
      { limit: 101 },
      { offset: -1 },
      { limit: 'ten' },
      { limit: 1.5 },
      { offset: 'x' },
      { colour: 'red' },
    ]) {
      await service.admin.refused(400, listFeatures, { query: query as Record<string, string> });
    }
    const organization = await service.newOrganization('Pages');
    const made = [];
    for (let index = 0; index < 5; index++) made.push(await newFeature(organization));
    const page = (query: object) => organization.admin.call(listFeatures, { query: query as Record<string, string> });
    const ids = made.map(({ id }) => id);
    expect(await page({ limit: 2, offset: 2 })).toMatchObject({
      limit: 2,
      offset: 2,
      count: 2,
      total: 5,
      hasMore: true,
      nextOffset: 4,
    });
    expect(idsOf(await page({ limit: 2, offset: 2 }))).toEqual(ids.slice(2, 4));
    expect(await page({ offset: 4 })).toMatchObject({ limit: 10, count: 1, hasMore: false, nextOffset: null });
    expect(await page({ offset: 99 })).toMatchObject({
      features: [],
      count: 0,
      total: 5,
      hasMore: false,
      nextOffset: null,
    });
    expect(await page({ skipPagination: true, limit: 1 })).toMatchObject({
      limit: 5,
      offset: 0,
      count: 5,
      total: 5,
      hasMore: false,
      nextOffset: null,
    });
    expect(idsOf(await page({ skipPagination: '1' }))).toEqual(ids);
  });

  test('the v2 routes are not deprecated [flags M18]', async () => {
    const { id } = await newFeature(service);
    for (const response of [
      await service.admin.request(listFeatures),
      await service.admin.request(getFeature, { params: { id } }),
      await service.admin.request(getFeature, { params: { id: 'missing' } }),
    ]) {
      expect(response.headers.has('deprecation')).toBe(false);
    }
  });

  test('an environment follows its parent until the feature is first changed there [tenancy M77]', async () => {
    const organization = await service.newOrganization('Parents');
    const { admin } = organization;
    const { id } = await newFeature(organization, {
      rules: [{ type: 'force', value: 'true', environments: ['production'] }],
    });
    await newEnvironment(admin, 'canary', { parent: 'production' });
    await newEnvironment(admin, 'canary-eu', { parent: 'canary' });
    const connection = await newConnection(admin, { environment: 'canary-eu' });
    const read = async () => (await admin.call(getFeature, { params: { id } })).feature.environments;
    const inherited = await read();
    expect(inherited['canary-eu']).toEqual(inherited.production);
    expect((await admin.call(listFeatures, { query: { clientKey: connection.key } })).total).toBe(1);
    // To be switched as it is already is no change, and it goes on following.
    await admin.call(toggleFeature, { params: { id }, body: { environments: { 'canary-eu': true } } });
    await admin.call(toggleFeature, { params: { id }, body: { environments: { production: false } } });
    expect((await read())['canary-eu']?.enabled).toBe(false);
    await admin.call(toggleFeature, { params: { id }, body: { environments: { 'canary-eu': true } } });
    const own = await read();
    // What was followed stays, and from now on is its own.
    expect(own['canary-eu']).toEqual(inherited['canary-eu']);
    expect(own.canary?.enabled).toBe(false);
  });
});

describe('skipPagination where the server does not allow it', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('is 400 and names the setting; false is as if it were not sent [tenancy M94]', async () => {
    const { message } = await service.admin.refused(400, listFeatures, { query: { skipPagination: true } });
    expect(message).toContain('API_ALLOW_SKIP_PAGINATION');
    await service.admin.call(listFeatures, { query: { skipPagination: false } });
  });
});
