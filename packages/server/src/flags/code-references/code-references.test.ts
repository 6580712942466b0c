import { deleteFeature, getCodeRefs, listCodeRefs, postCodeRefs, postProject, updateFeature } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../testing/client.ts';
import { freshId, newFeature } from '../../../testing/objects.ts';
import { startService, type TestService } from '../../../testing/service.ts';

const limited = { limitAccessByEnvironment: false, environments: [] };

describe('code references', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const ref = (flagKey: string, startingLineNumber = 1) => ({
    filePath: 'src/app.ts',
    startingLineNumber,
    lines: `if (isOn('${flagKey}'))`,
    flagKey,
    contentHash: 'c0ffee',
  });
  const shownRef = (flagKey: string, line = 1) => {
    const { contentHash: _, ...shown } = ref(flagKey, line);
    return shown;
  };
  const upload = async (
    refs: readonly ReturnType<typeof ref>[],
    { branch = 'main', repoName = 'shop', deleteMissing = false, by = service.admin as Client } = {},
  ) =>
    (await by.call(postCodeRefs, { query: { deleteMissing }, body: { branch, repoName, refs: [...refs] } }))
      .featuresUpdated;
  const of = async (id: string) => (await service.admin.call(getCodeRefs, { params: { id } })).codeRefs;
  const linesOf = async (id: string) => (await of(id)).map(({ refs }) => refs.map((one) => one.startingLineNumber));

  test('are stored by feature, repository and branch, and shown without what the tool keeps for itself', async () => {
    const { id } = await newFeature(service);
    expect(await of(id)).toEqual([]);
    expect(await upload([ref(id, 3), ref(id, 9)])).toEqual([id]);
    await upload([ref(id)], { branch: 'beta' });
    await upload([ref(id)], { repoName: 'admin' });
    const place = { feature: id, organization: 'My Organization', dateUpdated: expect.any(String) };
    expect(await of(id)).toEqual([
      { ...place, repo: 'admin', branch: 'main', refs: [shownRef(id)] },
      { ...place, repo: 'shop', branch: 'beta', refs: [shownRef(id)] },
      { ...place, repo: 'shop', branch: 'main', refs: [shownRef(id, 3), shownRef(id, 9)] },
    ]);
    await service.admin.refused(404, getCodeRefs, { params: { id: 'nothing' } });
  });

  test('of a flag are replaced by the next upload; those of flags that it leaves out stay unless they are to be deleted; one key without permission, and nothing is written [tenancy M17]', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Closed' } });
    const [mine, left, closed] = [
      await newFeature(service),
      await newFeature(service),
      await newFeature(service, { project: project.id }),
    ];
    const where = { repoName: 'm17' };
    await upload([ref(mine.id, 1), ref(mine.id, 2), ref(left.id, 1)], where);
    expect(await upload([ref(mine.id, 5)], where)).toEqual([mine.id]);
    expect([await linesOf(mine.id), await linesOf(left.id)]).toEqual([[[5]], [[1]]]);

    const readsClosed = { project: project.id, role: 'readonly', ...limited };
    const key = await service.withKey({ role: 'admin', projectRoles: [readsClosed] });
    const body = { branch: 'main', repoName: 'm17', refs: [ref(mine.id, 6), ref(closed.id, 6)] };
    const { message } = await key.refused(403, postCodeRefs, { body });
    expect(message).toContain(closed.id);
    expect([await linesOf(mine.id), await linesOf(closed.id)]).toEqual([[[5]], []]);

    const touched = await upload([ref(mine.id, 7)], { ...where, deleteMissing: true });
    expect(touched).toEqual([mine.id, left.id].sort());
    expect([await linesOf(mine.id), await linesOf(left.id)]).toEqual([[[7]], [[]]]);
    expect(await upload([ref(mine.id, 7)], { ...where, deleteMissing: true })).toEqual([mine.id]);
  });

  test('are deleted as missing only where every feature that loses them may be changed, and in that branch alone', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Kept' } });
    const { id } = await newFeature(service, { project: project.id });
    const where = { repoName: 'missing' };
    await upload([ref(id)], where);
    await upload([ref(id)], { ...where, branch: 'beta' });
    const key = await service.withKey({
      role: 'admin',
      projectRoles: [{ project: project.id, role: 'readonly', ...limited }],
    });
    const body = { branch: 'main', repoName: 'missing', refs: [] };
    await key.refused(403, postCodeRefs, { body, query: { deleteMissing: true } });
    expect(await linesOf(id)).toEqual([[1], [1]]);
    expect(await upload([], { ...where, deleteMissing: true })).toEqual([id]);
    expect((await of(id)).map(({ branch, refs }) => [branch, refs.length])).toEqual([
      ['beta', 1],
      ['main', 0],
    ]);
  });

  test('of keys that no feature has need the permission to create features everywhere, and are seen once there is one', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Own' } });
    const id = freshId();
    const inProject = [{ project: project.id, role: 'admin', ...limited }];
    const key = await service.withKey({ role: 'readonly', projectRoles: inProject });
    const body = { branch: 'main', repoName: 'unknown', refs: [ref(id)] };
    await key.refused(403, postCodeRefs, { body });
    expect(await upload([ref(id)], { repoName: 'unknown' })).toEqual([id]);
    await service.admin.refused(404, getCodeRefs, { params: { id } });
    // Nobody’s feature: whoever uploads for the branch may clear it.
    expect(await upload([], { repoName: 'unknown', deleteMissing: true, by: key })).toEqual([id]);
    await upload([ref(id)], { repoName: 'unknown' });
    await newFeature(service, { id });
    expect(await linesOf(id)).toEqual([[1]]);
  });

  test('go with their feature', async () => {
    const { id } = await newFeature(service, { archived: true });
    await upload([ref(id)]);
    await service.admin.call(deleteFeature, { params: { id } });
    await newFeature(service, { id });
    expect(await of(id)).toEqual([]);
  });

  test('leave no trace but their date, and no version', async () => {
    const { id } = await newFeature(service);
    await upload([ref(id)]);
    const [before] = await of(id);
    const version = await service.version();
    const history = await service.history(id);
    service.clock.advance(60_000);
    expect(await upload([ref(id)])).toEqual([id]);
    const [after] = await of(id);
    expect(after).toEqual({ ...before, dateUpdated: after?.dateUpdated });
    expect(Date.parse(after?.dateUpdated ?? '') - Date.parse(before?.dateUpdated ?? '')).toBeGreaterThanOrEqual(60_000);
    expect(await service.version()).toBe(version);
    expect(await service.history(id)).toEqual(history);
  });

  test('are listed by repository, branch and feature, page by page, of features that may be seen', async () => {
    const { admin, owner, id: organization } = await service.newOrganization('Listed');
    const { project } = await admin.call(postProject, { body: { name: 'Secret' } });
    for (const id of ['b', 'A', 'a']) await newFeature({ admin, owner }, { id });
    await newFeature({ admin, owner }, { id: 'secret', project: project.id });
    for (const [repoName, branch] of [
      ['z', 'main'],
      ['a', 'main'],
      ['a', 'Beta'],
    ] as const) {
      const refs = ['b', 'secret', 'A', 'a', 'nobody'].map((key) => ref(key));
      await upload(refs, { repoName, branch, by: admin });
    }
    const hidden = { project: project.id, role: 'noaccess', ...limited };
    const key = await service.withKey({ role: 'readonly', projectRoles: [hidden] }, organization);
    const { codeRefs, ...page } = await key.call(listCodeRefs, { query: { limit: 5, offset: 2 } });
    expect(codeRefs.map(({ repo, branch, feature }) => [repo, branch, feature])).toEqual([
      ['a', 'Beta', 'b'],
      ['a', 'main', 'A'],
      ['a', 'main', 'a'],
      ['a', 'main', 'b'],
      ['z', 'main', 'A'],
    ]);
    expect(page).toEqual({ limit: 5, offset: 2, count: 5, total: 9, hasMore: true, nextOffset: 7 });
    expect((await admin.call(listCodeRefs)).total).toBe(12);
    await key.refused(404, getCodeRefs, { params: { id: 'secret' } });
    const targeted = { targetingAllProjects: true };
    await admin.call(updateFeature, { params: { id: 'secret' }, body: targeted });
    expect((await key.call(listCodeRefs)).total).toBe(12);
  });

  test('of thousands of features come in at once, also twice at the same moment', async () => {
    const { admin } = await service.newOrganization('Large');
    const refs = Array.from({ length: 5_000 }, (_, index) => ref(`flag_${index}`));
    const uploads = [refs, refs.toReversed()].map((some) => upload(some, { by: admin, deleteMissing: true }));
    for (const touched of await Promise.all(uploads)) expect(touched).toHaveLength(5_000);
    expect(await upload([], { by: admin, deleteMissing: true })).toHaveLength(5_000);
  });

  test.each([
    ['no branch', { branch: undefined }, 'branch'],
    ['an empty repository', { repoName: '' }, 'repoName'],
    ['a long branch', { branch: 'x'.repeat(256) }, 'branch'],
    ['no references', { refs: undefined }, 'refs'],
    ['a reference without hash', { refs: [{ ...ref('x'), contentHash: undefined }] }, 'contentHash'],
    ['half a line', { refs: [{ ...ref('x'), startingLineNumber: 1.5 }] }, 'startingLineNumber'],
    ['an empty key', { refs: [ref('')] }, 'flagKey'],
    ['an unknown member', { refs: [{ ...ref('x'), colour: 'red' }] }, 'colour'],
  ])('%s is 400', async (_, more, named) => {
    const body = { branch: 'main', repoName: 'wrong', refs: [ref('x')], ...more };
    const { message } = await service.admin.refused(400, postCodeRefs, { body });
    expect(message).toContain(named);
    const { codeRefs } = await service.admin.call(listCodeRefs, { query: { limit: 100 } });
    expect(codeRefs.map(({ repo }) => repo)).not.toContain('wrong');
  });

  test('whether to delete is said as true or false', async () => {
    const body = { branch: 'main', repoName: 'shop', refs: [] };
    await service.admin.refused(400, postCodeRefs, { body, query: { deleteMissing: 'yes' } });
    expect(await service.admin.call(postCodeRefs, { body })).toEqual({ featuresUpdated: [] });
  });

  test('names as long as they may be, of letters that take most room, can be stored', async () => {
    const wide = (length: number) => Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + at * 7)).join('');
    const key = wide(256);
    expect(await upload([ref(key)], { branch: wide(255), repoName: wide(255) })).toEqual([key]);
  });
});

describe('code references where they are switched off', () => {
  test('can be read and cleared, but not added', async () => {
    const service = await startService({ ENTITLEMENTS: 'prerequisites' });
    try {
      const body = { branch: 'main', repoName: 'shop', refs: [] };
      const ref = { filePath: 'a', startingLineNumber: 1, lines: '', flagKey: 'x', contentHash: '' };
      const { details } = await service.admin.refused(403, postCodeRefs, { body: { ...body, refs: [ref] } });
      expect(details).toEqual({ reason: 'entitlement_required', entitlement: 'code-references' });
      await service.admin.call(postCodeRefs, { body, query: { deleteMissing: true } });
      await service.admin.call(listCodeRefs);
    } finally {
      await service.stop();
    }
  });
});
