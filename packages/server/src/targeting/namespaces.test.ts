import {
  deleteNamespace,
  getNamespace,
  getNamespaceMemberships,
  listNamespaces,
  type Namespace,
  postNamespace,
  postNamespaceRotateSeed,
  putNamespace,
} from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../../testing/clock.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startService, type TestService } from '../../testing/service.ts';
import { pagination } from '../http/index.ts';
import { createLog, idMaker } from '../platform/index.ts';
import { type Actor, createRecorder, LiveStates } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import { resourceKit } from '../resources/index.ts';
import { type NamespaceMember, type NamespaceService, namespaceService } from './namespaces.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('namespaces', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const create = async (body: object = {}): Promise<Namespace> => {
    const fields = { displayName: `Space ${Math.random()}`, hashAttribute: 'id', ...body };
    return (await service.admin.call(postNamespace, { body: fields })).namespace;
  };
  const legacy = () => create({ format: 'legacy', hashAttribute: undefined });

  test('one is created in several ranges with a seed of its own, read, changed and deleted', async () => {
    const { admin } = service;
    const namespace = await create({ displayName: 'Pricing' });
    expect(namespace).toEqual({
      id: expect.stringMatching(/^ns-[0-9a-z]+$/),
      displayName: 'Pricing',
      description: '',
      status: 'active',
      format: 'multiRange',
      hashAttribute: 'id',
      seed: expect.stringMatching(uuid),
    });
    const params = { id: namespace.id };
    expect((await admin.call(getNamespace, { params })).namespace).toEqual(namespace);
    const body = {
      displayName: 'Prices',
      description: 'One at a time',
      status: 'inactive',
      hashAttribute: 'company',
    } as const;
    const changed = await admin.call(putNamespace, { params, body });
    expect(changed.namespace).toEqual({ ...namespace, ...body });
    expect(await admin.call(deleteNamespace, { params })).toEqual({ deletedId: namespace.id });
    await admin.refused(404, getNamespace, { params });
    await admin.refused(404, putNamespace, { params, body: {} });
    await admin.refused(404, deleteNamespace, { params });
    await admin.refused(404, getNamespaceMemberships, { params });
    await admin.refused(404, postNamespaceRotateSeed, { params, body: {} });
    const { audits } = await service.history(namespace.id);
    expect(audits.map(({ event, entity_name }) => [event, entity_name])).toEqual([
      ['namespace.create', 'Pricing'],
      ['namespace.update', 'Prices'],
      ['namespace.delete', 'Prices'],
    ]);
  });

  test('one of old has neither seed nor hash attribute', async () => {
    const namespace = await legacy();
    expect(namespace.format).toBe('legacy');
    expect(namespace).not.toHaveProperty('seed');
    expect(namespace).not.toHaveProperty('hashAttribute');
  });

  test.each([
    ['no display name', { displayName: undefined }, 'displayName'],
    ['an empty display name', { displayName: ' ' }, 'displayName'],
    ['several ranges without a hash attribute', { hashAttribute: undefined }, 'hashAttribute'],
    ['an empty hash attribute', { hashAttribute: '' }, 'hashAttribute'],
    ['a hash attribute on one of old', { format: 'legacy' }, 'hashAttribute'],
    ['an unknown format', { format: 'circle' }, 'format'],
    ['an unknown status', { status: 'asleep' }, 'status'],
    ['a long description', { description: 'x'.repeat(10_001) }, 'description'],
    ['a seed at creation', { seed: 'mine' }, 'seed'],
  ])('%s is 400 and nothing is stored', async (_, more, named) => {
    const { total } = await service.admin.call(listNamespaces);
    const body = { displayName: 'Wrong', hashAttribute: 'id', ...more };
    const { message } = await service.admin.refused(400, postNamespace, { body });
    expect(message).toContain(named);
    expect((await service.admin.call(listNamespaces)).total).toBe(total);
  });

  test('the format cannot be changed, and no two have one display name', async () => {
    const { admin } = service;
    const [one, other] = [await create({ displayName: 'Taken' }), await create()];
    const params = { id: other.id };
    await admin.refused(400, putNamespace, { params, body: { format: 'legacy' } });
    await admin.refused(409, postNamespace, { body: { displayName: 'Taken', format: 'legacy' } });
    const { message } = await admin.refused(409, putNamespace, { params, body: { displayName: 'Taken' } });
    expect(message).toContain('"Taken"');
    expect((await admin.call(getNamespace, { params })).namespace).toEqual(other);
    await admin.call(putNamespace, { params: { id: one.id }, body: { displayName: 'Taken', status: 'inactive' } });
  });

  test('of two that take a name at once, one gets it', async () => {
    const body = { displayName: 'Wanted', hashAttribute: 'id' };
    const answers = await Promise.all([1, 2, 3].map(() => service.admin.request(postNamespace, { body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('the seed is made anew or becomes the one that is given', async () => {
    const { admin } = service;
    const { id, seed } = await create();
    const rotate = async (body?: object) =>
      (await admin.call(postNamespaceRotateSeed, { params: { id }, ...(body === undefined ? {} : { body }) })).namespace
        .seed;
    const fresh = await rotate({});
    expect(fresh).toMatch(uuid);
    expect(fresh).not.toBe(seed);
    expect(await rotate()).not.toBe(fresh);
    expect(await rotate({ seed: 'mine' })).toBe('mine');
    const version = await service.version();
    expect(await rotate({ seed: 'mine' })).toBe('mine');
    expect(await service.version()).toBe(version);
    await admin.refused(400, postNamespaceRotateSeed, { params: { id }, body: { seed: '' } });
    await admin.refused(400, postNamespaceRotateSeed, { params: { id: (await legacy()).id }, body: {} });
  });

  test('what changes nothing leaves no trace', async () => {
    const { id, displayName } = await create();
    const version = await service.version();
    const { version: landed } = await service.admin.answer(putNamespace, { params: { id }, body: { displayName } });
    expect(landed).toBe(0);
    expect(await service.version()).toBe(version);
    expect((await service.history(id)).audits).toHaveLength(1);
  });

  test('the list goes by id, page by page; nothing is in them yet', async () => {
    const { admin } = await service.newOrganization('Spaces');
    for (const displayName of ['b', 'a', 'c']) {
      await admin.call(postNamespace, { body: { displayName, hashAttribute: 'id' } });
    }
    const { namespaces, ...page } = await admin.call(listNamespaces, { query: { limit: 2 } });
    const ids = namespaces.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(page).toEqual({ limit: 2, offset: 0, count: 2, total: 3, hasMore: true, nextOffset: 2 });
    expect(await admin.call(getNamespaceMemberships, { params: { id: ids[0] ?? '' } })).toEqual({
      experiments: [],
      limit: 10,
      offset: 0,
      count: 0,
      total: 0,
      hasMore: false,
      nextOffset: null,
    });
  });

  test('a reader may look but not write, and a role in one project is not enough', async () => {
    const { id } = await create();
    const params = { id };
    const inProject = { project: 'prj_x', role: 'admin', limitAccessByEnvironment: false, environments: [] };
    for (const key of [
      await service.withKey({ role: 'readonly' }),
      await service.withKey({ role: 'readonly', projectRoles: [inProject] }),
    ]) {
      await key.call(listNamespaces);
      await key.call(getNamespace, { params });
      await key.call(getNamespaceMemberships, { params });
      const body = { displayName: 'Mine', hashAttribute: 'id' };
      await key.refused(403, postNamespace, { body });
      await key.refused(403, putNamespace, { params, body });
      await key.refused(403, deleteNamespace, { params });
      await key.refused(403, postNamespaceRotateSeed, { params, body: {} });
    }
  });
});

describe('namespaces that experiments are in', () => {
  const actor: Actor = { type: 'system', subtype: 'test' };
  const organization = 'org_spaces';
  let database: TestDatabase;
  let live: LiveStates;
  let namespaces: NamespaceService;
  let members: readonly NamespaceMember[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    const clock = testClock();
    const newId = idMaker(clock);
    live = new LiveStates(database.db, createLog({ LOG_LEVEL: 'silent' }));
    const recorder = createRecorder({ db: database.db, clock, newId, live });
    const paginate = pagination(false);
    const users = [{}, { members: () => members }];
    namespaces = namespaceService(resourceKit({ recorder, paginate }), { newId, paginate, users });
    const row = { id: organization, name: organization, owner_email: '', date_created: clock.now() };
    await database.db.transaction().execute(async (tx) => {
      await tx.insertInto('organization').values(row).execute();
      await recorder.publishFirst(tx, organization, actor, { changes: [], audit: [] });
    });
  });
  afterAll(() => database.drop());

  /** Somebody who may do everything and sees what is in no project. */
  const someone = async (): Promise<Requester> => {
    const { version } = await database.db.selectFrom('current_version').select('version').executeTakeFirstOrThrow();
    return {
      organization,
      actor,
      may: () => true,
      maySee: (projects) => projects === null || projects.includes(''),
      states: await live.at(organization, version),
      members: { emailOf: () => undefined, idOf: () => undefined },
    };
  };
  const create = async (format: Namespace['format'], displayName: string) => {
    const hashAttribute = format === 'legacy' ? undefined : 'id';
    return (await namespaces.create(await someone(), { displayName, format, hashAttribute })).result.id;
  };
  const member: NamespaceMember = {
    id: 'exp_1',
    name: 'First',
    trackingKey: 'first',
    status: 'running',
    ranges: [[0, 0.5]],
    project: '',
    archived: false,
    linked: true,
    released: false,
  };

  test('list those that the requester may see', async () => {
    const id = await create('legacy', 'Seen');
    members = [member, { ...member, id: 'exp_2', project: 'prj_secret' }];
    const { experiments, total } = namespaces.memberships(await someone(), id, { limit: 10, offset: 0 });
    expect(experiments).toEqual([
      { id: 'exp_1', name: 'First', trackingKey: 'first', status: 'running', ranges: [[0, 0.5]] },
    ]);
    expect(total).toBe(1);
  });

  test('keep them, unless they are archived, linked to nothing or stopped without release; names are unique, and one of old has no hashing of its own [flags M113]', async () => {
    const conflict = { status: 409 };
    const invalid = { status: 400 };
    const old = await create('legacy', 'Old');
    const requester = await someone();
    await expect(create('multiRange', 'Old')).rejects.toMatchObject(conflict);
    await expect(namespaces.update(requester, old, { hashAttribute: 'id' })).rejects.toMatchObject(invalid);
    await expect(namespaces.rotateSeed(requester, old, {})).rejects.toMatchObject(invalid);

    const free: Partial<NamespaceMember>[] = [
      { archived: true },
      { linked: false },
      { status: 'stopped', released: false },
      { status: 'stopped', released: true, archived: true },
    ];
    const kept: Partial<NamespaceMember>[] = [
      { status: 'running' },
      { status: 'draft' },
      { status: 'stopped', released: true },
    ];
    for (const more of kept) {
      members = [...free, more].map((one) => ({ ...member, ...one }));
      await expect(namespaces.delete(requester, old)).rejects.toMatchObject(conflict);
    }
    for (const more of free) {
      const id = await create('multiRange', 'Gone');
      members = [{ ...member, ...more }];
      await namespaces.delete(requester, id);
    }
  });
});
