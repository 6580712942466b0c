import { deleteProject, getProject, listProjects, postProject, putProject } from '@halyard/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../testing/service.ts';

describe('projects', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  test('a project is created, read, changed and deleted', async () => {
    const { admin } = service;
    const { project } = await admin.call(postProject, { body: { name: 'Checkout', description: 'Paying' } });
    expect(project).toMatchObject({ name: 'Checkout', description: 'Paying', publicId: 'checkout' });
    expect(project.id).toMatch(/^prj_[0-9a-z]+$/);
    expect((await admin.call(getProject, { params: { id: project.id } })).project).toEqual(project);
    const changed = await admin.call(putProject, {
      params: { id: project.id },
      body: { settings: { confidenceLevel: 0.9 } },
    });
    expect(changed.project).toMatchObject({ name: 'Checkout', settings: { confidenceLevel: 0.9 } });
    expect(await admin.call(deleteProject, { params: { id: project.id } })).toEqual({ deletedId: project.id });
    await admin.refused(404, getProject, { params: { id: project.id } });
    await admin.refused(404, deleteProject, { params: { id: project.id } });
    expect((await admin.call(listProjects)).total).toBe(0);
  });
});
