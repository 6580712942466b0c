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
    bind(listProjects, async (call) => projects.list(call)),
    bind(getProject, async (call) => ({ project: projects.get(call, call.params.id) })),
    bind(postProject, async (call) => ({ project: await projects.create(call) })),
    bind(putProject, async (call) => ({ project: await projects.update(call) })),
    bind(deleteProject, async (call) => {
      await projects.delete(call, call.params.id);
      return { deletedId: call.params.id };
    }),

    bind(listEnvironments, async (call) => ({ environments: environments.list(call) })),
    bind(postEnvironment, async (call) => ({ environment: await environments.create(call) })),
    bind(putEnvironment, async (call) => ({ environment: await environments.update(call) })),
    bind(deleteEnvironment, async (call) => {
      await environments.delete(call, call.params.id);
      return { deletedId: call.params.id };
    }),
  ];
}
