import {
  deleteEnvironment,
  deleteProject,
  getProject,
  listEnvironments,
  listProjects,
  postEnvironment,
  postProject,
  putEnvironment,
  putProject,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { EnvironmentService } from './environments.ts';
import type { ProjectService } from './projects.ts';

export function organizationRoutes(services: { projects: ProjectService; environments: EnvironmentService }): Route[] {
  const { projects, environments } = services;
  return [
    bind(listProjects, async (call) => projects.list(call.requester, call.query)),
    bind(getProject, async (call) => ({ project: projects.get(call.requester, call.params.id) })),
    bind(postProject, async (call) => ({ project: call.landed(await projects.create(call.requester, call.body)) })),
    bind(putProject, async (call) => ({
      project: call.landed(await projects.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteProject, async (call) => {
      call.landed(await projects.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),

    bind(listEnvironments, async (call) => ({ environments: environments.list(call.requester) })),
    bind(postEnvironment, async (call) => ({
      environment: call.landed(await environments.create(call.requester, call.body)),
    })),
    bind(putEnvironment, async (call) => ({
      environment: call.landed(await environments.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteEnvironment, async (call) => {
      call.landed(await environments.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),
  ];
}
