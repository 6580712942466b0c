import { deleteProject, listMembers, postProject } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../testing/service.ts';
import { memberService } from './index.ts';

describe('members', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ HALYARD_ADMIN_NAME: 'The Admin' });
    await service.newMember('dana@example.com', 'readonly');
  });
  afterAll(() => service.stop());

  const emails = async (query: Record<string, string | number> = {}) =>
    (await service.admin.call(listMembers, { query })).members.map(({ email }) => email);

  test('are listed by id, and found by name, e-mail or role', async () => {
    const { members, total } = await service.admin.call(listMembers);
    expect(total).toBe(2);
    expect(members.map(({ id }) => id)).toEqual(members.map(({ id }) => id).sort());
    expect(members[0]).toMatchObject({
      email: 'admin@example.com',
      name: 'The Admin',
      globalRole: 'admin',
      environments: [],
      limitAccessByEnvironment: false,
      additionalRoles: [],
      projectRoles: [],
      teams: [],
      managedbyIdp: false,
    });
    expect(await emails({ userName: 'The Admin' })).toEqual(['admin@example.com']);
    expect(await emails({ userEmail: 'dana@example.com' })).toEqual(['dana@example.com']);
    expect(await emails({ globalRole: 'readonly' })).toEqual(['dana@example.com']);
    expect(await emails({ globalRole: 'Admin' })).toEqual([]);
    expect(await emails({ limit: 1, offset: 1 })).toEqual(['dana@example.com']);
  });

  test('are for who may manage the team', async () => {
    const readonly = await service.withKey({ role: 'readonly' });
    expect((await readonly.refused(403, listMembers)).message).toContain('manageTeam');
  });

  test('lose their role in a project that is deleted, and so do keys', async () => {
    const { project } = await service.admin.call(postProject, { body: { name: 'Gone' } });
    const { project: kept } = await service.admin.call(postProject, { body: { name: 'Kept' } });
    const roleIn = (id: string) => ({ project: id, role: 'admin', limitAccessByEnvironment: false, environments: [] });
    const rules = [roleIn(project.id), roleIn(kept.id)];
    const key = await service.withKey({ role: 'readonly', projectRoles: rules });
    await service.db
      .updateTable('member')
      .set({ project_roles: JSON.stringify(rules) })
      .where('organization', '=', service.id)
      .execute();
    await service.admin.call(deleteProject, { params: { id: project.id } });
    const { project_roles: ofKey } = await service.db
      .selectFrom('api_key')
      .select('project_roles')
      .where('id', '=', key.keyId)
      .executeTakeFirstOrThrow();
    expect(ofKey).toEqual([roleIn(kept.id)]);
    const { members } = await service.admin.call(listMembers);
    expect(members.map(({ projectRoles }) => projectRoles)).toEqual([[roleIn(kept.id)], [roleIn(kept.id)]]);
  });

  test('have their e-mails told as they are now, also where nobody has asked for the organization before', async () => {
    const members = memberService(service.db);
    const email = async (version?: number) => (await members.directory(service.id, version)).emailOf(service.owner.id);
    expect(await email()).toBe('admin@example.com');
    const rename = (to: string) =>
      service.db.updateTable('person').set({ email: to }).where('id', '=', service.owner.id).execute();
    await rename('new@example.com');
    // Whoever says that he knows the version is taken at his word.
    expect(await email(0)).toBe('admin@example.com');
    expect(await email()).toBe('new@example.com');
    expect((await members.directory(service.id)).emailOf('u_nobody')).toBeUndefined();
    await rename('admin@example.com');
  });
});
