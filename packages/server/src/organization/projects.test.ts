import {
  deleteProject,
  getProject,
  getSdkConnection,
  listAttributes,
  listEnvironments,
  listProjects,
  postAttribute,
  postEnvironment,
  postProject,
  putProject,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newConnection } from '../../testing/objects.ts';
import { startService, type TestService } from '../../testing/service.ts';

describe('projects', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const create = async (body: { name: string; publicId?: string }) =>
    (await service.admin.call(postProject, { body })).project;

  test('a deleted project leaves the lists of whatever is seen in projects, and the audit log says so of each', async () => {
    const { admin, db } = service;
    const make = async (name: string) => (await admin.call(postProject, { body: { name } })).project.id;
    const [kept, gone] = [await make('Kept'), await make('Gone')];
    const projects = [kept, gone];
    await admin.call(postEnvironment, { body: { id: 'shared', projects } });
    await admin.call(postAttribute, { body: { property: 'shared', datatype: 'string', projects } });
    const connection = await newConnection(admin, { projects });
    const alone = await newConnection(admin, { projects: [gone] });
    const { version } = await admin.answer(deleteProject, { params: { id: gone } });

    const { environments } = await admin.call(listEnvironments);
    expect(environments.find(({ id }) => id === 'shared')?.projects).toEqual([kept]);
    const { attributes } = await admin.call(listAttributes);
    expect(attributes.find(({ property }) => property === 'shared')?.projects).toEqual([kept]);
    const { sdkConnection } = await admin.call(getSdkConnection, { params: { id: connection.id } });
    expect(sdkConnection.projects).toEqual([kept]);
    // The last one stays: an empty list would mean every project.
    const left = await admin.call(getSdkConnection, { params: { id: alone.id } });
    expect(left.sdkConnection).toEqual(alone);

    const { instant } = await db
      .selectFrom('configuration_version')
      .select('instant')
      .where('version', '=', version)
      .executeTakeFirstOrThrow();
    const entries = await db
      .selectFrom('audit')
      .select(['event', 'entity_id', 'details'])
      .where('date_created', '=', instant)
      .execute();
    expect(entries.map(({ event, entity_id }) => [event, entity_id]).sort()).toEqual(
      [
        ['attribute.update', 'shared'],
        ['environment.update', 'shared'],
        ['project.delete', gone],
        ['sdk-connection.update', connection.id],
      ].sort(),
    );
    const details = JSON.stringify(entries);
    expect(details).not.toContain(connection.encryptionKey);
    expect(details).toContain(connection.key);
  });

  test('a project is created, read, changed and deleted', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Checkout', description: 'Paying' } });
    expect(project).toMatchObject({ name: 'Checkout', description: 'Paying', publicId: 'checkout' });
    expect(project.id).toMatch(/^prj_[0-9a-z]+$/);
    expect((await admin.call(getProject, { params: { id: project.id } })).project).toEqual(project);
    const changed = await admin.call(putProject, { params: { id: project.id }, body: { description: '' } });
    expect(changed.project).toMatchObject({ name: 'Checkout', description: '' });
    expect(changed.project.dateCreated).toBe(project.dateCreated);
    expect(await admin.call(deleteProject, { params: { id: project.id } })).toEqual({ deletedId: project.id });
    await admin.refused(404, getProject, { params: { id: project.id } });
    await admin.refused(404, putProject, { params: { id: project.id }, body: {} });
    await admin.refused(404, deleteProject, { params: { id: project.id } });
    const { audits } = await service.history(project.id);
    expect(audits.map(({ event }) => event)).toEqual(['project.create', 'project.update', 'project.delete']);
  });

  test('public ids are unique; generated ones get suffixes, a name without any Latin letter none [tenancy M81]', async () => {
    expect((await create({ name: 'Dup' })).publicId).toBe('dup');
    expect((await create({ name: 'Dup!' })).publicId).toBe('dup-1');
    expect((await create({ name: ' -- dup -- ' })).publicId).toBe('dup-2');
    expect(await create({ name: '日本' })).not.toHaveProperty('publicId');
    const long = 'x'.repeat(256);
    for (const name of [long, long]) {
      const { id, publicId = '' } = await create({ name });
      await service.admin.call(putProject, { params: { id }, body: { publicId } });
    }
    const own = await create({ name: 'Own', publicId: 'mine' });
    for (const input of [{ name: 'x', publicId: 'mine' }])
      await service.admin.refused(400, postProject, { body: input });
    const other = await create({ name: 'Other' });
    await service.admin.refused(400, putProject, { params: { id: other.id }, body: { publicId: 'mine' } });
    await service.admin.call(putProject, { params: { id: own.id }, body: { publicId: 'mine', name: 'Still own' } });
  });

  test.each([
    ['no name', {}],
    ['an empty name', { name: '   ' }],
    ['a long name', { name: 'x'.repeat(257) }],
    ['a long public id', { name: 'x', publicId: 'x'.repeat(257) }],
    ['a public id with capitals', { name: 'x', publicId: 'Mine' }],
    ['an empty public id', { name: 'x', publicId: '' }],
    ['a long description', { name: 'x', description: 'x'.repeat(10_001) }],
    ['an unknown statistics engine', { name: 'x', settings: { statsEngine: 'tea leaves' } }],
    ['a confidence level of 1', { name: 'x', settings: { confidenceLevel: 1 } }],
    ['a confidence level of 0.49', { name: 'x', settings: { confidenceLevel: 0.49 } }],
    ['a p-value threshold of 0', { name: 'x', settings: { pValueThreshold: 0 } }],
    ['a p-value threshold of 0.51', { name: 'x', settings: { pValueThreshold: 0.51 } }],
    ['an unknown setting', { name: 'x', settings: { colour: 'red' } }],
  ])('%s is 400 and nothing is stored', async (_, body) => {
    const { total } = await service.admin.call(listProjects);
    await service.admin.refused(400, postProject, { body });
    expect((await service.admin.call(listProjects)).total).toBe(total);
  });

  test('a wrong setting is told with its place and what it may be', async () => {
    const refusal = (settings: object) =>
      service.admin.refused(400, postProject, { body: { name: 'x', settings } }).then(({ message }) => message);
    expect(await refusal({ statsEngine: 'tea leaves' })).toContain(
      '[settings.statsEngine] must be "bayesian" or "frequentist"',
    );
    expect(await refusal({ confidenceLevel: 2 })).toContain(
      '[settings.confidenceLevel] must be at least 0.5 and below 1',
    );
    expect(await refusal({ pValueThreshold: 0 })).toContain(
      '[settings.pValueThreshold] must be above 0 and at most 0.5',
    );
  });

  test('settings at their bounds are taken, and merge key by key', async () => {
    const { id } = await create({ name: 'Settings' });
    const put = async (settings: object) =>
      (await service.admin.call(putProject, { params: { id }, body: { settings } })).project.settings;
    expect(await put({ confidenceLevel: 0.5, pValueThreshold: 0.5 })).toEqual({
      confidenceLevel: 0.5,
      pValueThreshold: 0.5,
    });
    expect(await put({ statsEngine: 'frequentist' })).toEqual({
      confidenceLevel: 0.5,
      pValueThreshold: 0.5,
      statsEngine: 'frequentist',
    });
  });

  test('the same content changes nothing', async () => {
    const project = await create({ name: 'Same' });
    const version = await service.version();
    expect(
      (await service.admin.call(putProject, { params: { id: project.id }, body: { name: 'Same' } })).project,
    ).toEqual(project);
    expect(await service.version()).toBe(version);
  });

  test('the list is by id and holds what the caller may see', async () => {
    const { projects } = await service.admin.call(listProjects, { query: { limit: 100 } });
    expect(projects.map(({ id }) => id)).toEqual(projects.map(({ id }) => id).sort());
    const hidden = await create({ name: 'Hidden' });
    const nobody = { project: hidden.id, role: 'nobody', limitAccessByEnvironment: false, environments: [] };
    const key = await service.withKey({ projectRoles: [nobody] });
    const seen = await key.call(listProjects, { query: { limit: 100 } });
    expect(seen.projects.map(({ id }) => id)).not.toContain(hidden.id);
    expect(seen.total).toBe(projects.length);
    await key.refused(404, getProject, { params: { id: hidden.id } });
    await key.refused(404, putProject, { params: { id: hidden.id }, body: { name: 'x' } });
  });

  test('a reader may look but not write; who administers one project changes that one', async () => {
    const { id } = await create({ name: 'Readable' });
    const readonly = await service.withKey({ role: 'readonly' });
    await readonly.call(getProject, { params: { id } });
    await readonly.refused(403, postProject, { body: { name: 'x' } });
    await readonly.refused(403, putProject, { params: { id }, body: { name: 'x' } });
    await readonly.refused(403, deleteProject, { params: { id } });
    const there = { project: id, role: 'admin', limitAccessByEnvironment: false, environments: [] };
    const admin = await service.withKey({ role: 'readonly', projectRoles: [there] });
    await admin.call(putProject, { params: { id }, body: { name: 'Changed' } });
    await admin.refused(403, postProject, { body: { name: 'x' } });
  });

  test('two that change different projects at once both succeed', async () => {
    const [one, two] = [await create({ name: 'One' }), await create({ name: 'Two' })];
    const rename = (id: string) => service.admin.call(putProject, { params: { id }, body: { description: 'Changed' } });
    const answers = await Promise.all(
      [one.id, two.id, one.id, two.id].map((id) => rename(id).catch((error: Error) => error)),
    );
    expect(answers.filter((answer) => !(answer instanceof Error)).length).toBeGreaterThanOrEqual(2);
    const { projects } = await service.admin.call(listProjects, { query: { limit: 100 } });
    for (const { id } of [one, two]) expect(projects.find((project) => project.id === id)?.description).toBe('Changed');
  });
});
